// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace top` on a terminal: user/top/screen. It has a process and a terminal of its own.
#include "user/top/screen.h"

#include "emulator/base/clock.h"
#include "emulator/base/messages.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>

namespace ovnitrace {
namespace {

constexpr uint64_t kMs = 1'000'000;          // ns
constexpr uint64_t kPatience = 10'000 * kMs; // only if something never comes

/// Runs `act` in a process that has a terminal of 24 lines of 80 characters.
class OnTerminal {
public:
  explicit OnTerminal(const std::function<int()> &act, const char *kind = "xterm") {
    const winsize size = {24, 80, 0, 0};
    std::fflush(nullptr);
    pid_ = forkpty(&master_, nullptr, nullptr, &size);
    if (pid_ == 0) {
      setenv("TERM", kind, 1);
      setenv("LC_ALL", "C.UTF-8", 1);
      std::signal(SIGHUP, SIG_IGN);
      int status = 99;
      try {
        status = act();
      } catch (const std::exception &error) {
        print("{}", error.what());
      }
      _exit(status);
    }
  }
  ~OnTerminal() {
    hang_up();
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  OnTerminal(const OnTerminal &) = delete;
  OnTerminal &operator=(const OnTerminal &) = delete;

  /// Reads until `text` has been printed. Returns whether it has.
  bool await(const std::string &text) {
    while (printed_.find(text) == std::string::npos)
      if (!read_more())
        return false;
    return true;
  }
  void type(char key) { EXPECT_EQ(write(master_, &key, 1), 1); }
  void resize(unsigned short rows, unsigned short columns) {
    const winsize size = {rows, columns, 0, 0};
    EXPECT_EQ(ioctl(master_, TIOCSWINSZ, &size), 0);
  }
  void hang_up() {
    if (master_ >= 0)
      close(master_);
    master_ = -1;
  }
  /// Returns what `act` has returned.
  int wait() {
    while (master_ >= 0 && read_more())
      ;
    if (monotonic_ns() >= latest_)
      kill(pid_, SIGKILL);
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  const std::string &printed() const { return printed_; }

private:
  bool read_more() {
    pollfd file = {master_, POLLIN, 0};
    char part[4096];
    const uint64_t now = monotonic_ns();
    const int left = now < latest_ ? int((latest_ - now) / kMs) : 0;
    const ssize_t got = poll(&file, 1, left) == 1 && left ? read(master_, part, sizeof part) : -1;
    if (got > 0)
      printed_.append(part, size_t(got));
    return got > 0;
  }
  const uint64_t latest_ = monotonic_ns() + kPatience; ///< the clock on the screen goes on
  pid_t pid_ = -1;
  int master_ = -1;
  std::string printed_;
};

volatile sig_atomic_t saves_asked = 0;

class TopOnTerminal : public testing::Test {
protected:
  /// `busy` runs for 6 ms of 10 ms, and `lazy` for 3 ms.
  TopOnTerminal() {
    test::TraceBuilder trace(dir_.path());
    auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "busy").id(2, 20, 20, "lazy");
    cpu.dispatch(1).at(6 * kMs).sleep(1, 20).dispatch(2).at(9 * kMs).sleep(2, 0);
    cpu.at(10 * kMs).stop();
    trace.write();
  }
  ~TopOnTerminal() override {
    close(stop_);
    close(never_);
  }
  void take(TopScreen &screen) const { screen.take(dir_.path(), 0, 10 * kMs); }
  /// As a capture does, until the user wants no more. Looks often at what other threads say.
  void show(TopScreen &screen) const {
    while (screen.wait(monotonic_ns() + 5 * kMs, stop_))
      ;
  }
  test::TempDir dir_;
  const int stop_ = eventfd(0, EFD_CLOEXEC), never_ = eventfd(0, EFD_CLOEXEC);
};

TEST_F(TopOnTerminal, TheTableIsDrawnAndKeysChangeIt) {
  OnTerminal terminal([&] {
    std::signal(SIGUSR2, [](int) { saves_asked = saves_asked + 1; });
    TopScreen screen({});
    take(screen);
    show(screen);
    return int(saves_asked);
  });
  ASSERT_TRUE(terminal.await("lazy (20)")) << terminal.printed();
  EXPECT_NE(terminal.printed().find("1mTHREAD "), std::string::npos) << "bold";
  EXPECT_NE(terminal.printed().find("7mbusy (10)"), std::string::npos) << "selected";
  EXPECT_EQ(terminal.printed().find("7mlazy"), std::string::npos);
  terminal.type('g');
  EXPECT_TRUE(terminal.await("1mPROCESS")) << terminal.printed();
  terminal.type('w');
  EXPECT_TRUE(terminal.await("saving")) << terminal.printed();
  terminal.type('q');
  EXPECT_EQ(terminal.wait(), 1) << "one SIGUSR2";
  EXPECT_NE(terminal.printed().find("\x1b[?1049l"), std::string::npos) << "the terminal is back";
}

TEST_F(TopOnTerminal, TheNewestMessageIsShownAndAllAreRepeatedAtTheEnd) {
  OnTerminal terminal([&] {
    TopScreen screen({});
    take(screen);
    screen.saved("saved to one");
    screen.saved("saved to two");
    show(screen);
    return 7;
  });
  ASSERT_TRUE(terminal.await("saved to two")) << terminal.printed();
  EXPECT_EQ(terminal.printed().find("saved to one"), std::string::npos);
  terminal.type('q');
  EXPECT_EQ(terminal.wait(), 7);
  const std::string &all = terminal.printed();
  const size_t back = all.find("\x1b[?1049l"),
               messages = all.find("ovnitrace: saved to one\r\novnitrace: saved to two\r\n");
  ASSERT_NE(messages, all.npos) << all;
  EXPECT_LT(back, messages) << "after the screen has gone";
}

TEST_F(TopOnTerminal, ANewSizeIsUsed) {
  OnTerminal terminal([&] {
    TopScreen screen({});
    take(screen);
    show(screen);
    return 7;
  });
  ASSERT_TRUE(terminal.await("lazy (20)")) << terminal.printed();
  EXPECT_TRUE(terminal.await("? help")) << "all keys have room";
  EXPECT_EQ(terminal.printed().find("…"), std::string::npos);
  terminal.resize(24, 40); // as many lines
  EXPECT_TRUE(terminal.await("…")) << "lines are cut";
  terminal.type('q');
  EXPECT_EQ(terminal.wait(), 7);
}

TEST_F(TopOnTerminal, AFrozenScreenWantsNoIntervals) {
  OnTerminal terminal([&] {
    TopScreen screen({});
    take(screen);
    if (!screen.wait(0, never_)) // it is time already
      return 1;
    if (!screen.wait(UINT64_MAX / 2, stop_))
      return 2;
    return screen.wait(0, never_) ? 3 : 7;
  });
  ASSERT_TRUE(terminal.await("lazy (20)")) << terminal.printed();
  terminal.type(' ');
  ASSERT_TRUE(terminal.await("FROZEN")) << terminal.printed();
  eventfd_write(stop_, 1);
  terminal.type('q');
  EXPECT_EQ(terminal.wait(), 7);
}

TEST_F(TopOnTerminal, TheLastIntervalIsThatOfTheEndOfTheCapture) {
  eventfd_write(stop_, 1);
  OnTerminal terminal([&] {
    TopScreen screen({});
    return screen.wait(UINT64_MAX / 2, stop_) ? 7 : 1;
  });
  EXPECT_EQ(terminal.wait(), 7);
}

TEST_F(TopOnTerminal, ItEndsWhenTheTerminalIsGone) {
  OnTerminal terminal([&] {
    TopScreen screen({});
    take(screen);
    return screen.wait(UINT64_MAX / 2, never_) ? 1 : 7;
  });
  ASSERT_TRUE(terminal.await("lazy (20)")) << terminal.printed();
  terminal.hang_up();
  EXPECT_EQ(terminal.wait(), 7);
}

TEST_F(TopOnTerminal, AKindThatIsNotKnownIsAnError) {
  OnTerminal terminal(
      [&] {
        TopScreen screen({});
        return screen.wait(0, never_) ? 1 : 2;
      },
      "no-such-terminal");
  EXPECT_EQ(terminal.wait(), 99);
  EXPECT_NE(terminal.printed().find("ovnitrace: cannot draw on this terminal: set TERM to its "
                                    "kind, or use --batch\r\n"),
            std::string::npos)
      << terminal.printed();
}

} // namespace
} // namespace ovnitrace
