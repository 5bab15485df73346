// SPDX-License-Identifier: BSD-2-Clause
// Listens at a collector.
#pragma once

#include <poll.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ovnitrace {

/// Reports to a person what happens: one line.
using Report = std::function<void(const std::string &)>;

/// What a sender is told that finds no place, with the number of --max-senders.
inline constexpr char kFull[] = "{} senders are being served, no more are allowed (--max-senders)";

/// Serves one listening socket and its senders.
class Server {
public:
  virtual ~Server() = default;
  virtual std::string address() const = 0; ///< as it is bound: tcp://127.0.0.1:20000
  /// Adds the files that it waits for.
  virtual void add(std::vector<pollfd> &polls) = 0;
  /// Handles the events of the files that it added. `now`: ns on CLOCK_MONOTONIC.
  virtual void handle(std::span<const pollfd> polls, uint64_t now) = 0;
  /// Stores what has come, because the collector ends.
  virtual void finish() = 0;
  /// Returns whether a trace is not complete.
  virtual bool incomplete() const = 0;
};

} // namespace ovnitrace
