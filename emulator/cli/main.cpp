// SPDX-License-Identifier: BSD-2-Clause
// build/ovnitrace-emu: the commands that only read traces, built without libbpf.
#include "emulator/cli/commands.h"
#include "emulator/cli/run.h"

#include <cstring>
#include <string>
#include <vector>

int main(int argc, char **argv) {
  std::vector<std::string> after; // only diff gives -- a meaning
  if (argc > 1 && std::strcmp(argv[1], "diff") == 0)
    after = ovnitrace::take_after_dashes(argc, argv);
  const ovnitrace::RootApp app(
      "Reads traces of ovnitrace: all but the recording, for machines without libbpf",
      "ovnitrace-emu");
  app.add_version("ovnitrace-emu " OVNITRACE_VERSION);
  app.usage();
  app.require_subcommand(1, 1);
  for (const auto add : ovnitrace::kTraceCommands)
    add(app);
  ovnitrace::add_diff(app, after);
  return ovnitrace::run_cli(app, argc, argv);
}
