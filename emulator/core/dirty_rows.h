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
    const uint32_t words = words_for(count);
    if (words <= words_)
      return;
    std::vector<uint64_t> bits(listed_.size() * words);
    for (size_t row = 0; row < listed_.size(); row++)
      for (uint32_t w = 0; w < words_; w++)
        bits[row * words + w] = bits_[row * words_ + w];
    bits_.swap(bits);
    words_ = words;
  }
  static uint32_t words_for(uint32_t channels) { return channels / 64 + (channels % 64 != 0); }

  /// Words of a row: channel c has bit c % 64 of word c / 64.
  uint32_t words() const { return words_; }
  uint64_t *row(uint32_t row) { return &bits_[size_t(row) * words_]; }

  void mark(uint32_t row, uint32_t channel) {
    mark(row, channel / 64, uint64_t(1) << channel % 64);
  }
  /// Marks the channels of these bits of word `w`.
  void mark(uint32_t row, uint32_t w, uint64_t bits) {
    bits_[size_t(row) * words_ + w] |= bits;
    if (!listed_[row]) {
      listed_[row] = 1;
      rows_.push_back(row);
    }
  }
  /// Marks all channels of `mask`, of words() words.
  void mark_all(uint32_t row, const std::vector<uint64_t> &mask) {
    for (uint32_t w = 0; w < words_; w++)
      mark(row, w, mask[w]);
  }
  const std::vector<uint32_t> &rows() const { return rows_; }
  bool empty() const { return rows_.empty(); }

  /// To be called when the bits of all rows are 0.
  void clear() {
    for (uint32_t row : rows_)
      listed_[row] = 0;
    rows_.clear();
  }

private:
  std::vector<uint8_t> listed_;
  std::vector<uint32_t> rows_;
  std::vector<uint64_t> bits_;
  uint32_t words_ = 1;
};

} // namespace ovnitrace
