// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/shark/run_index.h"

#include "emulator/format/code_kind.h"
#include "emulator/input/record_buffer.h"

#include <algorithm>

namespace ovnitrace::shark {

namespace {

constexpr size_t kBlockRecords = 16384; // 256 KiB

class Scan {
public:
  explicit Scan(RunIndex &index) : index_(index) {}

  void record(const ftrace_record &record, uint64_t offset);
  void finish();

private:
  void place(uint64_t ticks, uint64_t offset);
  void rate(uint32_t given, uint64_t offset);

  RunIndex &index_;
  uint64_t last_ = 0;       ///< ticks of the record before
  uint32_t start_rate_ = 0; ///< of the first trace_start
};

void Scan::record(const ftrace_record &record, uint64_t offset) {
  const uint8_t code = code_of(record.code);
  // Its first chunk starts with cycles_per_msec and EXT_format (docs/format.md).
  if (record.code == FTrace_EXT_format && offset == sizeof(ftrace_record))
    index_.has_chunks = index_.counts[FTrace_EVT_cycles_per_msec] == 1;
  if (!is_read(record)) {
    if (code != FTrace_EVT_empty && index_.unknown++ == 0) {
      index_.first_unknown = offset;
      index_.first_unknown_code = record.code;
    }
    return;
  }
  index_.counts[code]++;
  if (code == FTrace_EVT_cycles_per_msec)
    rate(record.par2, offset);
  else if (code == FTrace_EVT_trace_start && start_rate_ == 0)
    start_rate_ = record.par2;
  place(ftrace_record_tsc(&record), offset);
}

void Scan::place(uint64_t ticks, uint64_t offset) {
  const bool room = index_.runs.size() < RunIndex::kMaxRuns;
  if (index_.records++ == 0)
    index_.first = index_.last = ticks;
  if (index_.runs.empty() || (ticks < last_ && room))
    index_.runs.push_back({.begin = offset, .end = offset, .first = ticks});
  index_.runs.back().end = offset + sizeof(ftrace_record);
  index_.first = std::min(index_.first, ticks);
  index_.last = std::max(index_.last, ticks);
  last_ = ticks;
}

void Scan::rate(uint32_t given, uint64_t offset) {
  if (given == 0 || given == index_.rate)
    return;
  if (index_.rate == 0) {
    index_.rate = given;
  } else if (index_.other_rate == 0) {
    index_.other_rate = given;
    index_.other_rate_offset = offset;
  }
}

void Scan::finish() {
  if (index_.rate == 0)
    index_.rate = start_rate_;
  std::stable_sort(index_.runs.begin(), index_.runs.end(),
                   [](const Run &a, const Run &b) { return a.first < b.first; });
}

} // namespace

bool is_read(const ftrace_record &record) {
  constexpr uint8_t kExtensions = 0x0C, kMoreExtensions = 0x0D; // families
  const uint8_t code = code_of(record.code), family = code & FTrace_family_mask;
  return kCodeKinds[code] < CodeKind::empty && family != kExtensions && family != kMoreExtensions;
}

RunIndex join(const std::vector<const RunIndex *> &files) {
  RunIndex all;
  bool given = false; // by a cycles_per_msec
  for (uint32_t file = 0; file < files.size(); file++) {
    const RunIndex &one = *files[file];
    for (const Run &run : one.runs) {
      all.runs.push_back(run);
      all.runs.back().file = file;
    }
    for (size_t code = 0; code < all.counts.size(); code++)
      all.counts[code] += one.counts[code];
    all.first = all.records == 0 ? one.first
                : one.records    ? std::min(all.first, one.first)
                                 : all.first;
    all.last = std::max(all.last, one.last);
    all.records += one.records;
    all.unknown += one.unknown;
    all.read += one.read;
    const bool gives = one.rate && one.counts[FTrace_EVT_cycles_per_msec];
    if (all.rate == 0 || (gives && !given))
      all.rate = one.rate;
    given |= gives;
  }
  std::stable_sort(all.runs.begin(), all.runs.end(),
                   [](const Run &a, const Run &b) { return a.first < b.first; });
  return all;
}

RunIndex make_run_index(int fd, uint64_t size) {
  RunIndex index;
  Scan scan(index);
  RecordBuffer buffer(fd, size, kBlockRecords);
  buffer.keep_differences();
  for (auto block = buffer.next_block(); !block.empty(); block = buffer.next_block()) {
    for (size_t i = 0; i < block.size(); i++)
      scan.record(block[i], buffer.block_offset() + i * sizeof(ftrace_record));
    index.read = buffer.block_offset() + block.size_bytes();
  }
  index.tail = buffer.tail();
  index.error = buffer.error();
  scan.finish();
  return index;
}

} // namespace ovnitrace::shark
