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

ftrace_record make(uint16_t code, uint16_t par1, uint64_t tsc, uint32_t par2) {
  ftrace_record record;
  ftrace_record_set(&record, code, par1, tsc, par2);
  return record;
}

} // namespace

DatagramPacker::DatagramPacker(uint64_t session, uint32_t cpus, Send send)
    : session_(session), send_(std::move(send)), cpus_(cpus) {}

void DatagramPacker::begin(DatagramKind kind, uint32_t par2) {
  datagram_.count = 0;
  add(make(FTrace_EXT_session, uint16_t(kind), session_, par2));
}

void DatagramPacker::flush() {
  datagram_.number++;
  send_(datagram_);
}

void DatagramPacker::name(std::string_view name) {
  name = name.substr(0, kLongestName);
  begin(DatagramKind::name, uint32_t(name.size()));
  for (; !name.empty(); name.remove_prefix(std::min(name.size(), kTextInRecord)))
    add(text_record(name.substr(0, kTextInRecord)));
  flush();
}

void DatagramPacker::describe(std::string_view text) {
  for (size_t offset = 0; offset < text.size(); offset += kTextInDatagram) {
    std::string_view piece = text.substr(offset, kTextInDatagram);
    begin(DatagramKind::description, uint32_t(piece.size()));
    add(make(FTrace_EXT_part, 0, text.size(), uint32_t(offset)));
    for (; !piece.empty(); piece.remove_prefix(std::min(piece.size(), kTextInRecord)))
      add(text_record(piece.substr(0, kTextInRecord)));
    flush();
  }
}

void DatagramPacker::chunk(const Chunk &chunk) {
  Cpu &cpu = cpus_[chunk.cpu];
  cpu.any = true;
  const std::span<const ftrace_record> records = chunk.records;
  const uint32_t number = ChunkHeader::decode(records).number;
  for (size_t at = 0; at < records.size();) {
    begin(DatagramKind::chunk, 0);
    add(make(FTrace_EXT_part, uint16_t(chunk.cpu), cpu.events, number));
    while (at < records.size()) {
      size_t after = at + 1; // an identity stays together
      while (after < records.size() && after < at + ThreadIdentity::kMostRecords &&
             ThreadIdentity::continues(code_of(records[after].code)))
        after++;
      if (datagram_.count + (after - at) > kMostRecords)
        break;
      for (; at < after; at++) {
        add(records[at]);
        cpu.events += events_of(records[at]);
      }
    }
    flush();
  }
}

void DatagramPacker::end(uint64_t time, uint64_t missing) {
  const auto start = [&] {
    begin(DatagramKind::end, 0);
    add(make(FTrace_EVT_trace_stop, 0, time, uint32_t(std::min<uint64_t>(missing, UINT32_MAX))));
  };
  start();
  for (size_t cpu = 0; cpu < cpus_.size(); cpu++) {
    if (!cpus_[cpu].any)
      continue;
    if (datagram_.count == kMostRecords) {
      flush();
      start();
    }
    add(make(FTrace_EXT_part, uint16_t(cpu), cpus_[cpu].events, 0));
  }
  flush();
}

} // namespace ovnitrace
