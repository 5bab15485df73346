// SPDX-License-Identifier: BSD-2-Clause
// The traced program has the identity, and inherits everything, as it would without ovnitrace.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/terminal.h"
#include "tests/e2e/support/trace.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

namespace fs = std::filesystem;

namespace ovnitrace::test {

namespace {

std::string line_of(const std::string &text, const std::string &key) {
  for (const std::string &line : lines_of(text))
    if (line.starts_with(key))
      return line.substr(key.size());
  return "(none)";
}

std::string thrice(uint32_t id) {
  const std::string text = std::to_string(id);
  return text + "," + text + "," + text;
}

/// The groups of a user in the user database, as show_env prints them.
std::string groups_of(const passwd &user) {
  std::vector<gid_t> groups(1024);
  int count = int(groups.size());
  getgrouplist(user.pw_name, user.pw_gid, groups.data(), &count);
  groups.resize(size_t(count));
  std::sort(groups.begin(), groups.end());
  std::string text;
  for (gid_t group : groups)
    text += (text.empty() ? "" : ",") + std::to_string(group);
  return text;
}

void expect_owned(const std::string &directory, uid_t uid, gid_t gid) {
  struct stat info;
  std::vector<std::string> all = {directory};
  for (const auto &entry : fs::recursive_directory_iterator(directory))
    all.push_back(entry.path());
  EXPECT_GE(all.size(), 3u);
  for (const std::string &path : all) {
    ASSERT_EQ(lstat(path.c_str(), &info), 0) << path;
    EXPECT_EQ(info.st_uid, uid) << path;
    EXPECT_EQ(info.st_gid, gid) << path;
    EXPECT_EQ(info.st_mode & 022, 0u) << path << " can be written by others";
  }
}

} // namespace

class IdentityTest : public CaptureTest {
protected:
  void SetUp() override {
    CaptureTest::SetUp();
    if (IsSkipped())
      return;
    user_ = *getpwnam("nobody");
    // A directory in which that user may create the trace.
    place_ = path("place");
    mkdir(place_.c_str(), 0755);
    ASSERT_EQ(chown(place_.c_str(), user_.pw_uid, user_.pw_gid), 0);
  }
  std::string place_;
  passwd user_;
};

TEST_F(IdentityTest, TheProgramRunsAsTheUserWhoCalledSudo) {
  Command command = record_command(place_ + "/trace", {installed("show_env")});
  command.env = {{"SUDO_UID", std::to_string(user_.pw_uid)},
                 {"SUDO_GID", std::to_string(user_.pw_gid)},
                 {"HOME", "/root"}};
  const Outcome outcome = run(command);
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_EQ(line_of(outcome.out, "uid="), thrice(user_.pw_uid));
  EXPECT_EQ(line_of(outcome.out, "gid="), thrice(user_.pw_gid));
  EXPECT_EQ(line_of(outcome.out, "groups="), groups_of(user_));
  EXPECT_EQ(line_of(outcome.out, "CapEff="), "0000000000000000");
  EXPECT_EQ(line_of(outcome.out, "CapPrm="), "0000000000000000");
  EXPECT_EQ(line_of(outcome.out, "env HOME="), user_.pw_dir);
  EXPECT_EQ(line_of(outcome.out, "env USER="), user_.pw_name);
  EXPECT_EQ(line_of(outcome.out, "env LOGNAME="), user_.pw_name);
  expect_owned(place_ + "/trace", user_.pw_uid, user_.pw_gid);
}

/// The processes that help --control keep their privileges, so that user cannot signal them.
TEST_F(IdentityTest, EndsACaptureWithControlOfTheUserWhoCalledSudo) {
  const std::string chains[] = {"start:enter_func:getppid,repeat", "start:icount:1000"};
  for (size_t n = 0; n < std::size(chains); n++) {
    Command command =
        record_command(place_ + "/trace" + std::to_string(n), {"true"}, {"--control", chains[n]});
    command.env = {{"SUDO_UID", std::to_string(user_.pw_uid)},
                   {"SUDO_GID", std::to_string(user_.pw_gid)}};
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.status(), 0) << chains[n] << '\n' << outcome.err;
  }
}

TEST_F(IdentityTest, ConvertsAsTheUserWhoCalledSudo) {
  Command command{.argv = {ovnitrace(), "-o", place_ + "/trace", "--", "true"}};
  command.env = {{"SUDO_UID", std::to_string(user_.pw_uid)},
                 {"SUDO_GID", std::to_string(user_.pw_gid)}};
  const Outcome outcome = run(command);
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_TRUE(exists(place_ + "/trace/thread.prv"));
  expect_owned(place_ + "/trace", user_.pw_uid, user_.pw_gid);
}

TEST_F(IdentityTest, IsAUidThatNoDatabaseKnows) {
  ASSERT_EQ(chown(place_.c_str(), 54321, 54322), 0);
  Command command = record_command(place_ + "/trace", {installed("show_env")});
  command.env = {{"SUDO_UID", "54321"}, {"SUDO_GID", "54322"}};
  const Outcome outcome = run(command);
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_EQ(line_of(outcome.out, "uid="), thrice(54321));
  EXPECT_EQ(line_of(outcome.out, "gid="), thrice(54322));
  EXPECT_EQ(line_of(outcome.out, "groups="), "54322");
  expect_owned(place_ + "/trace", 54321, 54322);
}

TEST_F(IdentityTest, IsRootWhenSudoWasNotCalled) {
  Command command = record_command(trace(), {installed("show_env")});
  EXPECT_EQ(line_of(run(command).out, "uid="), "0,0,0");
}

// The program must not run as root by mistake.
TEST_F(IdentityTest, IsNobodyIfSudoUidIsGarbage) {
  for (const char *uid : {"12x", "-1", "", "4294967295", "4294967296"}) {
    Command command = record_command(trace(), {"touch", path("ran")});
    command.env = {{"SUDO_UID", uid}, {"SUDO_GID", "100"}};
    const Outcome outcome = run(command);
    EXPECT_NE(outcome.status(), 0) << uid;
    EXPECT_NE(outcome.err.find("SUDO_UID"), std::string::npos) << outcome.err;
    EXPECT_FALSE(exists(path("ran"))) << uid;
  }
}

TEST_F(IdentityTest, IsTheUserOfTheOption) {
  ASSERT_EQ(chown(place_.c_str(), 54321, 54321), 0);
  for (const std::string &name : {std::string("nobody"), std::to_string(user_.pw_uid)}) {
    Command command =
        record_command(place_ + "/trace", {installed("show_env")}, {"-f", "--user", name});
    command.env = {{"SUDO_UID", "54321"}, {"SUDO_GID", "54321"}};
    const Outcome outcome = run(command);
    ASSERT_EQ(outcome.status(), 0) << outcome.err;
    EXPECT_EQ(line_of(outcome.out, "uid="), thrice(user_.pw_uid));
    EXPECT_EQ(line_of(outcome.out, "groups="), groups_of(user_));
    EXPECT_EQ(line_of(outcome.out, "CapPrm="), "0000000000000000");
  }
}

// The trace belongs neither to root, because the caller could not remove it then, nor to the
// program's user, who must not be able to write into the caller's directory.
TEST_F(IdentityTest, TheProgramsUserNeedNotOwnTheTrace) {
  ASSERT_EQ(chown(place_.c_str(), 54321, 54321), 0);
  for (const std::string name : {"root", "nobody"}) {
    Command command{.argv = {ovnitrace(), "-f", "-o", place_ + "/trace", "--user", name, "--",
                             installed("show_env")}};
    command.env = {{"SUDO_UID", "54321"}, {"SUDO_GID", "54321"}};
    const Outcome outcome = run(command);
    ASSERT_EQ(outcome.status(), 0) << name << ": " << outcome.err;
    EXPECT_EQ(line_of(outcome.out, "uid="), thrice(getpwnam(name.c_str())->pw_uid));
    EXPECT_TRUE(exists(place_ + "/trace/cfg"));
    expect_owned(place_ + "/trace", 54321, 54321);
  }
}

TEST_F(IdentityTest, AProgramOfAnotherUserGetsSignals) {
  ASSERT_EQ(chown(place_.c_str(), 54321, 54321), 0);
  for (const std::string name : {"root", "nobody"}) {
    Command command =
        record_command(place_ + "/trace", {installed("take_signals")}, {"-f", "--user", name});
    command.env = {{"SUDO_UID", "54321"}, {"SUDO_GID", "54321"}};
    Process tracer(command);
    ASSERT_TRUE(eventually([&] { return tracer.out() == "ready\n"; }, "the program runs"))
        << tracer.err();
    tracer.signal(SIGTERM);
    eventually([&] { return !tracer.running(); }, "SIGTERM is forwarded");
    run({.argv = {"pkill", "-KILL", "-P", std::to_string(tracer.pid())}}); // if it was not
    EXPECT_EQ(tracer.wait().status(), 6) << name;
  }
}

// Root's shell would execute what the program types into the terminal.
TEST_F(IdentityTest, AProgramOfAnotherUserCannotTypeIntoTheTerminal) {
  const std::vector<std::string> program = {installed("type_into_terminal")};
  Terminal same(record_command(trace(), program).argv);
  EXPECT_EQ(WEXITSTATUS(same.wait()), 0) << same.printed();
  EXPECT_EQ(same.printed().find("TIOCSTI=1\r"), std::string::npos) << same.printed();
  EXPECT_NE(same.printed().find("TIOCSTI="), std::string::npos) << same.printed();

  Terminal other(record_command(trace(), program, {"-f", "--user", "nobody"}).argv);
  EXPECT_EQ(WEXITSTATUS(other.wait()), 0) << other.printed();
  const std::string denied =
      std::to_string(EPERM) + "\r"; // a terminal ends lines by two characters
  for (const std::string request : {"TIOCSTI", "TIOCLINUX", "TIOCSTI-high"})
    EXPECT_NE(other.printed().find(request + "=" + denied), std::string::npos) << other.printed();
#if defined(__x86_64__)
  EXPECT_NE(other.printed().find("TIOCSTI-x32=" + denied), std::string::npos) << other.printed();
  const bool has_32_bit_calls = same.printed().find("TIOCSTI-32=-1") == std::string::npos;
  const std::string answer = has_32_bit_calls ? denied : "-1\r";
  EXPECT_NE(other.printed().find("TIOCSTI-32=" + answer), std::string::npos) << other.printed();
#endif
  EXPECT_NE(other.printed().find("TIOCGWINSZ=0\r"), std::string::npos) << other.printed();
}

// Files are made with the rights of the user, not of root.
TEST_F(IdentityTest, MayNotWriteWhereTheUserMayNot) {
  Command command = record_command(path("trace"), {"true"});
  command.env = {{"SUDO_UID", std::to_string(user_.pw_uid)},
                 {"SUDO_GID", std::to_string(user_.pw_gid)}};
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.status(), 1);
  EXPECT_NE(outcome.err.find("Permission denied"), std::string::npos) << outcome.err;
  EXPECT_FALSE(exists(path("trace")));
}

TEST_F(IdentityTest, TheProgramInheritsTheSameAsUntraced) {
  const std::string file = path("open");
  write_text(file, "a descriptor to inherit");
  Command command = record_command(trace(), {installed("show_env")});
  command.cwd = "/usr";
  command.env = {{"A_VARIABLE", "its value"}, {"PATH", "/usr/bin:/bin"}};
  command.in_child = [&] {
    umask(027);
    if (setpriority(PRIO_PROCESS, 0, 5) != 0)
      _exit(203);
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGUSR1, SIG_IGN);
    ::signal(SIGINT, SIG_IGN);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_SETMASK, &blocked, nullptr);
    const rlimit files = {333, 444};
    setrlimit(RLIMIT_NOFILE, &files);
    dup2(open(file.c_str(), O_RDONLY), 7);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof one, &one);
  };
  const Outcome traced = run(command);
  command.argv = {installed("show_env")};
  const Outcome untraced = run(command);
  ASSERT_EQ(traced.status(), 0) << traced.err;
  ASSERT_EQ(untraced.status(), 0);
  const auto without_group = [](const std::string &text) {
    std::string kept; // whether it leads its group is checked by the test of the terminal
    for (const std::string &line : lines_of(text))
      if (!line.starts_with("group_leader=") && !line.starts_with("fd 3=/proc"))
        kept += line + "\n";
    return kept;
  };
  EXPECT_EQ(without_group(traced.out), without_group(untraced.out));
}

TEST_F(IdentityTest, KeepsARealTimePolicy) {
  Command command = record_command(trace(), {installed("show_env")});
  command.in_child = [] {
    sched_param parameters = {};
    parameters.sched_priority = 3;
    if (sched_setscheduler(0, SCHED_RR, &parameters) != 0)
      _exit(203);
  };
  const Outcome outcome = run(command);
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_EQ(line_of(outcome.out, "policy="), std::to_string(SCHED_RR));
  EXPECT_EQ(line_of(outcome.out, "priority="), "3");
}

TEST_F(IdentityTest, ReadsStandardInputAndWritesBothOutputs) {
  Command command = record_command(trace(), {"sh", "-c", "cat; echo to stderr >&2"}, {"-q"});
  command.input = "what was typed\n";
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.out, "what was typed\n");
  EXPECT_EQ(outcome.err, "to stderr\n");
}

} // namespace ovnitrace::test
