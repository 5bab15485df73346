// SPDX-License-Identifier: BSD-2-Clause
// The ovnitrace command.
#include "emulator/base/messages.h"
#include "emulator/cli/run.h"
#include "user/cli/commands.h"
#include "user/launch/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

/// Opens /dev/null in place of the descriptors 0, 1 and 2 that are closed. Otherwise what we print
/// could land in a file of ours that got the number. The traced program finds the descriptors
/// closed, as they were: ours are closed on exec.
void open_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
    if (fcntl(stream, F_GETFD) < 0 &&
        open("/dev/null", O_RDWR | O_CLOEXEC) < 0) // takes the lowest number
      _exit(1);                                    // there is nowhere to say why
}

constexpr const char *kFooter = R"(Examples:
  sudo ovnitrace -- ./app --its-options     trace a program, then: wxparaver app-…/thread.prv
  sudo ovnitrace -o run1 -- mpirun -n 4 ./app
  sudo ovnitrace -a -d 5                    the whole machine for five seconds
  sudo ovnitrace -a -- ./app                the whole machine while the program runs
  sudo ovnitrace -p 1234,nginx              running processes and their children, until Ctrl-C
  sudo ovnitrace stat -- ./app              only a summary, no trace
  ovnitrace why run1                        where the time went, who is to blame, what to try
  ovnitrace info run1                       which threads ran, waited, were preempted, how long
  ovnitrace report run1 --open              the timeline of run1 in the browser
  ovnitrace diff run1 run2                  what made the second run slower

The program runs as the user who called sudo. ovnitrace forwards HUP, INT, QUIT, TERM, ALRM, USR1
and USR2 to it. Without a program, these signals end the capture. With --buffer last, USR2 is never
forwarded: it saves what is in memory, and the capture goes on.

The exit status is that of the program: 128 + N if signal N killed it, 127 if it was not found, 126
if it cannot be executed. It is 124 if --early-out ended the program, 1 if ovnitrace failed, and 2
for wrong usage. If events are missing in the trace, the last line says so. In a capture without a
program, the exit status is then 3.

sudo resets the environment: PATH, OMP_NUM_THREADS, LD_LIBRARY_PATH, virtual environments. To keep
it:
  sudo -E ovnitrace -- ./app                keep what the rules of sudo allow
  sudo env "PATH=$PATH" ovnitrace -- app
  sudo ovnitrace -- env OMP_NUM_THREADS=1 "LD_LIBRARY_PATH=$LD_LIBRARY_PATH" ./app
Or do not use sudo: give ovnitrace file capabilities (docs/usage.md).)";

} // namespace

int main(int argc, char **argv) {
  ovnitrace::keep_removed_variables(argc, argv);
  open_standard_streams();
  const char *log = std::getenv("OVNITRACE_LOG");
  ovnitrace::set_debug_log(log && std::strcmp(log, "debug") == 0);
  std::vector<std::string> command = ovnitrace::take_after_dashes(argc, argv);
  const ovnitrace::RootApp app(
      "Show what the Linux scheduler did to your threads, as a Paraver timeline.\n"
      "With eBPF, ovnitrace records each time a thread runs, waits, blocks or is woken. Then it\n"
      "writes the files for Paraver.\n",
      "ovnitrace");
  app.add_version("ovnitrace " OVNITRACE_VERSION);
  app.usage();
  app.require_subcommand(0, 1);
  ovnitrace::add_commands(app, command);
  app.usage(
      "ovnitrace [OPTIONS] -- PROGRAM [ARGUMENTS]\n"
      "       ovnitrace [OPTIONS] -a [-- PROGRAM]\n"
      "       ovnitrace [OPTIONS] -p PID\n"
      "       ovnitrace [OPTIONS] FILTER    threads of the whole machine that pass the filter\n"
      "       ovnitrace SUBCOMMAND [OPTIONS] ...");
  app.footer(kFooter);
  if (!command.empty()) // what is stray is not the program
    return ovnitrace::run_cli(app, argc, argv);
  return ovnitrace::run_cli(app, argc, argv, ovnitrace::kProgramCommands);
}
