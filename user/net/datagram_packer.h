// SPDX-License-Identifier: BSD-2-Clause
// Turns a capture into datagrams.
#pragma once

#include "user/chunk/chunk_pool.h"
#include "user/net/datagram.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>

namespace ovnitrace {

/// Makes datagrams that each say where their records belong. Whatever is lost, the receiver of a
/// later datagram knows the number of lost events. A datagram never mixes chunks, and never splits
/// the introduction of a thread.
class DatagramPacker {
public:
  using Send = std::function<void(const Datagram &)>;
  /// `session`: a number that no other session has, not 0.
  DatagramPacker(uint64_t session, Send send);

  void name(std::string_view name); ///< at most 100 characters count
  void describe(std::string_view text);
  void chunk(const Chunk &chunk);
  /// Ends the session: the capture ended at `time` (ns). `missing`: events that are in no chunk,
  /// except blackouts.
  void end(uint64_t time, uint64_t missing);

private:
  void begin(DatagramKind kind, uint32_t par2 = 0);
  void add(uint16_t code, uint16_t par1, uint64_t tsc, uint32_t par2);
  void add(const ftrace_record &record) { datagram_.records[datagram_.count++] = record; }
  void add_text(std::string_view text);
  void flush();

  const uint64_t session_;
  const Send send_;
  std::map<uint32_t, uint64_t> events_; ///< by CPU: sent so far
  Datagram datagram_;
};

} // namespace ovnitrace
