// SPDX-License-Identifier: BSD-2-Clause
#include "user/stacks/debuginfod.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "emulator/base/regular_file.h"
#include "emulator/base/spawn.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <utility>
#include <vector>

namespace ovnitrace {

namespace {

/// Returns our environment with the home folder of the current user: sudo may have left another.
std::vector<std::string> user_environment() {
  std::vector<std::string> all;
  const passwd *user = getpwuid(geteuid());
  for (std::string &text : own_environment())
    if (!user || !text.starts_with("HOME="))
      all.push_back(std::move(text));
  if (user)
    all.push_back("HOME=" + std::string(user->pw_dir));
  all.push_back(
      fmt::format("DEBUGINFOD_MAXTIME={}", DebugFetcher::kMostSeconds)); // the first one counts
  return all;
}

} // namespace

void check_debuginfod() {
  const char *urls = std::getenv("DEBUGINFOD_URLS");
  if (!urls || !*urls)
    throw UsageError("--debuginfod: the environment variable DEBUGINFOD_URLS names no server; set "
                     "it, and let sudo keep it: sudo --preserve-env=DEBUGINFOD_URLS ovnitrace …");
}

namespace {

UniqueFd fetch(const std::string &build_id) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return UniqueFd();
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  pid_t child = -1;
  if (spawn({"debuginfod-find", "debuginfo", build_id}, user_environment(),
            {.in = nothing.get(), .out = theirs.get(), .err = nothing.get()}, child) != 0)
    return UniqueFd();
  theirs = UniqueFd();
  std::string path;
  char part[512];
  for (ssize_t got; path.size() < PATH_MAX;) {
    got = read(ours.get(), part, sizeof(part));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    path.append(part, size_t(got));
  }
  ours = UniqueFd(); // one that writes more is not waited for
  int status = 0;
  TEMP_FAILURE_RETRY(waitpid(child, &status, 0));
  path.resize(std::min(path.find('\n'), path.size()));
  struct stat found;
  return status == 0 ? open_absolute(path, found) : UniqueFd();
}

} // namespace

UniqueFd DebugFetcher::operator()(const std::string &build_id) {
  if (spent_ > most_) {
    if (!std::exchange(warned_, true))
      warn_("--debuginfod: the servers took more than two minutes: the rest of the debug data is "
            "not fetched");
    return UniqueFd();
  }
  const uint64_t start = monotonic_ns();
  UniqueFd found = fetch(build_id);
  spent_ += monotonic_ns() - start;
  return found;
}

} // namespace ovnitrace
