// SPDX-License-Identifier: BSD-2-Clause
// Marks changed channels: a bit for each used channel of each row, and a list of rows with a bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ovnitrace {

/// A bit for each used channel, by its rank among the used channels in the order of declaration.
using ChannelBits = std::vector<uint64_t>;

/// The rows with channels that changed in this instant: only these are written when it ends.
class DirtyRows {
public:
  explicit DirtyRows(size_t rows = 0) : count_(rows), rows_(rows), bits_(rows) {}

  /// Adds a row without a bit.
  void add_row() {
    count_++;
    rows_.push_back(0);
    bits_.resize(count_ * words_);
  }

  static uint32_t words_for(uint32_t channels) { return channels / 64 + (channels % 64 != 0); }

  /// Returns the words of a row: the channel of rank r has bit r % 64 of word r / 64.
  uint32_t words() const { return words_; }
  uint64_t *row(uint32_t row) { return &bits_[size_t(row) * words_]; }

  void mark(uint32_t row, uint32_t rank) { mark(row, rank / 64, uint64_t(1) << rank % 64); }
  /// Marks the channels of these bits of word `w`. REQUIRES: bits != 0.
  void mark(uint32_t row, uint32_t w, uint64_t bits) {
    uint64_t *words = this->row(row);
    if (!words[w] && (words_ == 1 || !any(words)))
      rows_[listed_++] = row;
    words[w] |= bits;
  }
  /// Marks all channels of `mask`, which has words() words.
  void mark_all(uint32_t row, const ChannelBits &mask) {
    for (uint32_t w = 0; w < words_; w++)
      if (mask[w])
        mark(row, w, mask[w]);
  }
  /// Prefetches the bits of a row.
  void prefetch(uint32_t row) const { __builtin_prefetch(&bits_[size_t(row) * words_], 1); }
  /// Returns the rows with a bit, in the order of their first marks.
  std::span<const uint32_t> rows() const { return {rows_.data(), listed_}; }

  /// Empties the list. REQUIRES: the bits of all rows are 0.
  void clear() { listed_ = 0; }

  /// Makes room for another used channel of this rank; higher ranks move up by one. `count`: of the
  /// used channels, with this one.
  void insert(uint32_t rank, uint32_t count) {
    if (words_for(count) > words_)
      grow(words_for(count));
    const uint64_t above = ~uint64_t(0) << rank % 64;
    for (const uint32_t row : rows()) {
      uint64_t *words = this->row(row);
      for (uint32_t w = words_ - 1; w > rank / 64; w--)
        words[w] = words[w] << 1 | words[w - 1] >> 63;
      uint64_t &word = words[rank / 64];
      word = (word & ~above) | (word & above) << 1;
    }
  }

private:
  bool any(const uint64_t *words) const {
    for (uint32_t w = 0; w < words_; w++)
      if (words[w])
        return true;
    return false;
  }
  void grow(uint32_t words) {
    ChannelBits wider(count_ * words);
    for (size_t row = 0; row < count_; row++)
      for (uint32_t w = 0; w < words_; w++)
        wider[row * words + w] = bits_[row * words_ + w];
    bits_.swap(wider);
    words_ = words;
  }

  size_t count_;
  std::vector<uint32_t> rows_; ///< with room for all
  size_t listed_ = 0;          ///< of them
  ChannelBits bits_;           ///< by row
  uint32_t words_ = 1;
};

} // namespace ovnitrace
