// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/human.h"
#include "emulator/diff/diff_report.h"
#include "emulator/diff/sentence.h"
#include "emulator/summary/answer.h"
#include "emulator/summary/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace ovnitrace {

namespace {

constexpr size_t kIntervalColumns = 100; ///< narrower tables have no columns FROM and TO

/// Makes the tables of one comparison.
class DiffText {
public:
  DiffText(const DiffInput &input, size_t top, size_t columns)
      : comparison_(input.comparison), names_(input.runs.names), top_(top), columns_(columns),
        tested_(input.comparison.tested), intervals_(tested_ && columns >= kIntervalColumns) {}

  std::string path() const {
    Table table = make_table({"CRITICAL PATH", "CAUSE"});
    add_causes(table, comparison_.causes, true);
    add(table, {"all", ""}, comparison_.wall);
    return table.text(columns_);
  }

  std::string groups() const {
    Table table = make_table({"THREADS", "TIME"});
    const size_t shown =
        top_ ? std::min(top_, comparison_.groups.size()) : comparison_.groups.size();
    for (size_t n = 0; n < shown; n++)
      add_group(table, comparison_.groups[n]);
    std::string text = table.text(columns_);
    if (const size_t more = comparison_.groups.size() - shown)
      text += fmt::format("{} changed less: --top 0 lists all.\n",
                          human_count(more, "other group of threads", "other groups of threads"));
    return text;
  }

private:
  Table make_table(Table::Row head) const {
    head.insert(head.end(), {"A", "B", "CHANGE"});
    if (intervals_)
      head.insert(head.end(), {"FROM", "TO"});
    if (tested_)
      head.push_back("");
    return Table(std::move(head), 2);
  }
  size_t count_of(const std::vector<CauseChange> &causes) const {
    return top_ && causes.size() > top_ + 1 ? top_ : causes.size();
  }
  static void join(Change &sum, const Change &change) {
    sum.a += change.a;
    sum.b += change.b;
  }
  void add(Table &table, Table::Row row, const Change &change) const {
    row.insert(row.end(), {human_duration(change.a), human_duration(change.b),
                           signed_duration(change.delta())});
    if (intervals_ && change.shift)
      row.insert(row.end(), {signed_duration(std::llround(change.shift->interval->first)),
                             signed_duration(std::llround(change.shift->interval->second))});
    else if (intervals_)
      row.insert(row.end(), {"", ""});
    if (tested_)
      row.push_back(change.shift && !change.shown ? "~" : "");
    table.add(std::move(row));
  }
  /// `of_path`: with the groups; otherwise the causes of one group, below its line.
  void add_causes(Table &table, const std::vector<CauseChange> &causes, bool of_path) const {
    const size_t shown = count_of(causes);
    Change rest;
    for (size_t n = 0; n < causes.size(); n++) {
      const auto &[cause, change] = causes[n];
      const std::string text = cause_text(cause, names_);
      if (n >= shown)
        join(rest, change);
      else if (of_path)
        add(table, {names_.group_text(cause.group), text}, change);
      else
        add(table, {"", "  " + text}, change);
    }
    const std::string others = human_count(causes.size() - shown) + " others";
    if (causes.size() > shown)
      add(table, of_path ? Table::Row{others, ""} : Table::Row{"", "  " + others}, rest);
  }
  void add_group(Table &table, const GroupChange &group) const {
    const std::string label = names_.group_text(group.group);
    const std::string threads =
        group.a_threads == group.b_threads
            ? human_count(group.a_threads, "thread", "threads")
            : fmt::format("{}, then {}", human_count(group.a_threads, "thread", "threads"),
                          group.b_threads);
    add(table, {label, threads}, group.life);
    add_causes(table, group.causes, false);
  }

  const Comparison &comparison_;
  const Names &names_;
  size_t top_, columns_;
  bool tested_;
  bool intervals_; ///< the columns FROM and TO, which would leave no room for names otherwise
};

std::string conditions_text(const Comparison &comparison) {
  if (comparison.conditions.empty())
    return "";
  std::string text = "The conditions differ:\n";
  for (const Difference &one : comparison.conditions)
    text += fmt::format("  {}: {} in A, {} in B\n", one.what, one.a, one.b);
  return text + "\n";
}

std::string list_of(const std::vector<std::string> &groups, const Names &names) {
  std::vector<std::string> texts;
  for (const std::string &group : groups)
    texts.push_back(names.group_text(group));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string partners_text(const Comparison &comparison, const Names &names) {
  std::string text;
  if (!comparison.only_a.empty())
    text += "Only in A: " + list_of(comparison.only_a, names) + "\n";
  if (!comparison.only_b.empty())
    text += "Only in B: " + list_of(comparison.only_b, names) + "\n";
  if (!comparison.only_a.empty() && !comparison.only_b.empty())
    text += "--match OLD=NEW matches threads or processes that have another name in B.\n";
  return text.empty() ? "" : "\n" + text;
}

std::string gates_text(const std::vector<GateResult> &gates) {
  std::string text;
  for (const GateResult &gate : gates) {
    const double percent = gate.a > 0 ? 100 * (gate.b / gate.a - 1) : 0;
    text +=
        fmt::format("{}: {}: {} in A, {} in B ({:+.1f} %){}\n", gate.passed ? "passed" : "FAILED",
                    gate.text, human_duration(uint64_t(gate.a)), human_duration(uint64_t(gate.b)),
                    percent, gate.why.empty() ? "" : "; " + gate.why);
  }
  return text.empty() ? "" : "\n" + text;
}

} // namespace

std::string diff_text(const DiffInput &input, size_t top, size_t columns) {
  const Comparison &comparison = input.comparison;
  const Names &names = input.runs.names;
  const DiffText tables(input, top, columns);
  return conditions_text(comparison) +
         answer_text({sentence(comparison, names), verdict(comparison, input.runs)}, columns) +
         tables.path() + "\n" + tables.groups() + partners_text(comparison, names) +
         gates_text(input.gates);
}

} // namespace ovnitrace
