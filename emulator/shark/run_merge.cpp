// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/shark/run_merge.h"

#include "emulator/base/whole_io.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ovnitrace::shark {

namespace {

constexpr size_t kBufferRecords = (8 << 20) / sizeof(ftrace_record);
constexpr size_t kMinBlockRecords = 8;
constexpr size_t kMaxBlockRecords = 16384; // 256 KiB

} // namespace

RunMerge::RunMerge(std::vector<int> files, const RunIndex &index)
    : files_(std::move(files)), index_(index),
      block_records_(std::clamp(kBufferRecords / std::max<size_t>(index.runs.size(), 1),
                                kMinBlockRecords, kMaxBlockRecords)) {}

/// Reads on in a run. Returns false at its end, or if the file cannot be read any more.
bool RunMerge::fill(OpenRun &run) {
  const uint64_t left = (run.end - run.next_offset) / sizeof(ftrace_record);
  run.buffer.resize(size_t(std::min<uint64_t>(left, block_records_)));
  run.filled = read_at(files_[run.file], run.next_offset, run.buffer.data(),
                       run.buffer.size() * sizeof(ftrace_record)) /
               sizeof(ftrace_record);
  run.at = 0;
  run.next_offset += run.filled * sizeof(ftrace_record);
  return run.filled > 0;
}

/// Loads the next record of a run. Returns false at its end.
bool RunMerge::advance(OpenRun &run) {
  for (;;) {
    if (run.at == run.filled && !fill(run))
      return false;
    run.head = run.buffer[run.at++];
    if (is_read(run.head)) {
      run.offset = run.next_offset - (run.filled - run.at + 1) * sizeof(ftrace_record);
      return true;
    }
  }
}

bool RunMerge::before(const OpenRun &a, const OpenRun &b) {
  return std::make_tuple(ftrace_record_tsc(&a.head), a.rank) <
         std::make_tuple(ftrace_record_tsc(&b.head), b.rank);
}

void RunMerge::sift_down() {
  for (size_t at = 0;;) {
    size_t least = at;
    for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap_.size(); child++)
      if (before(heap_[child], heap_[least]))
        least = child;
    if (least == at)
      return;
    std::swap(heap_[at], heap_[least]);
    at = least;
  }
}

void RunMerge::sift_up() {
  for (size_t at = heap_.size() - 1; at && before(heap_[at], heap_[(at - 1) / 2]);
       at = (at - 1) / 2)
    std::swap(heap_[at], heap_[(at - 1) / 2]);
}

/// Opens all runs that start before, or with, the earliest head.
void RunMerge::open_due() {
  while (next_run_ < index_.runs.size() &&
         (heap_.empty() || index_.runs[next_run_].first <= ftrace_record_tsc(&heap_[0].head))) {
    const Run &run = index_.runs[next_run_];
    OpenRun opened{
        .rank = uint32_t(next_run_++), .next_offset = run.begin, .end = run.end, .file = run.file};
    if (!advance(opened))
      continue;
    heap_.push_back(std::move(opened));
    sift_up();
  }
}

bool RunMerge::next(Item &item) {
  if (taken_) {
    taken_ = false;
    if (!advance(heap_[0])) {
      std::swap(heap_[0], heap_.back());
      heap_.pop_back();
    }
    if (!heap_.empty())
      sift_down();
  }
  open_due();
  if (heap_.empty())
    return false;
  item = {heap_[0].head, heap_[0].offset, heap_[0].file};
  taken_ = true;
  return true;
}

} // namespace ovnitrace::shark
