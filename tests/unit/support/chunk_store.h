// SPDX-License-Identifier: BSD-2-Clause
// Keeps all that a reader of rings hands over, and says what is there.
#pragma once

#include "user/chunk/chunk_pool.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <vector>

namespace ovnitrace::test {

/// A record and the CPU in whose chunk it is.
struct StoredRecord {
  uint32_t cpu;
  uint16_t code; ///< without the bits above
  uint16_t par1;
  uint64_t time; ///< ns
  uint32_t par2;
};

/// May be asked by any thread at any time.
class ChunkStore final : public ChunkPool {
public:
  Chunk *borrow(uint32_t cpu) override {
    const std::lock_guard lock(mutex_);
    Chunk &chunk = lent_[cpu];
    chunk.cpu = cpu;
    chunk.records.clear();
    chunk.records.reserve(1 << 12);
    return &chunk;
  }
  void give(Chunk *chunk) override {
    const std::lock_guard lock(mutex_);
    cpus_.insert(chunk->cpu);
    for (const ftrace_record &r : chunk->records)
      records_.push_back(
          {chunk->cpu, uint16_t(r.code & 0xff), r.par1, ftrace_record_tsc(&r), r.par2});
  }

  /// Returns the records for which `fits` is true, those of each CPU in their order.
  template <class Fits> std::vector<StoredRecord> all(Fits fits) const {
    const std::lock_guard lock(mutex_);
    std::vector<StoredRecord> found;
    std::copy_if(records_.begin(), records_.end(), std::back_inserter(found), fits);
    return found;
  }
  std::vector<StoredRecord> all_of(uint16_t code) const {
    return all([code](const StoredRecord &one) { return one.code == code; });
  }
  /// Counts the times at which a thread got a CPU or left one, or was woken.
  size_t transitions(uint64_t from, uint64_t to) const {
    constexpr uint16_t kCodes[] = {FTrace_EVT_task_dispatch, FTrace_EVT_task_sleep,
                                   FTrace_EVT_task_epilogue, FTrace_EVT_task_activate};
    return all([&](const StoredRecord &one) {
             return one.time >= from && one.time < to &&
                    std::count(std::begin(kCodes), std::end(kCodes), one.code);
           })
        .size();
  }
  /// Sums up what blackouts of a kind have lost on a CPU.
  uint64_t lost(uint32_t cpu, ftrace_blackout what) const {
    uint64_t sum = 0;
    for (const StoredRecord &one : all_of(FTrace_EVT_blackout_end))
      sum += one.cpu == cpu && one.par1 == what ? one.par2 : 0;
    return sum;
  }
  size_t records() const {
    return all([](const StoredRecord &) { return true; }).size();
  }
  std::set<uint32_t> cpus() const { ///< that have chunks
    const std::lock_guard lock(mutex_);
    return cpus_;
  }

private:
  mutable std::mutex mutex_;
  std::map<uint32_t, Chunk> lent_;
  std::vector<StoredRecord> records_;
  std::set<uint32_t> cpus_;
};

} // namespace ovnitrace::test
