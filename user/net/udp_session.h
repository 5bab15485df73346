// SPDX-License-Identifier: BSD-2-Clause
// Writes the records of one sender of datagrams to a file of a collector.
#pragma once

#include "user/net/datagram.h"
#include "user/net/trace_sink.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace ovnitrace {

/// Makes a plain FTrace file of the datagrams of a libovnitrace program or of S.Ha.R.K., in the
/// order of their numbers, each once; knows no socket. It waits for a missing datagram until 128
/// later ones have come, or flush(). Then a blackout replaces it: nobody knows how many events it
/// had. The cost of a datagram does not depend on its number, as anybody can send any.
class UdpSession {
public:
  /// `from`: the sender, for people. The sink is made when the first records are written.
  UdpSession(const std::string &from, const MakeTraceSink &make_sink)
      : from_(from), make_sink_(make_sink) {}
  /// Removes a trace without any record.
  ~UdpSession();

  /// Takes a datagram. Throws Error when the sink fails: take no more then.
  void take(const Datagram &datagram);
  /// Gives up the missing datagrams, and writes those that wait. Throws Error, as take().
  void flush();

  uint64_t taken() const { return taken_; }             ///< datagrams that were written
  uint64_t lost() const { return lost_; }               ///< datagrams that were given up
  bool begun() const { return next_ > 1; }              ///< whether number 1 is written or given up
  const TraceSink *sink() const { return sink_.get(); } ///< null: not made yet

private:
  void write_first();
  void write(std::span<const ftrace_record> records);
  void append(std::span<const ftrace_record> records);

  const std::string from_;
  const MakeTraceSink make_sink_;
  std::unique_ptr<TraceSink> sink_;
  std::map<uint32_t, Datagram> waiting_; ///< by number
  uint64_t next_ = 1;                    ///< number of the next datagram to write
  uint64_t taken_ = 0, lost_ = 0;
  std::optional<uint64_t> last_time_; ///< of the last record in the file
  bool gap_ = false;                  ///< datagrams were given up since then
};

} // namespace ovnitrace
