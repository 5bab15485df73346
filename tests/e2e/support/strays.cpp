// SPDX-License-Identifier: BSD-2-Clause
#include "tests/e2e/support/strays.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace ovnitrace::test {

namespace {

constexpr const char *kMark = "OVNITRACE_E2E";

/// The mark of this run and no other. It is set before anything is forked.
const std::string &value() {
  static const std::string pid = std::to_string(getpid());
  return pid;
}

bool is_marked(const std::string &pid) {
  std::ifstream file("/proc/" + pid + "/environ", std::ios::binary);
  std::ostringstream text;
  text << '\0' << file.rdbuf();
  return text.str().find('\0' + (kMark + ('=' + value())) + '\0') != std::string::npos;
}

} // namespace

std::vector<pid_t> strays() {
  std::vector<pid_t> found;
  std::error_code gone;
  for (const auto &entry : std::filesystem::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename();
    if (isdigit(name[0]) && is_marked(name))
      found.push_back(pid_t(std::stol(name)));
  }
  return found;
}

void mark_as_ours() {
  setenv(kMark, value().c_str(), 1);
}

void kill_strays() {
  constexpr int kMostTries = 500;
  for (int tries = 0; tries < kMostTries; tries++) {
    const std::vector<pid_t> left = strays();
    if (left.empty())
      return;
    for (pid_t pid : left)
      kill(pid, SIGKILL);
    usleep(10'000);
  }
  ADD_FAILURE() << "programs of this test cannot be killed";
}

} // namespace ovnitrace::test
