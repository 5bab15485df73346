// SPDX-License-Identifier: BSD-2-Clause
// Gives end-to-end tests the command as it was built, the programs to trace, and a directory for
// each test.
#pragma once

#include "tests/e2e/support/process.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace::test {

/// Returns the path of a copy that every user can execute: of build/ovnitrace, of the library
/// beside it, or of a program of build/tests/programs.
std::string installed(const std::string &name);
inline std::string ovnitrace() {
  return installed("ovnitrace");
}

/// `ovnitrace record -o TRACE OPTIONS… -- PROGRAM…`
Command record_command(const std::string &trace, const std::vector<std::string> &program,
                       const std::vector<std::string> &options = {});

/// Becomes nobody, with no other group and no capability. For Command::in_child.
void become_nobody();
uid_t nobody_uid();
gid_t nobody_gid();

bool exists(const std::string &path); ///< whatever it is, a dangling link too
std::string read_text(const std::string &path);
void write_text(const std::string &path, const std::string &text);
std::vector<std::string> names_in(const std::string &directory);

/// A test that captures. It is skipped if it does not run as root. Programs that it starts are
/// killed at its end.
class CaptureTest : public testing::Test {
protected:
  CaptureTest();
  ~CaptureTest() override;
  void SetUp() override;

  /// Returns a path in the directory of this test, which every user may search.
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
