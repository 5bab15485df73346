// SPDX-License-Identifier: BSD-2-Clause
// build/ovnitrace-emu: the commands that only read traces, built without libbpf.
#include "emulator/cli/commands.h"
#include "emulator/cli/help_formatter.h"
#include "emulator/cli/run.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <memory>

int main(int argc, char **argv) {
  CLI::App app("Reads traces of ovnitrace: all but the recording, for machines without libbpf",
               "ovnitrace-emu");
  app.set_version_flag("--version", "ovnitrace-emu " OVNITRACE_VERSION,
                       "Print the version and exit");
  app.formatter(std::make_shared<ovnitrace::HelpFormatter>());
  app.require_subcommand(1);
  for (const auto add : ovnitrace::kTraceCommands)
    add(app);
  return ovnitrace::run_cli(app, argc, argv);
}
