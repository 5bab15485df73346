// SPDX-License-Identifier: BSD-2-Clause
// A row as the bytes of a record of SQLite: https://sqlite.org/fileformat2.html, "Record Format".
#pragma once

#include "emulator/tables/tables.h"

#include <array>
#include <cstring>

namespace ovnitrace {

/// A varint of SQLite: seven bits a byte, the highest first. Of numbers below 2^56 only.
inline uint8_t *put_sqlite_varint(uint8_t *at, uint64_t value) {
  int shift = 0;
  while (value >> shift >= 0x80)
    shift += 7;
  for (; shift; shift -= 7)
    *at++ = uint8_t(0x80 | value >> shift);
  *at++ = uint8_t(value & 0x7f);
  return at;
}

/// One record: first how large it is, then its bytes. Borrows the cells.
class SqliteRecord {
public:
  static constexpr size_t kMostCells = 9;

  explicit SqliteRecord(std::span<const Cell> cells) : cells_(cells) {
    for (size_t n = 0; n < cells.size(); n++) {
      const Cell &cell = cells[n];
      if (cell.kind == Cell::Kind::number)
        types_[n] = number_type(cell.number);
      else if (cell.kind == Cell::Kind::text)
        types_[n] = 13 + 2 * cell.text.size();
      header_ += types_[n] < 0x80 ? 1 : types_[n] < 0x4000 ? 2 : types_[n] < 0x200000 ? 3 : 4;
      body_ += cell.kind == Cell::Kind::text ? cell.text.size() : kNumberBytes[types_[n]];
    }
  }

  size_t bytes() const { return header_ + body_; }

  uint8_t *put(uint8_t *at) const {
    *at++ = uint8_t(header_); // below 128
    for (size_t n = 0; n < cells_.size(); n++)
      at = put_sqlite_varint(at, types_[n]);
    for (size_t n = 0; n < cells_.size(); n++) {
      const Cell &cell = cells_[n];
      if (cell.kind == Cell::Kind::text) {
        std::memcpy(at, cell.text.data(), cell.text.size());
        at += cell.text.size();
      } else {
        for (int shift = 8 * (kNumberBytes[types_[n]] - 1); shift >= 0; shift -= 8)
          *at++ = uint8_t(uint64_t(cell.number) >> shift);
      }
    }
    return at;
  }

private:
  /// By type: nothing, numbers of so many bytes, and the constants 0 and 1.
  static constexpr std::array<uint8_t, 10> kNumberBytes = {0, 1, 2, 3, 4, 6, 8, 0, 0, 0};

  static uint64_t number_type(int64_t number) {
    if (number == 0 || number == 1)
      return uint64_t(8 + number);
    const auto size = uint64_t(number < 0 ? ~number : number);
    for (uint64_t type = 1; type < 6; type++)
      if (size >> (8 * kNumberBytes[type] - 1) == 0)
        return type;
    return 6;
  }

  std::span<const Cell> cells_;
  std::array<uint64_t, kMostCells> types_{};
  size_t header_ = 1, body_ = 0; ///< bytes
};

} // namespace ovnitrace
