// SPDX-License-Identifier: BSD-2-Clause
// What `make install` puts where.
#include "tests/e2e/support/e2e.h"
#include "tests/unit/support/project_file.h"

#include <unistd.h>

namespace ovnitrace::test {

class Install : public CaptureTest {};

TEST_F(Install, APrefixMayHaveBlanks) {
  const std::string source = project_path("").string();
  if (!exists(source + "/Makefile"))
    GTEST_SKIP() << "the source is not here";
  const std::string prefix = path("a prefix");
  const Outcome made = run({.argv = {"make", "-s", "-C", source, "install", "PREFIX=" + prefix}});
  ASSERT_EQ(made.status(), 0) << made.err;
  EXPECT_EQ(access((prefix + "/bin/ovnitrace").c_str(), X_OK), 0);
  const std::string service = read_text(prefix + "/lib/systemd/system/ovnitrace.service");
  EXPECT_NE(service.find("\nExecStart=\"" + prefix + "/bin/ovnitrace\" record "), service.npos)
      << service;
  const Outcome page = run({.argv = {"man", "-M", prefix + "/share/man", "-w", "ovnitrace-why"}});
  EXPECT_EQ(page.out, prefix + "/share/man/man1/ovnitrace-why.1\n") << page.err;
}

} // namespace ovnitrace::test
