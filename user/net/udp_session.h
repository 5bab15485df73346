// SPDX-License-Identifier: BSD-2-Clause
// Writes the records of one sender of datagrams to a file of a collector.
#pragma once

#include "user/net/datagram.h"
#include "user/net/reorder_window.h"
#include "user/net/trace_sink.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace ovnitrace {

/// Numbers of datagrams of one sender.
struct UdpCounts {
  uint64_t taken = 0, lost = 0, reordered = 0;
  uint64_t repeated = 0; ///< came again, or after they had been given up
};

/// Makes a plain FTrace file of the datagrams of a libovnitrace program or of S.Ha.R.K.; knows no
/// socket. A blackout replaces lost datagrams: nobody knows how many events they had.
class UdpSession {
public:
  /// `from`: the sender, for people. The sink is made when the first datagram is passed on.
  UdpSession(std::string from, MakeTraceSink make_sink);
  UdpSession(const UdpSession &) = delete;
  UdpSession &operator=(const UdpSession &) = delete;

  /// Takes a datagram. Throws Error when the sink fails: then the session is at its end.
  void take(const Datagram &datagram);
  /// Gives up what is missing: nothing came for a while. Throws Error.
  void settle() { window_.flush(); }
  /// Ends the trace. A trace without any record is removed. Throws Error.
  void finish();

  bool begun() const { return taken_ != 0; } ///< those before the first one are given up
  UdpCounts counts() const;
  const TraceSink *sink() const { return sink_.get(); } ///< null: not made yet

private:
  void deliver(const Datagram &datagram);
  void append(std::span<const ftrace_record> records);

  const std::string from_;
  const MakeTraceSink make_sink_;
  ReorderWindow window_;
  std::unique_ptr<TraceSink> sink_;
  uint64_t taken_ = 0, reordered_ = 0, repeated_ = 0;
  std::optional<uint64_t> last_time_; ///< of the last record in the file
  uint64_t lost_before_ = 0;          ///< datagrams lost when it was written
};

} // namespace ovnitrace
