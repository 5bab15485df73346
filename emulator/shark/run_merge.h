// SPDX-License-Identifier: BSD-2-Clause
// Reads the records of S.Ha.R.K. files in order of time.
#pragma once

#include "emulator/shark/run_index.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ovnitrace::shark {

/// Merges the runs of an index. Records of equal time are in the order of the start of their runs,
/// then of the files. A run has a buffer only while the merge is within its times. All buffers
/// together take some MiB.
class RunMerge {
public:
  /// Borrows the index, and the descriptors of its files.
  RunMerge(std::vector<int> files, const RunIndex &index);

  struct Item {
    ftrace_record record;
    uint64_t offset; ///< bytes
    uint32_t file;
  };
  /// Reads the next record for which is_read(). Returns false at the end. Ticks decrease only if
  /// the index had no room for more runs, or the file changed.
  bool next(Item &item);

private:
  struct OpenRun {
    uint32_t rank;        ///< among the runs of the index
    uint64_t next_offset; ///< of the next contents of the buffer
    uint64_t end;
    uint32_t file;
    uint64_t offset = 0; ///< of the head
    std::vector<ftrace_record> buffer = {};
    size_t at = 0; ///< index of the record after the head
    size_t filled = 0;
    ftrace_record head = {};
  };

  bool fill(OpenRun &run);
  bool advance(OpenRun &run);
  void open_due();
  void sift_down();
  void sift_up();
  static bool before(const OpenRun &a, const OpenRun &b);

  std::vector<int> files_;
  const RunIndex &index_;
  size_t block_records_;
  size_t next_run_ = 0;       ///< the first run that is not open yet
  std::vector<OpenRun> heap_; ///< the earliest head first
  bool taken_ = false;        ///< the head of heap_[0] was returned
};

} // namespace ovnitrace::shark
