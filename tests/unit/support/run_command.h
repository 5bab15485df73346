// SPDX-License-Identifier: BSD-2-Clause
// Runs commands of ovnitrace in this process.
#pragma once

#include "emulator/cli/run.h"
#include "user/cli/commands.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace::test {

/// What a command prints, and its exit status.
struct Said {
  std::string out, err;
  int status = 0;
};

/// Runs a command line of ovnitrace in this process. `program`: what is after --.
inline Said run(std::vector<std::string> words, const std::vector<std::string> &program = {}) {
  words.insert(words.begin(), "ovnitrace");
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  const RootApp app("", "ovnitrace");
  add_commands(app, program);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Said said;
  said.status = run_cli(app, int(argv.size()), argv.data());
  said.out = testing::internal::GetCapturedStdout();
  said.err = testing::internal::GetCapturedStderr();
  return said;
}

} // namespace ovnitrace::test
