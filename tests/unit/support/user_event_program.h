// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "tests/unit/support/project_file.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace ovnitrace::test {

/// Compiles a program that logs user events. Returns its path.
inline std::string user_event_program(const TempDir &dir, const std::string &code) {
  std::string app = dir / "app";
  std::ofstream(app + ".c") << "#include <ovnitrace/user_event.h>\n" << code;
  const std::string build =
      "gcc -O1 -I" + project_path("include").string() + " -o " + app + " " + app + ".c";
  EXPECT_EQ(std::system(build.c_str()), 0) << build;
  return app;
}

} // namespace ovnitrace::test
