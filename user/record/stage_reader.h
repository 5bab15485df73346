// SPDX-License-Identifier: BSD-2-Clause
// Reads a CPU's staging area while the CPU fills it.
#pragma once

#include <ovnitrace/capture.h>

#include <array>
#include <cstdint>

namespace ovnitrace {

/// Reads the transitions that are still staged on a CPU. A CPU that switches rarely keeps up to 31
/// old transitions to itself. Younger events of other families must not be written before them, and
/// would wait for long.
///
/// Counts batches (full areas, lost ones included), to know which records a later batch repeats. At
/// each look of the reader, it notes which records are staged, and takes those that were there at
/// the last look, too. It therefore does not depend on the order in which the stores of another CPU
/// become visible. The CPU can fill its area and begin anew while the reader copies from it: the
/// reader then takes nothing.
class StageReader {
public:
  /// Calls `take(const sched_record &)` for records that were already staged at the last look and
  /// were not taken yet. Returns whether everything that was logged before the last look is now
  /// taken; if not, the next look at a quiet CPU says so.
  template <typename Take> bool look(const volatile cpu_stage &stage, Take take) {
    const uint64_t batches = load(stage.events) / CAPTURE_BATCH;
    const bool is_last = is_last_batch(stage);
    const uint32_t count = load(stage.count); // the area of `is_last`, or a newer one
    const bool looks_again = seen_settled_ && seen_batches_ == batches;
    bool settled = batches == batches_ && !load(stage.batch.lost) && !(count && is_last) &&
                   !(looks_again && count < seen_); // what was seen was a mixture of two areas
    const uint32_t safe = settled && looks_again ? seen_ : 0;
    std::array<sched_record, CAPTURE_BATCH> copies;
    for (uint32_t n = taken_; n < safe; n++)
      copies[n] = {load(stage.batch.records[n].when), load(stage.batch.records[n].word)};
    settled = settled && load(stage.events) / CAPTURE_BATCH == batches;
    const bool complete = looked_ && settled && (seen_batches_ < batches || seen_settled_);
    for (; settled && taken_ < safe; taken_++)
      take(copies[taken_]);
    seen_ = count;
    seen_settled_ = settled;
    seen_batches_ = batches;
    looked_ = true;
    return complete;
  }

  /// Notes that a batch was read. Returns how many records were already taken from the staging
  /// area. They are the first of this batch or, if batches before it were lost (`batch.lost`), the
  /// first of the lost ones.
  uint32_t next_batch(const sched_batch &batch) {
    uint32_t taken = taken_;
    taken_ = 0;
    batches_ += batch.lost / CAPTURE_BATCH + 1;
    last_first_ = batch.records[0].when;
    return taken;
  }

private:
  /// What is read later is not older.
  template <typename T> static T load(const volatile T &value) {
    return __atomic_load_n(&value, __ATOMIC_ACQUIRE);
  }
  /// When an area is full, its batch is counted before the next one overwrites the area: for a
  /// moment it looks filled by the next.
  bool is_last_batch(const volatile cpu_stage &stage) const {
    return load(stage.batch.records[0].when) == last_first_;
  }

  uint64_t batches_ = 0;      ///< that were read or are known to be lost
  uint64_t last_first_ = 0;   ///< `when` of the first record of the last batch
  uint32_t taken_ = 0;        ///< records of the area as it is being filled now
  uint32_t seen_ = 0;         ///< staged at the last look
  bool seen_settled_ = false; ///< whether that is to be relied upon
  uint64_t seen_batches_ = 0; ///< at the last look
  /// The first look knows nothing of what was staged before the capture's start.
  bool looked_ = false;
};

} // namespace ovnitrace
