// SPDX-License-Identifier: BSD-2-Clause
// The lines of a .prv at one instant, as numbers.
#pragma once

#include "emulator/base/typed_value.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace ovnitrace {

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

/// What was given at one instant: lines and arrows, in their order. They become text only when it
/// ends, as only then it is known whether a row has several lines. Mostly few bytes, used again for
/// each instant, so that they stay in the first-level cache.
class InstantLines {
public:
  bool empty() const { return size_ == 0; }
  /// Forgets all, and what an exceptionally large instant has taken.
  void clear() {
    size_ = 0;
    if (capacity_ > kKept) [[unlikely]]
      resize(kKept);
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
  static constexpr size_t kKept = 64 * 1024; ///< bytes

  std::byte *room(size_t bytes) {
    if (capacity_ - size_ < bytes) [[unlikely]]
      resize(2 * std::max({capacity_, bytes, kKept / 4}));
    std::byte *at = &bytes_[size_];
    size_ += bytes;
    return at;
  }
  [[gnu::noinline]] void resize(size_t capacity) {
    auto other = std::make_unique_for_overwrite<std::byte[]>(capacity);
    if (size_)
      memcpy(other.get(), bytes_.get(), size_);
    bytes_ = std::move(other);
    capacity_ = capacity;
  }
  template <class T> static std::byte *put(const T &record, std::byte *at) {
    memcpy(at, &record, sizeof record);
    return at + sizeof record;
  }

  std::unique_ptr<std::byte[]> bytes_;
  size_t capacity_ = 0;
  size_t size_ = 0;
};

/// Reads what InstantLines hold.
class LineReader {
public:
  explicit LineReader(const InstantLines &lines)
      : at_(lines.bytes().data()), end_(at_ + lines.bytes().size()) {}

  bool more() const { return at_ != end_; }
  LineHead head() { return take<LineHead>(); }
  ArrowBody arrow() { return take<ArrowBody>(); }
  std::span<const TypedValue> values(uint32_t count) {
    const auto *values = reinterpret_cast<const TypedValue *>(at_);
    at_ += count * sizeof(TypedValue);
    return {values, count};
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
