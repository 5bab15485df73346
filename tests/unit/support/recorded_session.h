// SPDX-License-Identifier: BSD-2-Clause
// A whole session of `ovnitrace record` in a child process, and the trace that it writes.
#pragma once

#include "emulator/base/error.h"
#include "emulator/base/unique_fd.h"
#include "emulator/cli/run.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/count_in.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "user/cli/commands.h"
#include "user/control/ctl_socket.h"
#include "user/launch/program.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace ovnitrace::test {

/// A trace directory, read whole.
struct RecordedTrace {
  explicit RecordedTrace(const std::string &path) {
    json = nlohmann::json::parse(text_of(path + "/trace.json"));
    CollectingSink sink;
    const auto source = open_trace({{path}}, sink);
    for (Event event; source->next(event);) {
      events.push_back(event);
      captured += was_captured(event) && has_happened(event);
    }
    catalog = source->catalog();
    damage = sink.damage();
  }
  size_t count(uint32_t code) const {
    return size_t(std::count_if(events.begin(), events.end(),
                                [code](const Event &event) { return event.kind == code; }));
  }
  /// The names of the threads, in the order of the catalog.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const ThreadInfo &thread : catalog.threads)
      all.push_back(thread.name);
    return all;
  }
  /// The texts of the marks that have an event.
  std::vector<std::string> marks() const {
    std::vector<std::string> all;
    for (const Event &event : events)
      if (event.kind == FTrace_EXT_mark)
        all.push_back(mark_text(catalog.hosts.at(0), event.par1));
    return all;
  }

  nlohmann::json json; ///< trace.json
  Catalog catalog;
  std::vector<Event> events;
  size_t captured = 0; ///< of the events, as `info` counts them
  size_t damage = 0;
};

/// A child that works in a directory of its own. What the session does to its process stays there.
class Session {
public:
  /// Calls `work` in the child; its result is the exit status. The child has no SUDO_* variables.
  explicit Session(const std::function<int()> &work) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
      throw std::runtime_error("no pipe");
    input_ = UniqueFd(in[1]);
    output_ = UniqueFd(out[0]);
    const UniqueFd reads(in[0]), writes(out[1]);
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ == 0)
      run(work, reads.get(), writes.get());
    fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  }
  /// Runs `ovnitrace record -o t WORDS -- PROGRAM`.
  explicit Session(const std::vector<std::string> &words,
                   const std::vector<std::string> &program = {})
      : Session([&] { return record(words, program); }) {}
  ~Session() {
    input_ = UniqueFd();
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  /// For a child: records into the directory t.
  static int record(std::vector<std::string> words, const std::vector<std::string> &program) {
    words.insert(words.begin(), {"record", "-o", "t"});
    return command(std::move(words), program);
  }
  /// For a child: runs a command of ovnitrace.
  static int command(std::vector<std::string> words, const std::vector<std::string> &program) {
    words.insert(words.begin(), "ovnitrace");
    std::vector<char *> argv;
    for (std::string &word : words)
      argv.push_back(word.data());
    const RootApp app("", "ovnitrace");
    add_commands(app, program);
    return run_cli(app, int(argv.size()), argv.data());
  }

  pid_t pid() const { return pid_; }
  std::string path(const std::string &name) const { return dir_ / name; }
  bool exists(const std::string &name) const { return access(path(name).c_str(), F_OK) == 0; }
  RecordedTrace trace(const std::string &name = "t") const { return RecordedTrace(path(name)); }
  nlohmann::json description(const std::string &name = "t") const {
    return nlohmann::json::parse(text_of(path(name) + "/trace.json"), nullptr, false);
  }

  /// Writes to the standard input of the session, which is the program's, too.
  void type(const std::string &text) const {
    EXPECT_EQ(write(input_.get(), text.data(), text.size()), ssize_t(text.size()));
  }
  /// Returns the answer of `ovnitrace ctl`, or the error that came instead.
  std::string ctl(const std::string &line) const { return answer(path("t"), line); }
  /// Returns the answer to `ovnitrace ctl PID`.
  std::string ctl_by_pid(const std::string &line) const {
    return answer(std::to_string(pid_), line);
  }
  /// Waits until `condition` holds, for a minute at most. Returns whether it does.
  bool await(const std::function<bool()> &condition) {
    for (int tries = 0; tries < 30'000; tries++) {
      if (condition())
        return true;
      usleep(2000);
      take_output();
    }
    return condition();
  }
  /// Waits until the capture can be controlled.
  bool await_start() {
    return await([&] { return ctl_by_pid("status").starts_with("recording for ") || ended(); }) &&
           !ended();
  }
  /// Waits until the session has printed this.
  bool await_printed(const std::string &text) {
    return await([&] { return printed().find(text) != std::string::npos || ended(); }) &&
           printed().find(text) != std::string::npos;
  }
  bool ended() const {
    siginfo_t info = {};
    return waitid(P_PID, id_t(pid_), &info, WEXITED | WNOWAIT | WNOHANG) != 0 || info.si_pid != 0;
  }

  /// Ends the input, and waits for the end of the session. Returns its exit status.
  int wait() {
    input_ = UniqueFd();
    if (!await([this] { return ended(); }))
      kill(pid_, SIGKILL);
    ProgramEnd end;
    waitpid(pid_, &end.wait_status, 0);
    pid_ = -1;
    return end.exit_status();
  }
  /// Returns what was printed so far.
  const std::string &printed() {
    take_output();
    return printed_;
  }
  size_t count_printed(const std::string &text) { return count_in(printed(), text); }
  /// Lets the shell of signalling_shell() make its signals while the session reads nothing.
  void signal_unread() {
    ASSERT_TRUE(await_start()) << printed();
    kill(pid_, SIGSTOP);
    type("go\n");
    ASSERT_TRUE(await([&] { return exists("made"); }));
    kill(pid_, SIGCONT);
  }

private:
  [[noreturn]] void run(const std::function<int()> &work, int input, int output) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    input_ = UniqueFd(), output_ = UniqueFd();
    for (const char *name : {"SUDO_UID", "SUDO_GID", "SUDO_USER"})
      unsetenv(name);
    const int status = chdir(dir_.path().c_str()) == 0 ? work() : 99;
    std::fflush(nullptr);
    _exit(status);
  }
  static std::string answer(const std::string &where, const std::string &line) {
    try {
      return control::ask(where, line);
    } catch (const Error &error) {
      const std::string what = error.what(), start = "ctl " + where + " " + line + ": ";
      return what.starts_with(start) ? what.substr(start.size()) : what;
    }
  }
  void take_output() {
    char part[4096];
    for (ssize_t got; (got = read(output_.get(), part, sizeof part)) > 0;)
      printed_.append(part, size_t(got));
  }

  TempDir dir_;
  UniqueFd input_, output_;
  pid_t pid_ = -1;
  std::string printed_;
};

/// Returns the command of a shell that sends itself 5,000 signals after a line, and ends with
/// status 3 after another.
inline std::vector<std::string> signalling_shell() {
  return {"/bin/sh", "-c",
          "trap : USR1; read line; n=0; while [ $n -lt 5000 ]; do kill -USR1 $$; n=$((n+1)); done; "
          "echo >made; read line; exit 3"};
}

/// Skips a test that cannot load BPF programs.
class SessionTest : public testing::Test {
protected:
  void SetUp() override {
    if (geteuid() != 0)
      GTEST_SKIP() << "only root may load BPF programs";
  }
};

} // namespace ovnitrace::test
