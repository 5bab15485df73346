// SPDX-License-Identifier: BSD-2-Clause
// Listens at a collector.
#pragma once

#include "emulator/base/human.h"
#include "emulator/base/unique_fd.h"
#include "user/net/endpoint.h"
#include "user/net/trace_sink.h"

#include <fmt/core.h>
#include <poll.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {

/// Reports to a person what happens: one line.
using Report = std::function<void(const std::string &)>;

/// Serves one listening socket and its senders.
class Server {
public:
  virtual ~Server() = default;

  /// Returns the address as it is bound: tcp://127.0.0.1:20000.
  virtual std::string address() const = 0;
  /// Adds the files that it waits for.
  virtual void add(std::vector<pollfd> &polls) = 0;
  /// Handles the events of the files that it added. `now`: ns on CLOCK_MONOTONIC.
  virtual void handle(std::span<const pollfd> polls, uint64_t now) = 0;
  /// Stores what has come, because the collector ends.
  virtual void finish() = 0;
  /// Returns whether a trace is not complete.
  bool incomplete() const { return incomplete_; }

protected:
  /// `make_sink` and `report` are called on the thread of the caller of handle().
  Server(UniqueFd socket, unsigned most_senders, MakeTraceSink make_sink, Report report)
      : socket_(std::move(socket)), most_senders_(most_senders), make_sink_(std::move(make_sink)),
        report_(std::move(report)) {}

  void report_error(const std::string &what, const std::string &why) {
    report_(fmt::format("{}: error: {}", what, why));
  }
  /// Reports an error of which anybody can make many.
  void report_some(const std::string &what, const std::string &why) {
    if (++errors_ <= kMostErrors)
      report_error(what, errors_ == kMostErrors ? why + "; more of this is only counted" : why);
  }
  void report_rest() {
    if (errors_ > kMostErrors)
      report_(fmt::format("error: {} such errors in all", errors_));
  }
  /// Returns why a sender finds no place, in words for it.
  std::string full_text() const {
    return fmt::format("{} being served, no more are allowed (--max-senders)",
                       human_count(most_senders_, "sender is", "senders are"));
  }

  const UniqueFd socket_;
  const unsigned most_senders_;
  const MakeTraceSink make_sink_;
  const Report report_;
  bool incomplete_ = false;

private:
  static constexpr uint64_t kMostErrors = 10;
  uint64_t errors_ = 0;
};

} // namespace ovnitrace
