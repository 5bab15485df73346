// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/save_command.h"

#include "emulator/base/messages.h"
#include "emulator/base/spawn.h"
#include "emulator/base/unique_fd.h"

#include <fcntl.h>
#include <sys/wait.h>

#include <cstring>
#include <vector>

namespace ovnitrace {

/// Looks whether the command has ended, and whether it has failed.
void SaveCommand::look() {
  int status = 0;
  if (running_ <= 0 || waitpid(running_, &status, WNOHANG) == 0)
    return;
  running_ = -1;
  if (status)
    print("warning: the --on-save command for {} failed: {}", trace_,
          WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                              : fmt::format("exit status {}", WEXITSTATUS(status)));
}

void SaveCommand::start(const std::string &trace, const std::string &cause) {
  if (command_.empty())
    return;
  look();
  if (running_ > 0) {
    print("warning: --on-save: the command still runs, and is not started for {}", trace);
    return;
  }
  trace_ = trace;
  std::vector<std::string> environment = own_environment();
  std::erase_if(environment, [](const std::string &text) {
    return text.starts_with("OVNITRACE_TRACE=") || text.starts_with("OVNITRACE_CAUSE=");
  });
  environment.push_back("OVNITRACE_TRACE=" + trace);
  environment.push_back("OVNITRACE_CAUSE=" + cause);
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (const int error =
          spawn({"/bin/sh", "-c", command_}, environment, {.in = nothing.get()}, running_))
    print("warning: --on-save: cannot start /bin/sh: {}", std::strerror(error));
}

} // namespace ovnitrace
