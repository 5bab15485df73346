// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/commands.h"

#include "emulator/base/error.h"
#include "emulator/base/printable.h"
#include "emulator/cli/run.h"
#include "user/control/arming.h"
#include "user/control/ctl_socket.h"

#include <fmt/format.h>

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
    std::string where, what;
  };
  const auto arguments = std::make_shared<Arguments>();
  const App ctl = add_unprivileged(
      app, "ctl", "Start and stop by hand the regions of a capture that has --control");
  ctl.add_option("TRACE", arguments->where,
                 "The directory of the capture, or the number of the process that it traces")
      .required();
  ctl.add_option(
         "COMMAND", arguments->what,
         "start or stop: make the alarms start:interactive or stop:interactive hit; status: "
         "print which processes are in a region")
      .required()
      .one_of({"start", "stop", "status"});
  ctl.callback([arguments] {
    fmt::print("{}", control::ask(arguments->where, arguments->what));
    std::fflush(stdout);
  });
}

} // namespace ovnitrace
