// SPDX-License-Identifier: BSD-2-Clause
// Writes the file: packets one after the other, in any order of time.
#pragma once

#include "emulator/output/atomic_file.h"
#include "emulator/perfetto/fields.h"

#include <protozero/pbf_builder.hpp>

#include <string>

namespace ovnitrace::perfetto {

using PacketBuilder = protozero::pbf_builder<Packet>;

/// Values of Packet::sequence_flags. The first packet starts the interned data of the file; the
/// others that use them say so.
inline constexpr uint32_t kStartsIncrementalState = 1, kNeedsIncrementalState = 2;

/// A file that appears complete or not at all: it has its name only after close(). All functions
/// throw Error.
class PacketFile {
public:
  /// Replaces what is at `place`, as AtomicFile does.
  explicit PacketFile(const OutputPlace &place) : file_(place) {}

  /// Appends a packet. `fill` writes its fields.
  template <class Fill> void packet(Fill fill) {
    {
      protozero::pbf_writer file(buffer_);
      PacketBuilder packet(file, kTracePacket);
      packet.add_uint32(Packet::sequence, kSequence);
      fill(packet);
    }
    if (buffer_.size() >= kBufferSize)
      flush();
  }
  /// Does the same with a time in ns.
  template <class Fill> void packet_at(uint64_t time, Fill fill) {
    packet([&](PacketBuilder &packet) {
      packet.add_uint64(Packet::timestamp, time);
      fill(packet);
    });
  }

  void close() {
    flush();
    file_.commit();
  }
  uint64_t bytes() const { return written_ + buffer_.size(); } ///< so far

private:
  static constexpr size_t kBufferSize = 256 * 1024;
  static constexpr uint32_t kSequence = 1; ///< number of the one writer of packets

  void flush() {
    file_.write(buffer_);
    written_ += buffer_.size();
    buffer_.clear();
  }

  AtomicFile file_;
  std::string buffer_;
  uint64_t written_ = 0;
};

} // namespace ovnitrace::perfetto
