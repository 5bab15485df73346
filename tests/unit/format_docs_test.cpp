// SPDX-License-Identifier: BSD-2-Clause
// docs/format.md has one row for every code, and says of it what the table in the code says.
#include "emulator/format/code_table.h"

#include "tests/unit/support/project_file.h"

#include <gtest/gtest.h>

#include <bit>
#include <fmt/format.h>
#include <set>
#include <sstream>

namespace ovnitrace {
namespace {

const char *unit_text(Unit unit) {
  switch (unit) {
  case Unit::address:
    return " address";
  case Unit::cpus:
    return " mask";
  case Unit::tid:
  case Unit::peer:
    return " tid";
  case Unit::peer_context:
    return " context";
  case Unit::call:
    return " system call";
  case Unit::priority:
    return " kernel's priority";
  case Unit::ns:
    return " ns";
  case Unit::us:
    return " µs";
  default:
    return "";
  }
}

std::string bits_text(uint32_t mask) {
  const int first = std::countr_zero(mask), last = 31 - std::countl_zero(mask);
  return first == last ? fmt::format("bit {}", first) : fmt::format("bits {}–{}", first, last);
}

std::string field_text(const Field &field) {
  std::string text = fmt::format("`{}`{}", field.name, unit_text(field.unit));
  if (field.bias)
    text += fmt::format(" + {}", field.bias);
  if (field.mask != UINT32_MAX)
    text += ", " + bits_text(field.mask);
  if (field.when)
    text += fmt::format(", if {} is set", bits_text(field.when));
  if (field.unless)
    text += fmt::format(", if {} {}", bits_text(field.unless),
                        std::popcount(field.unless) == 1 ? "is not set" : "are 0");
  std::string values;
  for (const ValueName &value : field.names)
    values += fmt::format("{}{} {}", values.empty() ? ": " : ", ", value.value, value.name);
  return text + values;
}

std::string fields_text(Fields fields) {
  std::string text;
  for (const Field &field : fields)
    text += (text.empty() ? "" : "; ") + field_text(field);
  return text.empty() ? "–" : text;
}

std::string row_of(const CodeInfo &info) {
  const char *const kinds[] = {"empty", "event", "control", "state", "two events", "three events"};
  const bool context = info.par1 == Par1::context || info.par1 == Par1::maybe_context;
  const FamilyInfo *family = find_family(uint32_t(info.captured_by));
  return fmt::format("| 0x{:02X} | `{}` | {} | {} | {} | {} | {} |", info.code, info.name,
                     kinds[size_t(info.record)], family ? family->name : std::string_view("–"),
                     context ? "context" : fields_text(info.par1_fields),
                     fields_text(info.par2_fields), info.what);
}

TEST(FormatDocs, HaveARowOfEveryCodeAndNoOther) {
  std::istringstream in(test::project_file("docs/format.md"));
  std::set<std::string> documented, known;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("| 0x")) {
      EXPECT_TRUE(documented.insert(line).second) << "twice: " << line;
    }
  for (const CodeInfo &info : kCodes)
    known.insert(row_of(info));
  for (const std::string &row : known)
    EXPECT_TRUE(documented.contains(row)) << "docs/format.md lacks\n" << row;
  for (const std::string &row : documented)
    EXPECT_TRUE(known.contains(row)) << "docs/format.md has\n" << row;
}

TEST(CodeTable, HasEachCodeOnce) {
  std::set<int> codes;
  for (const CodeInfo &info : kCodes) {
    EXPECT_TRUE(codes.insert(info.code).second) << info.name;
    EXPECT_FALSE(info.what.empty()) << info.name;
  }
}

/// Who the second thread is, as docs of the manual and of captures say: by hand, code for code.
TEST(CodeTable, CodesThatNameASecondThreadMatchTheFormat) {
  const std::set<int> by_tid = {0x12, 0x32, 0x72, 0x03, 0x13, 0x07, 0x5D, 0x8D},
                      by_context = {0x82, 0x25, 0xEC, 0xFC};
  for (const CodeInfo &info : kCodes) {
    int tids = 0, contexts = 0;
    for (const Field &field : info.par2_fields) {
      tids += field.unit == Unit::peer;
      contexts += field.unit == Unit::peer_context;
    }
    EXPECT_EQ(tids, by_tid.contains(info.code)) << info.name;
    EXPECT_EQ(contexts, by_context.contains(info.code)) << info.name;
  }
}

} // namespace
} // namespace ovnitrace
