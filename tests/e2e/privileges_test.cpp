// SPDX-License-Identifier: BSD-2-Clause
// Who may capture, and that reading a trace needs nothing.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <sys/stat.h>
#include <unistd.h>

namespace ovnitrace::test {

class Privileges : public CaptureTest {};

TEST_F(Privileges, AreAskedForClearly) {
  for (const char *command : {"record", ""}) {
    std::vector<std::string> argv = {ovnitrace()};
    if (*command)
      argv.push_back(command);
    argv.insert(argv.end(), {"-o", "/tmp/never", "--", "true"});
    const Outcome outcome = run({.argv = argv, .in_child = become_nobody});
    EXPECT_EQ(outcome.status(), 1);
    EXPECT_NE(outcome.err.find("sudo"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("CAP_BPF"), std::string::npos) << outcome.err;
    EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome.err;
    EXPECT_FALSE(exists("/tmp/never"));
  }
}

TEST_F(Privileges, AreNotNeededToRead) {
  record({installed("many_threads"), "10"});
  mkdir(path("prv").c_str(), 0755);
  ASSERT_EQ(chown(path("prv").c_str(), nobody_uid(), nobody_gid()), 0);
  const std::vector<std::vector<std::string>> commands = {
      {ovnitrace(), "dump", trace()},
      {ovnitrace(), "info", trace()},
      {ovnitrace(), "convert", trace(), "-o", path("prv")}};
  for (const auto &argv : commands) {
    const Outcome outcome = run({.argv = argv, .in_child = become_nobody});
    EXPECT_EQ(outcome.status(), 0) << argv[1] << ": " << outcome.err;
  }
  EXPECT_TRUE(exists(path("prv/thread.prv")));
}

// `setcap cap_bpf,cap_perfmon+ep ovnitrace`, as its message advises: no root at all.
TEST_F(Privileges, OfTwoCapabilitiesSuffice) {
  const std::string command = path("ovnitrace");
  ASSERT_EQ(run({.argv = {"cp", ovnitrace(), command}}).status(), 0);
  const Outcome given = run({.argv = {"setcap", "cap_bpf,cap_perfmon+ep", command},
                             .env = {{"PATH", "/usr/sbin:/sbin:/usr/bin:/bin"}}});
  if (given.status() != 0)
    GTEST_SKIP() << "setcap (libcap2-bin) is missing or the file system has no capabilities";
  mkdir(path("place").c_str(), 0755);
  ASSERT_EQ(chown(path("place").c_str(), nobody_uid(), nobody_gid()), 0);
  for (const char *families : {"sched", "all"}) {
    const Outcome outcome =
        run({.argv = {command, "record", "-f", "-o", path("place/trace"), "--filter", families,
                      "--", installed("many_threads"), "10"},
             .in_child = become_nobody});
    ASSERT_EQ(outcome.status(), 0) << outcome.err;
    EXPECT_EQ(read_trace_json(path("place/trace")).threads.size(), 11u);
  }
}

// The program must not get the capabilities that ovnitrace has by its file.
TEST_F(Privileges, AreNotInheritedByTheProgram) {
  const std::string command = path("ovnitrace");
  ASSERT_EQ(run({.argv = {"cp", ovnitrace(), command}}).status(), 0);
  if (run({.argv = {"setcap", "cap_bpf,cap_perfmon+ep", command},
           .env = {{"PATH", "/usr/sbin:/sbin:/usr/bin:/bin"}}})
          .status() != 0)
    GTEST_SKIP() << "setcap (libcap2-bin) is missing or the file system has no capabilities";
  mkdir(path("place").c_str(), 0755);
  ASSERT_EQ(chown(path("place").c_str(), nobody_uid(), nobody_gid()), 0);
  const Outcome outcome = run(
      {.argv = {command, "record", "-q", "-o", path("place/trace"), "--", installed("show_env")},
       .in_child = become_nobody});
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_NE(outcome.out.find("CapEff=0000000000000000"), std::string::npos) << outcome.out;
}

} // namespace ovnitrace::test
