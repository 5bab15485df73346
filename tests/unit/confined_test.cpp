// SPDX-License-Identifier: BSD-2-Clause
// Work in a child process that can do no harm: emulator/base/confined.
#include "emulator/base/confined.h"
#include "emulator/base/unique_fd.h"
#include "tests/unit/support/temp_dir.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

constexpr ConfinedLimits kLimits = {.memory = 64 << 20, .seconds = 1};

struct Answers {
  std::vector<std::optional<std::string>> texts;
  std::vector<size_t> failed;
  size_t asked = 0;
};

Answers ask(size_t count, const std::function<void(size_t, ConfinedOutput &)> &answer) {
  Answers answers;
  answers.texts.resize(count);
  answers.asked = ask_confined(
      count, kLimits, answer,
      [&](size_t n, ConfinedInput &in) {
        const std::string text = in.text(1000);
        if (in.good())
          answers.texts[n] = text;
      },
      [&](size_t n) { answers.failed.push_back(n); });
  return answers;
}

std::string answer_of(const std::function<std::string()> &work) {
  const Answers answers = ask(1, [&](size_t, ConfinedOutput &out) { out.text(work()); });
  return answers.texts[0].value_or("none");
}

TEST(Confined, ContinuesAfterAQuestionThatEndsTheChild) {
  const Answers answers = ask(10, [](size_t n, ConfinedOutput &out) {
    if (n == 3)
      __builtin_trap();
    if (n == 5)
      abort();
    out.text("answer " + std::to_string(n));
  });
  EXPECT_EQ(answers.failed, (std::vector<size_t>{3, 5}));
  EXPECT_EQ(answers.asked, 10u);
  EXPECT_EQ(answers.texts[2], "answer 2");
  EXPECT_EQ(answers.texts[3], std::nullopt);
  EXPECT_EQ(answers.texts[9], "answer 9");
}

TEST(Confined, GivesUpAfterAFew) {
  const Answers answers = ask(10, [](size_t, ConfinedOutput &) { abort(); });
  EXPECT_EQ(answers.failed, (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_EQ(answers.asked, 4u);
}

TEST(Confined, HasLittleTimeAndMemory) {
  const Answers answers = ask(2, [](size_t n, ConfinedOutput &out) {
    if (n == 0)
      while (clock() >= 0) // for ever
        ;
    out.text(std::string(128 << 20, 'x'));
  });
  EXPECT_EQ(answers.failed, (std::vector<size_t>{0, 1}));
}

TEST(Confined, AnswersWithTheLowerLimitOfItsParent) {
  const auto test = [] {         // in a process of its own: not everybody may raise a limit again
    const rlimit ten = {10, 10}; // lower than any limit of who runs the tests
    setrlimit(RLIMIT_CPU, &ten);
    uint64_t seconds = 0;
    ask_confined(
        1, {.memory = 64 << 20, .seconds = 1000},
        [](size_t, ConfinedOutput &out) {
          rlimit own = {};
          getrlimit(RLIMIT_CPU, &own);
          out.number(own.rlim_max);
        },
        [&](size_t, ConfinedInput &in) { seconds = in.number(); }, [](size_t) {});
    _exit(int(seconds));
  };
  EXPECT_EXIT(test(), testing::ExitedWithCode(10), "");
}

TEST(Confined, TakesNoAnswerThatIsTooLong) {
  const Answers answers = ask(
      2, [](size_t n, ConfinedOutput &out) { out.text(std::string(n == 0 ? 1001 : 1000, 'x')); });
  EXPECT_EQ(answers.failed, std::vector<size_t>{0});
  EXPECT_EQ(answers.texts[1], std::string(1000, 'x'));
}

TEST(Confined, EndsIfItWaitsForEver) {
  size_t failed = 0;
  const ConfinedLimits limits = {.memory = 64 << 20, .seconds = 1, .patience = 1};
  ask_confined(
      1, limits, [](size_t, ConfinedOutput &) { pause(); },
      [](size_t, ConfinedInput &in) { EXPECT_EQ(in.number(), 0u); }, [&](size_t) { failed++; });
  EXPECT_EQ(failed, 1u);
}

TEST(Confined, KeepsTheFilesThatItIsGiven) {
  test::TempDir dir;
  const UniqueFd low(open((dir / "file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(write(low.get(), "text", 4), 4);
  const UniqueFd kept(fcntl(low.get(), F_DUPFD_CLOEXEC, kFirstKeptFile)),
      other(fcntl(low.get(), F_DUPFD_CLOEXEC, kFirstKeptFile)),
      last(fcntl(low.get(), F_DUPFD_CLOEXEC, kFirstKeptFile));
  const int files[] = {last.get(), kept.get()};
  std::vector<uint64_t> read;
  ask_confined(
      1, {.memory = 64 << 20, .seconds = 1, .files = files},
      [&](size_t, ConfinedOutput &out) {
        char text[4];
        for (const UniqueFd *fd : {&low, &kept, &other, &last})
          out.number(pread(fd->get(), text, 4, 0) == 4);
      },
      [&](size_t, ConfinedInput &in) {
        for (int n = 0; n < 4; n++)
          read.push_back(in.number(1));
      },
      [](size_t) {});
  EXPECT_EQ(read, (std::vector<uint64_t>{0, 1, 0, 1}));
}

TEST(Confined, HasNoPrivilegeAndNoFileOfOurs) {
  test::TempDir dir;
  const UniqueFd low(open((dir / "file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const UniqueFd high(fcntl(low.get(), F_DUPFD_CLOEXEC, 100)); // no number that the child uses
  ASSERT_TRUE(high);
  EXPECT_EQ(answer_of([&] { return write(high.get(), "x", 1) < 0 ? "closed" : "open"; }), "closed");
  EXPECT_EQ(answer_of([&] {
              const int other = open((dir / "file").c_str(), O_WRONLY);
              return other >= 0 && write(other, "x", 1) < 0 ? "refused" : "written";
            }),
            "refused");
  EXPECT_EQ(answer_of([] {
              __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
              __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
              syscall(SYS_capget, &header, data);
              return data[0].effective & ~(1u << CAP_DAC_READ_SEARCH) || data[1].effective
                         ? "some"
                         : "no more";
            }),
            "no more");
}

// Not even a crash of it leaves anything, no signal of a terminal reaches it, and it ends with us.
TEST(Confined, HasNoMoreThanItNeeds) {
  setenv("DEBUGINFOD_URLS", "http://127.0.0.1", 1);
  const std::string found = answer_of([] {
    char name[16] = "";
    int death = 0;
    rlimit core = {}, file = {}, cpu = {};
    sigset_t blocked;
    prctl(PR_GET_NAME, name);
    prctl(PR_GET_PDEATHSIG, &death);
    getrlimit(RLIMIT_CORE, &core);
    getrlimit(RLIMIT_FSIZE, &file);
    getrlimit(RLIMIT_CPU, &cpu);
    sigprocmask(SIG_SETMASK, nullptr, &blocked);
    std::string text = std::string(name) + (getenv("DEBUGINFOD_URLS") ? " asks" : "");
    for (const uint64_t number :
         {uint64_t(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)), uint64_t(death == SIGKILL),
          uint64_t(core.rlim_max), uint64_t(file.rlim_max), uint64_t(cpu.rlim_max),
          uint64_t(sigismember(&blocked, SIGINT)), uint64_t(sigismember(&blocked, SIGTERM))})
      text += ' ' + std::to_string(number);
    for (const char *stream : {"0", "1", "2"}) {
      char place[100] = "";
      if (readlink((std::string("/proc/self/fd/") + stream).c_str(), place, sizeof place - 1) > 0)
        text += std::string(" ") + place;
    }
    return text;
  });
  unsetenv("DEBUGINFOD_URLS");
  EXPECT_EQ(found, "ovnitrace-read 1 1 0 0 1 1 1 /dev/null /dev/null /dev/null");
}

} // namespace
} // namespace ovnitrace
