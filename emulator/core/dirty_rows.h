// SPDX-License-Identifier: BSD-2-Clause
// The dirty marks of the channels: a bit for each channel of each row, and a list of the rows that
// have any.
#pragma once

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// The rows whose channels have changed at this instant: only these are written when it ends.
class DirtyRows {
public:
  explicit DirtyRows(uint32_t rows = 0) : listed_(rows, 0), bits_(rows) {}

  /// Makes room for channels below `count`.
  void grow(uint32_t count) {
    uint32_t words = (count + 63) / 64;
    if (words <= words_)
      return;
    std::vector<uint64_t> bits(listed_.size() * words);
    for (size_t row = 0; row < listed_.size(); row++)
      for (uint32_t w = 0; w < words_; w++)
        bits[row * words + w] = bits_[row * words_ + w];
    bits_.swap(bits);
    words_ = words;
  }

  void mark(uint32_t row, uint32_t channel) {
    bits_[size_t(row) * words_ + channel / 64] |= uint64_t(1) << channel % 64;
    list(row);
  }
  /// Marks all channels of `mask`, which has a word for each 64 channels.
  void mark_all(uint32_t row, const std::vector<uint64_t> &mask) {
    for (size_t w = 0; w < mask.size(); w++)
      bits_[size_t(row) * words_ + w] |= mask[w];
    list(row);
  }
  const std::vector<uint32_t> &rows() const { return rows_; }
  bool empty() const { return rows_.empty(); }

  /// Calls `f(channel)` for each dirty channel of `row`, in order, and clears its marks.
  template <class F> void take(uint32_t row, F &&f) {
    uint64_t *words = &bits_[size_t(row) * words_];
    for (uint32_t w = 0; w < words_; w++) {
      uint64_t left = words[w];
      words[w] = 0;
      for (; left; left &= left - 1)
        f(w * 64 + uint32_t(__builtin_ctzll(left)));
    }
  }
  /// To be called when all rows were taken.
  void clear() {
    for (uint32_t row : rows_)
      listed_[row] = 0;
    rows_.clear();
  }

private:
  void list(uint32_t row) {
    if (!listed_[row]) {
      listed_[row] = 1;
      rows_.push_back(row);
    }
  }
  std::vector<uint8_t> listed_;
  std::vector<uint32_t> rows_;
  std::vector<uint64_t> bits_;
  uint32_t words_ = 1;
};

} // namespace ovnitrace
