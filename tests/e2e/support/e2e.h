// SPDX-License-Identifier: BSD-2-Clause
// What the end-to-end tests stand on: the command as it was built, the programs to trace, a
// directory for each test.
#pragma once

#include "tests/e2e/support/process.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace::test {

/// A copy of build/ovnitrace or the library beside it, or of a program of build/tests/programs,
/// that every user can execute, wherever the build lies.
std::string installed(const std::string &name);
inline std::string ovnitrace() {
  return installed("ovnitrace");
}

/// `ovnitrace record -o TRACE OPTIONS… -- PROGRAM…`
Command record_command(const std::string &trace, const std::vector<std::string> &program,
                       const std::vector<std::string> &options = {});

/// For Command::in_child: nobody, with no other group and no capability.
void become_nobody();
uid_t nobody_uid();
gid_t nobody_gid();

bool exists(const std::string &path); ///< whatever it is, a dangling link too
std::string read_text(const std::string &path);
void write_text(const std::string &path, const std::string &text);
std::vector<std::string> names_in(const std::string &directory);

/// A test that captures; no program that it has started outlives it. Skipped, with the reason,
/// where we are not root.
class CaptureTest : public testing::Test {
protected:
  CaptureTest();
  ~CaptureTest() override;
  void SetUp() override;

  /// The path of something in the directory of this test, which everybody may search.
  std::string path(const std::string &name) const { return directory_ + "/" + name; }
  const std::string &directory() const { return directory_; }
  /// Runs `ovnitrace record` to the end, expects its status to be `status`.
  Outcome record(const std::vector<std::string> &program,
                 const std::vector<std::string> &options = {}, int status = 0);
  std::string trace() const { return path("trace"); } ///< where record() writes

private:
  std::string directory_;
};

} // namespace ovnitrace::test
