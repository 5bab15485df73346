// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/diff/diff_report.h"
#include "emulator/diff/sentence.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace ovnitrace {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const std::vector<RunTimes> &runs) {
  Json list = Json::array();
  for (const RunTimes &run : runs)
    list.push_back({{"trace", run.trace}, {"wall_ns", run.wall}, {"lost", run.lost}});
  return list;
}

Json text_or_null(const std::string &text) {
  return text.empty() ? Json() : Json(text);
}

void add_change(Json &row, const Change &change) {
  row["a_ns"] = change.a;
  row["b_ns"] = change.b;
  row["delta_ns"] = change.delta();
  row["interval_ns"] = Json();
  if (change.shift)
    row["interval_ns"] = {std::llround(change.shift->interval->first),
                          std::llround(change.shift->interval->second)};
  row["p"] = change.shift ? Json(change.shift->p) : Json();
  row["significant"] = change.shown;
}

Json json_of(const std::vector<CauseChange> &causes, const Names &names) {
  Json list = Json::array();
  for (const auto &[cause, change] : causes) {
    Json row = {{"cause", kind_word(cause.kind)},
                {"thread", names.group_text(cause.group)},
                {"process", names.text(Names::parts(cause.group).first)},
                {"call", text_or_null(cause.call)},
                {"culprit", cause.culprit.empty() ? Json() : Json(names.text(cause.culprit))},
                {"at", text_or_null(cause.at)}};
    add_change(row, change);
    list.push_back(std::move(row));
  }
  return list;
}

Json names_of(const std::vector<std::string> &groups, const Names &names) {
  Json list = Json::array();
  for (const std::string &group : groups)
    list.push_back(names.group_text(group));
  return list;
}

} // namespace

void write_diff_json(const DiffInput &input, const JsonStream::Write &write) {
  const auto &[runs, comparison, gates] = input;
  JsonStream out(write);
  out.member("schema", kJsonSchema);
  out.member("a", json_of(runs.a));
  out.member("b", json_of(runs.b));
  Json conditions = Json::array();
  for (const Difference &one : comparison.conditions)
    conditions.push_back({{"what", one.what}, {"a", one.a}, {"b", one.b}});
  out.member("conditions", conditions);
  out.member("answer", sentence(comparison, runs.names));
  out.member("delta_ns", comparison.wall.delta());
  out.member("verdict", comparison.wall.shift.has_value());
  Json wall = Json::object();
  add_change(wall, comparison.wall);
  out.member("wall", wall);
  out.member("causes", json_of(comparison.causes, runs.names));
  out.start_array("groups");
  for (const GroupChange &group : comparison.groups) {
    Json row = {{"thread", runs.names.group_text(group.group)},
                {"process", runs.names.text(Names::parts(group.group).first)},
                {"a_threads", group.a_threads},
                {"b_threads", group.b_threads}};
    add_change(row, group.life);
    row["causes"] = json_of(group.causes, runs.names);
    out.element(row);
  }
  out.end_array();
  out.member("only_in_a", names_of(comparison.only_a, runs.names));
  out.member("only_in_b", names_of(comparison.only_b, runs.names));
  Json checked = Json::array();
  for (const GateResult &gate : gates)
    checked.push_back({{"gate", gate.text},
                       {"a_ns", gate.a},
                       {"b_ns", gate.b},
                       {"passed", gate.passed},
                       {"why", text_or_null(gate.why)}});
  out.member("gates", checked);
  out.end();
}

} // namespace ovnitrace
