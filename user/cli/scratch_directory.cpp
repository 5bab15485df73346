// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/scratch_directory.h"

#include "emulator/base/error.h"
#include "emulator/base/identity.h"
#include "emulator/base/messages.h"
#include "user/launch/signals.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <system_error>

namespace ovnitrace {

ScratchDirectory::ScratchDirectory(const char *place) {
  const EffectiveIdentity as_owner(calling_user());
  const char *wanted = std::getenv("TMPDIR");
  path_ = std::string(wanted && *wanted ? wanted : place) + "/ovnitrace-XXXXXX";
  if (!mkdtemp(path_.data()))
    throw Error("cannot make a directory for the trace as " + path_ + ": " + std::strerror(errno) +
                "; name another place with TMPDIR");
}

/// Removes the directory on a signal. The signals stay blocked to the end, so the directory is
/// always removed whole.
void ScratchDirectory::remove_on_signal() {
  awaited_ = ending_signals();
  sigaddset(&awaited_, SIGUSR1); // of the destructor
  pthread_sigmask(SIG_BLOCK, &awaited_, nullptr);
  thread_ = std::thread([this] {
    int signal = 0;
    sigwait(&awaited_, &signal);
    if (done_)
      return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    std::signal(signal, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &awaited_, nullptr);
    raise(signal);
  });
}

ScratchDirectory::~ScratchDirectory() {
  if (thread_.joinable()) {
    done_ = true;
    pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
  }
  try {
    const EffectiveIdentity as_owner(calling_user());
    std::filesystem::remove_all(path_);
  } catch (const std::exception &error) {
    print_text(std::string("cannot remove the trace: ") + error.what());
  }
}

} // namespace ovnitrace
