// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/datagram_packer.h"

#include "emulator/format/chunk_header.h"
#include "emulator/format/thread_identity.h"
#include "user/chunk/event_count.h"

#include <algorithm>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kLongestName = 100;
constexpr size_t kTextInDatagram = (kMostRecords - 2) * kTextInRecord;

} // namespace

DatagramPacker::DatagramPacker(uint64_t session, Send send)
    : session_(session), send_(std::move(send)) {}

void DatagramPacker::begin(DatagramKind kind, uint32_t par2) {
  datagram_.count = 0;
  add(FTrace_EXT_session, uint16_t(kind), session_, par2);
}

void DatagramPacker::add(uint16_t code, uint16_t par1, uint64_t tsc, uint32_t par2) {
  ftrace_record_set(&datagram_.records[datagram_.count++], code, par1, tsc, par2);
}

void DatagramPacker::add_text(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), kTextInRecord)))
    add(text_record(text));
}

void DatagramPacker::flush() {
  datagram_.number++;
  send_(datagram_);
}

void DatagramPacker::name(std::string_view name) {
  name = name.substr(0, kLongestName);
  begin(DatagramKind::name, uint32_t(name.size()));
  add_text(name);
  flush();
}

void DatagramPacker::describe(std::string_view text) {
  for (size_t offset = 0; offset < text.size(); offset += kTextInDatagram) {
    const std::string_view piece = text.substr(offset, kTextInDatagram);
    begin(DatagramKind::description, uint32_t(piece.size()));
    add(FTrace_EXT_part, 0, text.size(), uint32_t(offset));
    add_text(piece);
    flush();
  }
}

void DatagramPacker::chunk(const Chunk &chunk) {
  uint64_t &events = events_[chunk.cpu];
  const std::span<const ftrace_record> records = chunk.records;
  const uint32_t number = ChunkHeader::decode(records).number;
  for (size_t at = 0; at < records.size();) {
    begin(DatagramKind::chunk);
    add(FTrace_EXT_part, uint16_t(chunk.cpu), events, number);
    while (at < records.size()) {
      size_t after = at + 1; // an identity stays together
      while (after < records.size() && after < at + ThreadIdentity::kMostRecords &&
             ThreadIdentity::continues(code_of(records[after].code)))
        after++;
      if (datagram_.count + (after - at) > kMostRecords)
        break;
      for (; at < after; at++) {
        add(records[at]);
        events += events_of(records[at]);
      }
    }
    flush();
  }
}

void DatagramPacker::end(uint64_t time, uint64_t missing) {
  auto cpu = events_.begin();
  do {
    begin(DatagramKind::end);
    add(FTrace_EVT_trace_stop, 0, time, uint32_t(std::min<uint64_t>(missing, UINT32_MAX)));
    for (; cpu != events_.end() && datagram_.count < kMostRecords; ++cpu)
      add(FTrace_EXT_part, uint16_t(cpu->first), cpu->second, 0);
    flush();
  } while (cpu != events_.end());
}

} // namespace ovnitrace
