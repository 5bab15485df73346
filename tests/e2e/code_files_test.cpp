// SPDX-License-Identifier: BSD-2-Clause
// --stacks: functions have the names of the file that ran, wherever it was and whatever became of
// it.
#include "tests/e2e/support/e2e.h"

#include <cstdlib>

namespace ovnitrace::test {

namespace {

constexpr char kSource[] = R"(
#include <time.h>
extern "C" __attribute__((noinline)) void FUNCTION() {
  timespec time = {0, 1000000};
  nanosleep(&time, nullptr);
  asm volatile("");
}
int main() {
  for (int n = 0; n < 300; n++)
    FUNCTION();
}
)";

} // namespace

class CodeFileCaptures : public CaptureTest {
protected:
  std::string compile(const std::string &name, const std::string &function,
                      const std::string &flags = "") {
    write_text(path("code.cpp"), kSource);
    shell("g++ -g -O2 -Wl,--build-id " + flags + " -DFUNCTION=" + function + " -o " + name +
          " code.cpp");
    return path(name);
  }
  void shell(const std::string &command) {
    const Outcome done = run({.argv = {"sh", "-c", "cd '" + directory() + "' && " + command}});
    ASSERT_EQ(done.status(), 0) << command << ": " << done.err;
  }
  bool shows(const std::string &function) {
    const Outcome folded =
        run({.argv = {ovnitrace(), "export", "--to", "folded", trace(), "-o", "-"}});
    return folded.out.find(";main;" + function + ";") != std::string::npos;
  }
  Outcome record_in_shell(const std::string &command) {
    return record({"sh", "-c", "cd '" + directory() + "' && " + command}, {"--stacks"});
  }
};

/// The new file may even have the inode of the old one.
TEST_F(CodeFileCaptures, NamesComeFromTheFileThatRanNotFromItsReplacement) {
  compile("first", "right");
  compile("second", "wrong");
  shell("cp first app");
  record_in_shell("./app; rm app; cp second app");
  EXPECT_FALSE(shows("wrong"));
}

#if defined(__x86_64__)
TEST_F(CodeFileCaptures, NamesAreKnownAfterTheFileWasDeleted) {
  compile("app", "right");
  record_in_shell("./app & sleep 0.15; rm app; wait");
  EXPECT_TRUE(shows("right"));
}

TEST_F(CodeFileCaptures, AnOverwrittenFileIsReported) {
  compile("first", "wrong");
  compile("app", "right");
  const Outcome recorded = record_in_shell("./app; cat first > app");
  EXPECT_FALSE(shows("wrong"));
  EXPECT_NE(recorded.err.find("/app was changed or replaced after a process mapped it"),
            std::string::npos)
      << recorded.err;
}

/// The debug data is in the container, too.
TEST_F(CodeFileCaptures, NamesAreFoundInAContainer) {
  const std::string program = compile("app", "right", "-static");
  shell("objcopy --only-keep-debug app app.debug && strip -s app && mkdir -p root/usr/lib/debug");
  shell("id=$(readelf -n app | sed -n 's/.*Build ID: //p') && "
        "folder=root/usr/lib/debug/.build-id/$(printf %.2s $id) && mkdir -p $folder && "
        "mv app.debug $folder/${id#??}.debug && mv app root/");
  record_in_shell("exec unshare -m chroot root /app");
  EXPECT_TRUE(shows("right"));
}
#endif

/// A program in place of debuginfod-find says where the data is.
TEST_F(CodeFileCaptures, DebugDataIsFetchedOnlyIfThatIsAskedFor) {
  const std::string program = compile("app", "right");
  shell("objcopy --only-keep-debug app app.data && strip -s app && mkdir bin");
  shell("printf '#!/bin/sh\\nreadelf -n app | grep -q \"Build ID: $2\" && echo " +
        path("app.data") + "' > bin/debuginfod-find && chmod +x bin/debuginfod-find");
  const auto record_with = [&](const std::vector<std::string> &options) {
    std::vector<std::string> all = {"--stacks"};
    all.insert(all.end(), options.begin(), options.end());
    Command command = record_command(trace(), {program}, all);
    command.argv.insert(command.argv.begin(),
                        {"env", "-C", directory(), "DEBUGINFOD_URLS=http://localhost:1",
                         "PATH=" + path("bin") + ":" + getenv("PATH")});
    return run(command);
  };
  EXPECT_EQ(record_with({}).status(), 0);
  EXPECT_FALSE(shows("right"));
  EXPECT_EQ(record_with({"--debuginfod", "--force"}).status(), 0);
  EXPECT_TRUE(shows("right"));
}

TEST_F(CodeFileCaptures, FetchingNeedsServersAndStacks) {
  EXPECT_EQ(run(record_command(trace(), {"true"}, {"--debuginfod"})).status(), 2);
  Command command = record_command(trace(), {"true"}, {"--debuginfod", "--stacks"});
  command.argv.insert(command.argv.begin(), {"env", "-u", "DEBUGINFOD_URLS"});
  const Outcome refused = run(command);
  EXPECT_EQ(refused.status(), 2);
  EXPECT_NE(refused.err.find("DEBUGINFOD_URLS"), std::string::npos) << refused.err;
}

} // namespace ovnitrace::test
