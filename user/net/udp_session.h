// SPDX-License-Identifier: BSD-2-Clause
// Assembles the trace of one sender at a collector, over UDP.
#pragma once

#include "user/net/chunk_assembler.h"
#include "user/net/datagram.h"
#include "user/net/reorder_window.h"
#include "user/net/trace_sink.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace ovnitrace {

/// What came from one sender. The first members count datagrams, the last three events.
struct UdpCounts {
  uint64_t taken = 0, lost = 0, reordered = 0;
  uint64_t repeated = 0;    ///< came again, or after they had been given up
  uint64_t wrong = 0;       ///< thrown away: what they say cannot be
  uint64_t events = 0;      ///< of ovnitrace: that were sent, as far as is known
  uint64_t events_lost = 0; ///< of them, are blackouts now
  uint64_t dropped = 0;     ///< events that the sender could not send: blackouts of its own
};

/// Makes a trace of datagrams; knows no socket. Those of ovnitrace become a trace directory, those
/// of any other sender of the tracer's format (libovnitrace, S.Ha.R.K.) a plain FTrace file with
/// blackouts.
class UdpSession {
public:
  /// `from`: the sender, for people. The sink is made when the first datagram is passed on.
  UdpSession(std::string from, MakeTraceSink make_sink);
  UdpSession(const UdpSession &) = delete;
  UdpSession &operator=(const UdpSession &) = delete;

  /// Throws Error when the sink fails: then the session is at its end.
  void take(const Datagram &datagram);
  /// Gives up what is missing: nothing came for a while.
  void settle() { window_.flush(); }
  /// Ends the trace. A trace without any record is removed. Throws Error.
  void finish();

  bool begun() const { return counts_.taken != 0; } ///< those before the first one are given up
  bool closing() const { return closing_; }         ///< the sender said that it has ended
  UdpCounts counts() const;
  bool whole() const; ///< the sender ended, and nothing is missing
  const TraceSink *sink() const { return sink_.get(); } ///< null: not made yet

private:
  void deliver(const Datagram &datagram);
  void make_sink(const std::string &name);
  bool chunk(std::span<const ftrace_record> records);
  void describe(std::span<const ftrace_record> records, uint32_t size);
  bool end(std::span<const ftrace_record> records);
  void plain(std::span<const ftrace_record> records);
  ChunkAssembler &cpu(uint16_t number);
  void write_description();

  const std::string from_;
  const MakeTraceSink make_sink_;
  ReorderWindow window_;
  std::unique_ptr<TraceSink> sink_;
  std::map<uint16_t, ChunkAssembler> cpus_;
  UdpCounts counts_;
  uint64_t first_time_ = UINT64_MAX;   ///< ns, the oldest that is known
  std::optional<uint64_t> plain_last_; ///< time of the last record of a plain file
  uint64_t plain_lost_ = 0;            ///< datagrams lost when it was written
  std::string text_, description_;     ///< as far as it has come; whole
  uint64_t text_size_ = 0;             ///< that text_ shall have
  bool ours_ = false, closing_ = false;
};

/// Returns the trace.json of a trace that came by UDP: the sender's, if it came, with what the
/// collector adds.
std::string collected_description(const std::string &description, const std::string &from,
                                  const UdpCounts &counts, bool closed);

} // namespace ovnitrace
