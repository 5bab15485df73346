// SPDX-License-Identifier: BSD-2-Clause
// Defines the tables that a trace is exported as, and takes their rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace ovnitrace {

enum class TableId : uint8_t { thread, slice, wakeup, event, peer, mark };
inline constexpr size_t kTables = 6;

struct ColumnInfo {
  std::string_view name;
  bool is_text;
};

struct TableInfo {
  std::string_view name;
  std::span<const ColumnInfo> columns;
};

namespace detail {
inline constexpr ColumnInfo kThreadColumns[] = {
    {"id", false},  {"tid", false},   {"pid", false}, {"name", true},      {"process", true},
    {"node", true}, {"cgroup", true}, {"unit", true}, {"container", true}, {"pod", true}};
inline constexpr ColumnInfo kSliceColumns[] = {
    {"thread", false},    {"cpu", false},      {"state", true},
    {"start_ns", false},  {"end_ns", false},   {"reason", true},
    {"blocked_in", true}, {"next_tid", false}, {"waker_tid", false}};
inline constexpr ColumnInfo kWakeupColumns[] = {
    {"time_ns", false}, {"waker_tid", false}, {"tid", false}, {"context", true}};
inline constexpr ColumnInfo kEventColumns[] = {
    {"time_ns", false}, {"cpu", false}, {"thread", false}, {"name", true}, {"details", true}};
inline constexpr ColumnInfo kPeerColumns[] = {
    {"tid", false}, {"pid", false}, {"name", true}, {"since_ns", false}, {"node", true}};
inline constexpr ColumnInfo kMarkColumns[] = {{"time_ns", false}, {"text", true}, {"node", true}};
} // namespace detail

/// By TableId. Scripts rely on the names and their order: new columns go to the end.
inline constexpr std::array<TableInfo, kTables> kTableInfo = {{{"thread", detail::kThreadColumns},
                                                               {"slice", detail::kSliceColumns},
                                                               {"wakeup", detail::kWakeupColumns},
                                                               {"event", detail::kEventColumns},
                                                               {"peer", detail::kPeerColumns},
                                                               {"mark", detail::kMarkColumns}}};

/// A value. Absent if it is not known.
struct Cell {
  enum class Kind : uint8_t { nothing, number, text };

  Cell() = default;
  template <typename Number>
  requires std::is_integral_v<Number> Cell(Number value)
      : kind(Kind::number), number(int64_t(value)) {}
  Cell(std::string_view value) : kind(Kind::text), text(value) {}

  Kind kind = Kind::nothing;
  int64_t number = 0;
  std::string_view text; ///< borrowed; printable UTF-8 in one line, as from printable_line()
};

class TableSink {
public:
  virtual ~TableSink() = default;
  /// Takes a row of a table, with a cell for each column. Cells are valid only during the call.
  /// Throws Error.
  virtual void row(TableId table, std::span<const Cell> cells) = 0;
};

} // namespace ovnitrace
