// SPDX-License-Identifier: BSD-2-Clause
// build/ovnitrace-emu: the commands that only read traces, built without libbpf.
#include "emulator/cli/commands.h"
#include "emulator/cli/run.h"

int main(int argc, char **argv) {
  const ovnitrace::RootApp app(
      "Reads traces of ovnitrace: all but the recording, for machines without libbpf",
      "ovnitrace-emu");
  app.add_version("ovnitrace-emu " OVNITRACE_VERSION);
  app.usage();
  app.require_subcommand(1, 1);
  for (const auto add : ovnitrace::kTraceCommands)
    add(app);
  return ovnitrace::run_cli(app, argc, argv);
}
