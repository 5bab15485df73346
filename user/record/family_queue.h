// SPDX-License-Identifier: BSD-2-Clause
// Keeps events of the other families until the transitions before them have come.
#pragma once

#include <ovnitrace/capture.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ovnitrace {

/// Sorts events by time. A CPU sends them in order, except a few that an interrupt overtook. A new
/// event goes to the end, or a few places before it. Nothing is allocated once the queue has its
/// greatest size.
class FamilyQueue {
public:
  bool empty() const { return first_ == records_.size(); }
  size_t size() const { return records_.size() - first_; }
  uint64_t first_time() const { return records_[first_].time; } ///< not of an empty one

  void push(const family_record &record) {
    records_.push_back(record);
    for (size_t at = records_.size() - 1; at > first_ && records_[at - 1].time > records_[at].time;
         at--)
      std::swap(records_[at - 1], records_[at]);
  }

  family_record pop() {
    family_record record = records_[first_++];
    if (empty() || (first_ >= kLeastToMove && first_ > size()))
      close_gap();
    return record;
  }

private:
  static constexpr size_t kLeastToMove =
      4096; // so that a record is moved once at most, and rarely alone

  void close_gap() {
    records_.erase(records_.begin(), records_.begin() + std::ptrdiff_t(first_));
    first_ = 0;
  }

  std::vector<family_record> records_;
  size_t first_ = 0; ///< those before it are gone
};

} // namespace ovnitrace
