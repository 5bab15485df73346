// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/cut_options.h"

#include "emulator/cli/time_option.h"

namespace ovnitrace {

namespace {

void add_time(CLI::App &command, const std::string &name, uint64_t &ns, const std::string &what) {
  const auto set = [name, &ns](const std::string &text) {
    if (!parse_time(text, ns))
      throw CLI::ValidationError(name, "'" + text +
                                           "' is no time: write 1.5s, 200ms, 30us or 100ns, "
                                           "counted from the start of the trace");
  };
  command.add_option_function<std::string>(name, set, what)->type_name("TIME")->group(kCutGroup);
}

} // namespace

void add_cut_options(CLI::App &command, Cut &cut, const std::string &end) {
  add_time(command, "--from", cut.from,
           "From this time on: 1.5s, 200ms, 30us or 100ns from the start of the trace; a number "
           "alone is in seconds");
  add_time(command, end, cut.to, "Up to this time");
  add_cut_list(command, "--pid", "PID", cut.pids,
               "Only threads of these processes; a list as 12,34");
  add_cut_list(command, "--tid", "TID", cut.tids, "Only these threads; a list as 12,34");
  add_cut_list(command, "--comm", "NAME", cut.comms,
               "Only threads of these names; * and ? as in a shell");
}

} // namespace ovnitrace
