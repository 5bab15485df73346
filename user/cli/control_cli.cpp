// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/commands.h"

#include "emulator/base/comma_list.h"
#include "emulator/base/error.h"
#include "emulator/base/json_stream.h"
#include "emulator/base/printable.h"
#include "emulator/cli/run.h"
#include "emulator/cli/shared_options.h"
#include "emulator/cli/stdout_writer.h"
#include "emulator/input/trace_info.h"
#include "user/control/arming.h"
#include "user/control/ctl_commands.h"
#include "user/control/ctl_socket.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace ovnitrace {

namespace {

using Json = nlohmann::ordered_json;

/// What is known of chains without running anything.
struct Checked {
  control::Plan plan;
  std::string program;             ///< empty: none
  std::vector<std::string> notes;  ///< about the program, before anything is counted
  std::vector<uint64_t> found;     ///< places of each alarm of `plan`, if there is a program
  std::vector<std::string> advice; ///< about alarms without a place
};

/// Returns whether the alarm hits at places of the program.
bool has_places(const control::Alarm &alarm) {
  return alarm.type && alarm.type->source != control::Source::loader &&
         alarm.type->source != control::Source::stepping;
}

bool is_missing(const Checked &checked, size_t alarm) {
  return !checked.program.empty() && has_places(*checked.plan.alarms[alarm]) &&
         checked.found[alarm] == 0;
}

void look_at_program(Checked &checked) {
  std::vector<std::string> *said = &checked.notes;
  control::Arming arming(checked.plan, nullptr,
                         [&said](const std::string &line) { said->push_back(line); });
  arming.look_at_program(checked.program, {});
  arming.refuse_impossible();
  checked.found = arming.found();
  said = &checked.advice;
  arming.report_missing("it is armed when something that has it is loaded");
}

Json json_of(const Checked &checked) {
  const control::Plan &plan = checked.plan;
  Json root = {
      {"schema", kJsonSchema}, {"starts_at_once", !plan.has_start()}, {"chains", Json::array()}};
  for (const control::Chain &chain : plan.chains)
    root["chains"].push_back({{"text", printable_line(chain.text)},
                              {"name", printable_line(chain.name)},
                              {"waits_for", printable_line(chain.waitfor)},
                              {"repeat", chain.repeat},
                              {"alarms", Json::array()}});
  for (size_t a = 0; a < plan.alarms.size(); a++) {
    const control::Alarm &alarm = *plan.alarms[a];
    const bool counted = !checked.program.empty() && has_places(alarm);
    root["chains"][plan.chain_of[a]]["alarms"].push_back(
        {{"text", control::text_of(plan, a)},
         {"means", control::in_words(alarm)},
         {"places", counted ? Json(checked.found[a]) : Json()}});
  }
  root["program"] = checked.program.empty() ? Json() : Json(printable_line(checked.program));
  root["notes"] = checked.notes;
  for (const std::string &line : checked.advice)
    root["notes"].push_back(line);
  return root;
}

std::string text_of(const Checked &checked) {
  const control::Plan &plan = checked.plan;
  std::string text;
  for (size_t n = 0; n < plan.chains.size(); n++)
    text += control::in_words(plan, n);
  if (!plan.has_start())
    text += "no alarm starts a region: it starts at once\n";
  for (const std::string &line : checked.notes)
    text += line + '\n';
  for (size_t a = 0; !checked.program.empty() && a < plan.alarms.size(); a++)
    if (has_places(*plan.alarms[a]))
      text += fmt::format("{}: {} {} in {} and its libraries\n", control::text_of(plan, a),
                          checked.found[a], checked.found[a] == 1 ? "place" : "places",
                          printable_line(checked.program));
  for (const std::string &line : checked.advice)
    text += line + '\n';
  return text;
}

/// Prints what can be known of chains without running anything.
int check(const std::vector<std::string> &chains, const std::vector<std::string> &command,
          bool json) {
  Checked checked{.plan = control::make_plan(chains),
                  .program = command.empty() ? "" : command[0],
                  .notes = {},
                  .found = {},
                  .advice = {}};
  control::check_groups(checked.plan);
  if (!checked.program.empty())
    look_at_program(checked);
  StdoutWriter out;
  out.write(json ? json_of(checked).dump(2, ' ', false, Json::error_handler_t::replace) + '\n'
                 : text_of(checked));
  out.flush();
  for (size_t a = 0; a < checked.plan.alarms.size(); a++)
    if (is_missing(checked, a))
      return kExitFailure;
  return 0;
}

} // namespace

void add_control(App app, const std::vector<std::string> &command) {
  const auto chains = std::make_shared<std::vector<std::string>>();
  const App control = add_unprivileged(
      app, "control",
      "Check chains of --control before recording: print what they mean, and where they set "
      "probes");
  control.usage("ovnitrace control --check CHAIN [--check CHAIN]... [-- PROGRAM]");
  control
      .add_option("--check", *chains, "Explain this chain. A program after -- is examined, not run")
      .type_name("CHAIN")
      .required();
  const auto json = std::make_shared<bool>(false);
  control.add_flag(kJson, *json, "Print an object of JSON");
  std::string types;
  for (const control::AlarmType &type : control::kAlarmTypes)
    types +=
        fmt::format("  {:<14} {:<8} {:<8} {}\n", type.name, type.example, type.cost, type.fires);
  control.footer(
      "\nThe types of alarms. The columns are the type, an example of a value, what a hit costs, "
      "and what\na hit is. With icount, each instruction has this cost.\n" +
      types +
      "\nISA extensions and categories have the names of XED, Intel's instruction decoder, or of "
      "Zydis.\n"
      "XED's manual lists its names under xed_extension_enum_t and xed_category_enum_t.\n"
      "docs/control.md explains chains.\n"
      "\nExample:\n  ovnitrace control --check "
      "start:enter_func:solve,stop:exit_func:solve,repeat -- ./app");
  control.callback([chains, json, &command] { return check(*chains, command, *json); });
}

void add_ctl(App app) {
  struct ControlArguments {
    std::string where, command;
    std::vector<std::string> words;
    bool json = false;
  };
  const auto arguments = std::make_shared<ControlArguments>();
  const App ctl = add_unprivileged(
      app, "ctl", "Control a running capture: print its status, mark, save, pause or stop it");
  std::string names, help;
  for (const control::CtlCommand &command : control::kCtlCommands) {
    names += (names.empty() ? "" : ",") + std::string(command.name);
    help += fmt::format("  {:<18} {}\n", fmt::format("{} {}", command.name, command.argument),
                        command.does);
  }
  ctl.add_option("TRACE", arguments->where,
                 "The directory of the capture, or a PID: of the traced process or of ovnitrace")
      .required();
  ctl.add_option("COMMAND", arguments->command, "What to do, as listed below")
      .required()
      .one_of(comma_list(names));
  ctl.add_option("WORDS", arguments->words, "The text of a mark");
  ctl.add_flag("--json", arguments->json, "With status: print JSON");
  ctl.footer("\nCommands:\n" + help +
             "\nOnly root and the owner of the trace may control the capture.\n"
             "\nExample:\n  ovnitrace ctl run1 mark 'second phase'");
  ctl.callback([arguments] {
    const bool is_mark = arguments->command == "mark";
    if (is_mark == arguments->words.empty())
      throw UsageError(is_mark ? "ctl mark: give the text of the mark"
                               : fmt::format("ctl {}: takes no text", arguments->command));
    if (arguments->json && arguments->command != "status")
      throw UsageError("ctl: --json needs status");
    const std::string text = printable_line(fmt::format("{}", fmt::join(arguments->words, " ")));
    if (text.size() > kLongestMark)
      throw UsageError("ctl mark: the text has {} bytes; give {} at most", text.size(),
                       kLongestMark);
    std::string line = arguments->command;
    if (is_mark)
      line += " " + text;
    if (arguments->json)
      line += " --json";
    const std::string answer = control::ask(arguments->where, line);
    if (std::fwrite(answer.data(), 1, answer.size(), stdout) != answer.size() ||
        std::fflush(stdout) != 0)
      throw Error(std::string("cannot write to standard output: ") + std::strerror(errno));
    return 0;
  });
}

} // namespace ovnitrace
