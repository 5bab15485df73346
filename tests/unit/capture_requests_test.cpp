// SPDX-License-Identifier: BSD-2-Clause
// What SIGUSR2, a duration or another thread requests of a capture: user/record/capture_requests.
#include "user/record/capture_requests.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {
namespace {

/// Notes what was carried out, in order: 0 is a save.
struct Log {
  std::vector<unsigned> all;
  std::counting_semaphore<> said{0};

  CaptureRequests::Actions actions() {
    return {
        [this] { add(0); }, [this](CaptureRequests::Request request) { add(request); }, {}, {}, {}};
  }
  void add(unsigned what) {
    all.push_back(what);
    said.release();
  }
};

/// Requests whose thread runs, and which nobody reaches by a socket.
class RunningRequests : public CaptureRequests {
public:
  RunningRequests(int save_signal, Actions actions)
      : CaptureRequests(save_signal, std::move(actions)) {
    static control::CtlSocket nowhere("", {}, 0);
    start(nowhere);
  }
};

TEST(CaptureRequests, EachIsCarriedOutBeforeTheEnd) {
  Log log;
  {
    RunningRequests requests(-1, log.actions());
    requests.ask(CaptureRequests::kSave);
    log.said.acquire();
    requests.ask(CaptureRequests::kFull);
    log.said.acquire();
    requests.ask(CaptureRequests::kTimeOver);
    log.said.acquire();
    requests.ask(CaptureRequests::kSave);
  }
  EXPECT_EQ(log.all,
            (std::vector<unsigned>{0, CaptureRequests::kFull, CaptureRequests::kTimeOver, 0}));
}

TEST(CaptureRequests, NothingHappensWithoutARequest) {
  Log log;
  { RunningRequests requests(-1, log.actions()); }
  EXPECT_TRUE(log.all.empty());
}

TEST(CaptureRequests, SeveralThatWaitAreCarriedOutOnceASaveFirst) {
  Log log;
  std::binary_semaphore started(0), go(0);
  {
    CaptureRequests::Actions actions = log.actions();
    actions.save = [&] {
      if (log.all.empty()) {
        started.release();
        go.acquire();
      }
      log.add(0);
    };
    RunningRequests requests(-1, std::move(actions));
    requests.ask(CaptureRequests::kSave);
    started.acquire(); // the thread is in the first save
    for (int n = 0; n < 3; n++) {
      requests.ask(CaptureRequests::kTimeOver);
      requests.ask(CaptureRequests::kFull);
      requests.ask(CaptureRequests::kSave);
    }
    go.release();
  }
  EXPECT_EQ(log.all,
            (std::vector<unsigned>{0, 0, CaptureRequests::kFull, CaptureRequests::kTimeOver}));
}

TEST(CaptureRequests, ARequestBeforeTheThreadStartsIsCarriedOut) {
  Log log;
  control::CtlSocket nowhere("", {}, 0);
  CaptureRequests requests(-1, log.actions());
  requests.ask(CaptureRequests::kFull);
  requests.start(nowhere);
  log.said.acquire();
  EXPECT_EQ(log.all, std::vector<unsigned>{CaptureRequests::kFull});
}

TEST(CaptureRequests, NeverWaitWithoutAThread) {
  Log log;
  { CaptureRequests requests(-1, log.actions()); }
  EXPECT_TRUE(log.all.empty());
}

TEST(CaptureRequests, ADurationEndsOnce) {
  for (const uint64_t duration : {1ull, 999'999ull}) { // ns
    Log log;
    RunningRequests requests(-1, log.actions());
    requests.stop_in(duration);
    log.said.acquire();
    EXPECT_EQ(log.all, std::vector<unsigned>{CaptureRequests::kTimeOver});
  }
}

// A time that has passed, if it were taken for one since the start of the machine.
TEST(CaptureRequests, ADurationIsCountedFromNow) {
  Log log;
  {
    RunningRequests requests(-1, log.actions());
    requests.stop_in(monotonic_ns() / 2);
    requests.ask(CaptureRequests::kSave);
    log.said.acquire();
    requests.ask(CaptureRequests::kFull);
  }
  EXPECT_EQ(log.all, (std::vector<unsigned>{0, CaptureRequests::kFull}));
}

TEST(CaptureRequests, WithoutAFreeFileTheyAreRefused) {
  rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none = {0, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  std::string why;
  try {
    const CaptureRequests requests(-1, {});
  } catch (const Error &error) {
    why = error.what();
  }
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(why, "cannot wait for requests: Too many open files");
}

TEST(CaptureRequests, AReadableFileOfATriggerIsAHit) {
  for (const size_t readable : {0, 1}) {
    Log log;
    const UniqueFd files[] = {UniqueFd(eventfd(readable == 0, EFD_NONBLOCK)),
                              UniqueFd(eventfd(readable == 1, EFD_NONBLOCK))};
    CaptureRequests::Actions actions = log.actions();
    actions.hit = [&](size_t trigger) {
      eventfd_t taken;
      eventfd_read(files[trigger].get(), &taken);
      log.add(90 + unsigned(trigger));
    };
    control::CtlSocket nowhere("", {}, 0);
    CaptureRequests requests(-1, std::move(actions), {files[0].get(), files[1].get()});
    requests.start(nowhere);
    log.said.acquire();
    EXPECT_EQ(log.all, std::vector<unsigned>{90 + unsigned(readable)});
  }
}

TEST(SaveSignal, IsARequestWhileItIsThereAndDoesNotEndTheProcess) {
  Log log;
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  {
    const SaveSignal signal;
    RunningRequests requests(signal.file(), log.actions());
    kill(getpid(), SIGUSR2);
    log.said.acquire();
    EXPECT_EQ(log.all, std::vector<unsigned>{0});
  }
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGUSR2), sigismember(&after, SIGUSR2));
}

[[noreturn]] void signal_too_late() {
  {
    const SaveSignal signal;
    raise(SIGUSR2);
  }
  _exit(3);
}

TEST(SaveSignal, OneThatComesTooLateIsForgotten) {
  EXPECT_EXIT(signal_too_late(), testing::ExitedWithCode(3), "");
}

TEST(CaptureRequests, ALineOfACallerIsAnswered) {
  const test::TempDir dir;
  control::CtlSocket socket(dir.path(), {}, getuid());
  CaptureRequests::Actions actions;
  actions.answer = [](const std::string &line) { return "ok\nanswer to " + line + "\n"; };
  CaptureRequests requests(-1, std::move(actions));
  requests.start(socket);
  EXPECT_EQ(control::ask(dir.path(), "status"), "answer to status\n");
  EXPECT_EQ(control::ask(dir.path(), "mark a b"), "answer to mark a b\n");
}

// A hit is of what the flight recorder held before; then the capture can stop.
TEST(CaptureRequests, ASaveComesBeforeAHitAndAHitBeforeAStop) {
  Log log;
  const UniqueFd trigger(eventfd(1, EFD_NONBLOCK));
  CaptureRequests::Actions actions = log.actions();
  actions.hit = [&](size_t) {
    eventfd_t taken;
    eventfd_read(trigger.get(), &taken);
    log.add(90);
  };
  control::CtlSocket nowhere("", {}, 0);
  {
    CaptureRequests requests(-1, std::move(actions), {trigger.get()});
    requests.ask(CaptureRequests::kTimeOver);
    requests.ask(CaptureRequests::kSave);
    requests.start(nowhere);
  }
  EXPECT_EQ(log.all, (std::vector<unsigned>{0, 90, CaptureRequests::kTimeOver}));
}

} // namespace
} // namespace ovnitrace
