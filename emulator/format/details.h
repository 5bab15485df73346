// SPDX-License-Identifier: BSD-2-Clause
// Splits the parameters of an event into named values, in the order in which they are printed.
#pragma once

#include "emulator/format/code_table.h"
#include "emulator/format/event.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace ovnitrace {

struct Detail {
  std::string_view name; ///< static storage
  Unit unit = Unit::number;
  int64_t value = 0;
  std::string_view text = {}; ///< name of the value, empty if it has none; static storage
};

/// The named values of one event.
class Details {
public:
  /// For a record of a plain FTrace file: its parameters as in the file, with the names of the
  /// manual, or par1 and par2. For any other event: the fields of docs/format.md. Omits parameter 1
  /// if it is the context of the event's thread.
  explicit Details(const Event &event);

  const Detail *begin() const { return all_.data(); }
  const Detail *end() const { return all_.data() + count_; }

private:
  /// The most details of an event. A parameter without fields has one.
  static constexpr size_t kMost = [] {
    size_t most = 0;
    for (const CodeInfo &info : kCodes)
      most = std::max(most, std::max<size_t>(info.par1_fields.size(), 1) +
                                std::max<size_t>(info.par2_fields.size(), 1));
    return most;
  }();

  void add(const Detail &detail) { all_[count_++] = detail; }
  void add_fields(Fields fields, uint32_t parameter, uint16_t call);
  void add_captured(const CodeInfo &info, const Event &event);
  void add_file(const CodeInfo &info, const Event &event);

  std::array<Detail, kMost> all_;
  size_t count_ = 0;
};

} // namespace ovnitrace
