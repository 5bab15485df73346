// SPDX-License-Identifier: BSD-2-Clause
// Carries the lines of a .prv as numbers from the replay to the thread that formats them.
#pragma once

#include "emulator/base/typed_value.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace ovnitrace {

/// The content of a block: a head for each instant, then its lines and arrows in the order of the
/// calls. Every size is a multiple of 8 bytes.
struct InstantHead {
  uint64_t time;   ///< ns
  uint32_t bytes;  ///< of lines and arrows that follow
  uint32_t merged; ///< 1: a row has several lines, or a line follows an arrow
};
struct LineHead {
  enum Kind : uint32_t { narrow, wide, arrow };
  uint16_t row, cpu;   ///< Paraver has at most 65535 of them
  uint32_t count : 29; ///< number of values that follow
  uint32_t punctual : 1;
  uint32_t kind : 2; ///< narrow: NarrowValues, wide: TypedValues, arrow: an ArrowBody follows
};
/// A value of 32 bits, which suffice nearly always: data that one core writes and another reads
/// costs by its size.
struct NarrowValue {
  int32_t value;
  uint32_t type;
};
struct ArrowBody {
  uint16_t to_row, to_cpu;
  uint32_t tag;
  uint64_t recv_time, size;
};

/// Whole instants. A line becomes text only when its instant has ended, because only then it is
/// known whether its row has another line. The block grows for a larger instant.
class LineBlock {
public:
  /// Returns whether the block should be passed on. `size`: of a full block, bytes.
  bool full(size_t size) const { return size_ >= size; }
  /// Clears the block, and frees what an exceptionally large instant has taken.
  void clear() {
    size_ = 0;
    if (capacity_ > 2 * kFirst) [[unlikely]]
      resize(kFirst);
  }

  void start_instant() {
    head_ = size_;
    room(sizeof(InstantHead));
  }
  void end_instant(uint64_t time, bool merged) {
    if (const size_t bytes = size_ - head_ - sizeof(InstantHead); bytes == 0)
      size_ = head_; // the instant has no lines
    else
      put(InstantHead{time, uint32_t(bytes), merged}, &bytes_[head_]);
  }
  void line(uint32_t row, uint32_t cpu, std::span<const TypedValue> values, bool punctual = false) {
    const uint32_t count = uint32_t(values.size());
    std::byte *const head = room(sizeof(LineHead) + values.size_bytes());
    std::byte *at = head + sizeof(LineHead);
    bool wide = false;
    for (const TypedValue &value : values) {
      wide |= value.value != int32_t(value.value);
      at = put(NarrowValue{int32_t(value.value), value.type}, at);
    }
    if (wide) [[unlikely]]
      memcpy(head + sizeof(LineHead), values.data(), values.size_bytes());
    else
      size_ -= count * (sizeof(TypedValue) - sizeof(NarrowValue));
    put(LineHead{uint16_t(row), uint16_t(cpu), count, punctual,
                 wide ? LineHead::wide : LineHead::narrow},
        head);
  }
  void arrow(uint32_t row, uint32_t cpu, const ArrowBody &body) {
    put(body, put(LineHead{uint16_t(row), uint16_t(cpu), 0, 0, LineHead::arrow},
                  room(sizeof(LineHead) + sizeof(ArrowBody))));
  }

  std::span<const std::byte> bytes() const { return {bytes_.get(), size_}; }

private:
  static constexpr size_t kFirst = 320 * 1024; ///< bytes

  std::byte *room(size_t bytes) {
    if (capacity_ - size_ < bytes) [[unlikely]]
      resize(std::max(kFirst, 2 * std::max(capacity_, bytes)));
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
  size_t head_ = 0; ///< place of the head of the current instant
};

/// Reads the contents of a LineBlock.
class LineReader {
public:
  explicit LineReader(std::span<const std::byte> bytes)
      : at_(bytes.data()), end_(at_ + bytes.size()) {}

  bool more() const { return at_ != end_; }
  InstantHead instant() { return take<InstantHead>(); }
  LineHead head() { return take<LineHead>(); }
  ArrowBody arrow() { return take<ArrowBody>(); }
  /// Returns the values of a line, of the type that its head says.
  template <class Value> std::span<const Value> values(uint32_t count) {
    const auto *values = reinterpret_cast<const Value *>(at_);
    at_ += count * sizeof(Value);
    return {values, count};
  }
  /// Skips the next `bytes`.
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
