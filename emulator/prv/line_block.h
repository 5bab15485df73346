// SPDX-License-Identifier: BSD-2-Clause
// Lines of a .prv on their way from the replay to the thread that formats them: numbers, no text.
#pragma once

#include "emulator/base/typed_value.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace ovnitrace {

/// What a block holds: a head for each instant, then its lines and arrows in the order in which
/// they were given. All are of whole 8 bytes.
struct InstantHead {
  uint64_t time;   ///< ns
  uint64_t bytes;  ///< of what follows
  uint64_t sorted; ///< 1: no row has two lines, and arrows are last
};
struct LineHead {
  uint32_t row, cpu;
  uint32_t count; ///< of the TypedValues that follow; kArrow: an ArrowBody follows
  uint32_t unused = 0;
};
struct ArrowBody {
  uint32_t to_row, to_cpu, tag;
  uint32_t unused = 0;
  uint64_t recv_time, size;
};
inline constexpr uint32_t kArrow = UINT32_MAX;

/// Whole instants, as many as fit; one instant that is larger makes it grow.
class LineBlock {
public:
  static constexpr size_t kSize = 128 * 1024; ///< bytes; two of them fit the second-level cache

  LineBlock() { clear(); }

  bool empty() const { return size_ == 0; }
  bool full() const { return size_ > kSize - kSize / 8; }
  /// Forgets all, and what it has grown beyond its size.
  void clear() {
    size_ = 0;
    if (capacity_ == kSize)
      return;
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(kSize);
    capacity_ = kSize;
  }

  void start_instant(uint64_t time) {
    head_ = size_;
    put(InstantHead{time, 0, 1}, room(sizeof(InstantHead)));
  }
  void end_instant(bool sorted) {
    InstantHead head;
    memcpy(&head, &bytes_[head_], sizeof head);
    head.bytes = size_ - head_ - sizeof head;
    head.sorted = sorted;
    memcpy(&bytes_[head_], &head, sizeof head);
  }
  void line(uint32_t row, uint32_t cpu, std::span<const TypedValue> values) {
    std::byte *at = put(LineHead{row, cpu, uint32_t(values.size())},
                        room(sizeof(LineHead) + values.size_bytes()));
    memcpy(at, values.data(), values.size_bytes());
  }
  void arrow(uint32_t row, uint32_t cpu, const ArrowBody &body) {
    put(body, put(LineHead{row, cpu, kArrow}, room(sizeof(LineHead) + sizeof(ArrowBody))));
  }

  std::span<const std::byte> bytes() const { return {bytes_.get(), size_}; }

private:
  std::byte *room(size_t bytes) {
    if (capacity_ - size_ < bytes) [[unlikely]]
      grow(bytes);
    std::byte *at = &bytes_[size_];
    size_ += bytes;
    return at;
  }
  [[gnu::noinline]] void grow(size_t bytes) {
    const size_t capacity = 2 * std::max(capacity_, bytes);
    auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity);
    memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
    capacity_ = capacity;
  }
  template <class T> static std::byte *put(const T &record, std::byte *at) {
    memcpy(at, &record, sizeof record);
    return at + sizeof record;
  }

  std::unique_ptr<std::byte[]> bytes_;
  size_t capacity_ = 0;
  size_t size_ = 0;
  size_t head_ = 0; ///< of the current instant
};

/// Reads what a LineBlock holds.
class LineReader {
public:
  explicit LineReader(std::span<const std::byte> bytes)
      : at_(bytes.data()), end_(at_ + bytes.size()) {}

  bool more() const { return at_ != end_; }
  InstantHead instant() { return take<InstantHead>(); }
  LineHead head() { return take<LineHead>(); }
  ArrowBody arrow() { return take<ArrowBody>(); }
  std::span<const TypedValue> values(uint32_t count) {
    const auto *values = reinterpret_cast<const TypedValue *>(at_);
    at_ += count * sizeof(TypedValue);
    return {values, count};
  }
  /// The next `bytes`, which are left out here.
  LineReader part(size_t bytes) {
    at_ += bytes;
    return LineReader({at_ - bytes, bytes});
  }

private:
  template <class T> T take() {
    T record;
    memcpy(&record, at_, sizeof record);
    at_ += sizeof record;
    return record;
  }
  const std::byte *at_, *end_;
};

} // namespace ovnitrace
