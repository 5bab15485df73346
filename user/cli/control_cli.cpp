// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/commands.h"

#include "emulator/base/comma_list.h"
#include "emulator/base/error.h"
#include "emulator/base/printable.h"
#include "emulator/cli/run.h"
#include "emulator/input/trace_info.h"
#include "user/control/arming.h"
#include "user/control/ctl_commands.h"
#include "user/control/ctl_socket.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>

namespace ovnitrace {

namespace {

/// How many places of the program and its libraries each alarm has. Whether each has one.
bool print_places(const control::Plan &plan, const std::string &program) {
  control::Arming arming(plan, nullptr, [](const std::string &line) { fmt::print("{}\n", line); });
  arming.look_at_program(program, {});
  arming.refuse_indirect();
  bool all = true;
  for (size_t a = 0; a < plan.alarms.size(); a++) {
    const control::Alarm &alarm = *plan.alarms[a];
    if (!alarm.type || alarm.type->source == control::Source::loader ||
        alarm.type->source == control::Source::stepping)
      continue;
    const std::string &chain = plan.chains[plan.chain_of[a]].text;
    all &= arming.found()[a] > 0;
    fmt::print("{}: {} {} in {} and its libraries\n",
               printable_line(chain.substr(alarm.span.at, alarm.span.length)), arming.found()[a],
               arming.found()[a] == 1 ? "place" : "places", printable_line(program));
  }
  arming.report_missing("it is armed when something that has it is loaded");
  return all;
}

/// What can be known of chains without running anything.
void check(const std::vector<std::string> &chains, const std::vector<std::string> &command) {
  const control::Plan plan = control::make_plan(chains);
  control::check_groups(plan);
  for (size_t n = 0; n < plan.chains.size(); n++)
    fmt::print("{}", control::in_words(plan, n));
  if (!plan.has_start())
    fmt::print("no alarm starts a region: it starts at once\n");
  const bool all = command.empty() || print_places(plan, command[0]);
  std::fflush(stdout);
  if (!all)
    end_command(kExitFailure);
}

} // namespace

void add_control(App app, const std::vector<std::string> &command) {
  const auto chains = std::make_shared<std::vector<std::string>>();
  const App control =
      add_unprivileged(app, "control", "Print what chains of --control mean and would probe");
  control.usage("ovnitrace control --check CHAIN [--check CHAIN]... [-- PROGRAM]");
  control
      .add_option("--check", *chains, "Explain this chain. A program after -- is examined, not run")
      .type_name("CHAIN")
      .required();
  std::string types;
  for (const control::AlarmType &type : control::kAlarmTypes)
    types +=
        fmt::format("  {:<14} {:<8} {:<8} {}\n", type.name, type.example, type.cost, type.fires);
  control.footer("\nThe types of alarms. Beside each: an example of a value, the cost of a hit "
                 "(of icount: of each\n"
                 "instruction), and when the alarm hits:\n" +
                 types +
                 "\nExample:\n  ovnitrace control --check "
                 "start:enter_func:solve,stop:exit_func:solve,repeat -- ./app");
  control.callback([chains, &command] { check(*chains, command); });
}

void add_ctl(App app) {
  struct Arguments {
    std::string where, command;
    std::vector<std::string> words;
    bool json = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  const App ctl = add_unprivileged(
      app, "ctl", "Control a capture that runs: its state, marks, saves, pauses, its end");
  std::string names, help;
  for (const control::CtlCommand &command : control::kCtlCommands) {
    names += (names.empty() ? "" : ",") + std::string(command.name);
    help += fmt::format("  {:<18} {}\n", fmt::format("{} {}", command.name, command.argument),
                        command.does);
  }
  ctl.add_option("TRACE", arguments->where,
                 "The directory of the capture, or the number of a process: the one that it "
                 "traces, or ovnitrace itself")
      .required();
  ctl.add_option("COMMAND", arguments->command, "What to do, as listed below")
      .required()
      .one_of(comma_list(names));
  ctl.add_option("WORDS", arguments->words, "The text of a mark");
  ctl.add_flag("--json", arguments->json, "With status: print JSON");
  ctl.footer("\nCommands:\n" + help +
             "\nOnly root and the owner of the trace may control it.\n"
             "\nExample:\n  ovnitrace ctl run1 mark 'second phase'");
  ctl.callback([arguments] {
    const bool is_mark = arguments->command == "mark";
    if (is_mark == arguments->words.empty())
      throw Error(is_mark ? "ctl mark: give the text of the mark"
                          : fmt::format("ctl {}: takes no text", arguments->command),
                  kExitUsage);
    if (arguments->json && arguments->command != "status")
      throw Error("ctl: --json goes with status", kExitUsage);
    const std::string text = printable_line(fmt::format("{}", fmt::join(arguments->words, " ")));
    if (text.size() > kLongestMark)
      throw Error(fmt::format("ctl mark: the text has {} bytes; give {} at most", text.size(),
                              kLongestMark),
                  kExitUsage);
    std::string line = arguments->command;
    if (is_mark)
      line += " " + text;
    if (arguments->json)
      line += " --json";
    fmt::print("{}", control::ask(arguments->where, line));
    std::fflush(stdout);
  });
}

} // namespace ovnitrace
