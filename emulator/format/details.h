// SPDX-License-Identifier: BSD-2-Clause
// What the parameters of an event say, one named value after another.
#pragma once

#include "emulator/format/code_table.h"
#include "emulator/format/event.h"

#include <array>
#include <cstddef>

namespace ovnitrace {

struct Detail {
  std::string_view name; ///< static storage
  Unit unit = Unit::number;
  int64_t value = 0;
  std::string_view text = {}; ///< name of the value; empty: it has none. Static storage
};

/// The details of one event, in the order in which they are printed.
class Details {
public:
  /// Of an event of a plain FTrace file, which stands in it: the parameters that are in the file,
  /// by the manual's names, or par1 and par2. What a record implies has details too.
  /// Parameter 1 is left out where it is the context of the event's thread.
  explicit Details(const Event &event);

  const Detail *begin() const { return all_.data(); }
  const Detail *end() const { return all_.data() + count_; }

private:
  void add(const Detail &detail) { all_[count_++] = detail; }
  void add_fields(Fields fields, uint32_t parameter, uint16_t call);
  void add_captured(const CodeInfo &info, const Event &event);
  void add_file(const CodeInfo &info, const Event &event);

  std::array<Detail, 8> all_;
  size_t count_ = 0;
};

} // namespace ovnitrace
