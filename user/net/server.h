// SPDX-License-Identifier: BSD-2-Clause
// What listens at a collector.
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

/// One socket that listens, and its senders.
class Server {
public:
  virtual ~Server() = default;
  virtual std::string address() const = 0; ///< as it is bound: tcp://127.0.0.1:20000
  /// Adds what it waits for.
  virtual void add(std::vector<pollfd> &polls) = 0;
  /// What it added, with what has happened. `now`: ns on CLOCK_MONOTONIC.
  virtual void handle(std::span<const pollfd> polls, uint64_t now) = 0;
  /// The collector ends: what has come is brought to where it stays.
  virtual void finish() = 0;
  /// Whether some trace is not whole.
  virtual bool incomplete() const = 0;
};

} // namespace ovnitrace
