// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/ovni/stream_scan.h"

#include "emulator/format/event.h"

#include <algorithm>
#include <cstring>

namespace ovnitrace::ovni {

namespace {

std::optional<int32_t> payload_i32(const StreamEvent &event, size_t at) {
  if ((event.flags & kFlagJumbo) || event.payload_size < at + sizeof(int32_t))
    return std::nullopt;
  int32_t value;
  std::memcpy(&value, event.payload + at, sizeof value);
  return value;
}

} // namespace

uint64_t shift_time(uint64_t time, int64_t offset) {
  if (offset >= 0)
    return std::min(time + uint64_t(offset), kTimeLimit); // both below 2^63: no wrap
  const uint64_t back = 0 - uint64_t(offset);
  return time > back ? time - back : 0;
}

std::optional<int32_t> payload_cpu(const StreamEvent &event) {
  switch (event.mcv) {
  case mcv('O', 'H', 'x'):
  case mcv('O', 'H', 'C'):
  case mcv('O', 'A', 's'):
  case mcv('O', 'A', 'r'):
    return payload_i32(event, 0);
  default:
    return std::nullopt;
  }
}

std::optional<int32_t> payload_tid(const StreamEvent &event) {
  return event.mcv == mcv('O', 'A', 'r') ? payload_i32(event, 4) : std::nullopt;
}

StreamScan scan_stream(StreamFile &file) {
  StreamScan scan;
  StreamEvent event;
  StreamFile::Status status;
  char letter = 0; // of the event before
  scan.usable_end = file.position();
  while ((status = file.read(event)) == StreamFile::Status::event) {
    if (scan.events++ == 0)
      scan.first = event.time;
    scan.last = std::max(scan.last, event.time);
    scan.usable_end = file.position();
    if (char(event.mcv >> 16) != letter) {
      letter = char(event.mcv >> 16);
      scan.models.emplace(letter, event.offset);
    }
    if (const auto cpu = payload_cpu(event); cpu && *cpu >= 0 && uint32_t(*cpu) < kCpusKept)
      scan.cpus.insert(uint32_t(*cpu));
  }
  const std::string rest = std::to_string(file.size() - scan.usable_end) + " bytes left out";
  if (status == StreamFile::Status::truncated)
    scan.problem = "the stream ends inside an event (it was cut short), " + rest;
  else if (status == StreamFile::Status::damaged)
    scan.problem = "what stands here is no event (the stream is damaged), " + rest;
  return scan;
}

} // namespace ovnitrace::ovni
