// SPDX-License-Identifier: BSD-2-Clause
// What a frame of a stack is taken for, what is kept of a copied stack, and names of JIT code.
#include "emulator/base/error.h"
#include "tests/unit/support/mapped_place.h"
#include "tests/unit/support/temp_dir.h"
#include "user/stacks/address_names.h"
#include "user/stacks/mapping_events.h"
#include "user/stacks/name_stacks.h"
#include "user/stacks/stack_capture.h"
#include "user/stacks/stack_collector.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

namespace ovnitrace {
namespace {

using test::at;

class Frames : public testing::Test {
protected:
  Frames()
      : collector([this](uint32_t place) { return slot(place); }, mappings,
                  [this](UnfinishedStack &&stack) {
                    given.push_back(std::move(stack));
                    return true;
                  }) {
    mappings.map(7, 0, 1000, 2000, 0, {"/a", 1});
    mappings.map(7, 0, 5000, 6000, 0, {"", 0});
  }
  const stack_slot *slot(uint32_t place) {
    const auto found = slots.find(place);
    return found == slots.end() ? nullptr : &found->second;
  }
  void stack(uint32_t place, const std::vector<uint64_t> &addresses) {
    slots[place].count = addresses.size();
    std::copy(addresses.begin(), addresses.end(), slots[place].addresses);
  }
  uint32_t number(uint32_t kernel, uint32_t user, uint64_t time = 100) {
    return collector.number({time, SCHED_STACK_WORD(SCHED_STACK_OF_PREV, kernel, user, 7)});
  }
  std::vector<CapturedFrame> frames(uint32_t number) {
    const CapturedStacks all = collector.captured();
    const CapturedStacks::Stack &stack = all.stacks.at(number - 1);
    std::vector<CapturedFrame> list;
    for (uint32_t n = 0; n < stack.kernel + stack.user; n++)
      list.push_back(all.frames[all.places[stack.first + n]]);
    return list;
  }

  std::map<uint32_t, stack_slot> slots;
  Mappings mappings;
  std::vector<UnfinishedStack> given;
  StackCollector collector;
};
using List = std::vector<CapturedFrame>;

TEST_F(Frames, CodeInNoFileIsTheProcessesAndCodeThatIsNotMappedIsUnknown) {
  stack(1, {5100, 1100, 5201});
  EXPECT_EQ(frames(number(0, 1)), (List{{CapturedFrame::process, 7, 5100},
                                        {CapturedFrame::file, 0, 99},
                                        {CapturedFrame::process, 7, 5200}}));
  stack(2, {9000, 1100});
  EXPECT_EQ(frames(number(0, 2)),
            (List{{CapturedFrame::unknown, 7, 9000}, {CapturedFrame::file, 0, 99}}));
  stack(3, {90});
  EXPECT_EQ(frames(number(3, 0)), (List{{CapturedFrame::kernel, 0, 90}}));
}

TEST_F(Frames, AFrameWithoutCodeEndsTheWalk) {
  stack(1, {1100, 9000, 1200 | STACK_LAST});
  const uint32_t astray = number(0, 1);
  EXPECT_TRUE(collector.captured().stacks[astray - 1].stuck);
}

TEST_F(Frames, ACopyIsWalkedWithAllThatTheKernelSideFound) {
  auto copy = std::make_unique<stack_copy>();
  copy->image = 77;
  copy->pid = 7;
  copy->id = STACK_COPY_FIRST;
  copy->absent = 3;
  copy->count = 2;
  copy->pages = 0;
  copy->addresses[0] = 1100;
  copy->addresses[1] = 1200;
  copy->state.sp = 5000;
  collector.keep(copy.get(), sizeof(*copy));
  mappings.map(7, 50, 1000, 2000, 0, {"/b", 2});
  const uint32_t one = number(0, STACK_COPY_FIRST, 120);
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].number, one);
  EXPECT_EQ(given[0].head.image, 77u);
  EXPECT_EQ(given[0].head.pid, 7u);
  EXPECT_EQ(given[0].head.absent, 3u);
  ASSERT_EQ(given[0].head.count, 2u);
  EXPECT_EQ(given[0].head.addresses[0], 1100u);
  EXPECT_EQ(given[0].head.addresses[1], 1200u);
  EXPECT_EQ(given[0].head.state.sp, 5000u);
  EXPECT_TRUE(given[0].memory.empty());
  EXPECT_EQ(given[0].time, 120u);
  EXPECT_EQ(given[0].epoch, 1u) << "code was replaced once before";
}

TEST_F(Frames, ACopyThatIsShorterThanItSaysIsDropped) {
  auto copy = std::make_unique<stack_copy>();
  copy->pid = 7;
  copy->id = STACK_COPY_FIRST;
  const size_t head = offsetof(stack_copy, memory);
  collector.keep(copy.get(), head - 1);
  EXPECT_EQ(number(0, STACK_COPY_FIRST), 0u);
  copy->pages = 2;
  collector.keep(copy.get(), head + 2 * STACK_COPY_PAGE - 1);
  EXPECT_EQ(number(0, STACK_COPY_FIRST), 0u);
  copy->state.sp = 4096 + 24;
  copy->memory[24] = 42;
  collector.keep(copy.get(), head + 2 * STACK_COPY_PAGE);
  EXPECT_NE(number(0, STACK_COPY_FIRST), 0u);
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].memory.size(), 2 * STACK_COPY_PAGE - 24u);
  EXPECT_EQ(given[0].memory[0], 42);
  copy->pages = 0;
  collector.keep(copy.get(), head);
  EXPECT_NE(number(0, STACK_COPY_FIRST), 0u);
}

TEST_F(Frames, ACopyHasNoMoreThanTheKernelSideCanKeep) {
  auto copy = std::make_unique<stack_copy>();
  copy->pid = 7;
  copy->id = STACK_COPY_FIRST;
  copy->count = CAPTURE_STACK_DEPTH + 1;
  copy->pages = STACK_COPY_PAGES + 1;
  copy->addresses[CAPTURE_STACK_DEPTH - 1] = 1234;
  copy->state.sp = 5 * STACK_COPY_PAGE + 24;
  copy->memory[24] = 42;
  collector.keep(copy.get(), sizeof(*copy) + STACK_COPY_PAGE);
  EXPECT_NE(number(0, STACK_COPY_FIRST), 0u);
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].head.count, 126u);
  EXPECT_EQ(given[0].head.addresses[125], 1234u);
  EXPECT_EQ(given[0].start, 5 * STACK_COPY_PAGE + 24);
  EXPECT_EQ(given[0].memory.size(), 8 * 4096u - 24);
  EXPECT_EQ(given[0].memory[0], 42);
}

// A frame is a place: what has other places needs room that is limited.
TEST_F(Frames, StacksWithNewFramesAreLimited) {
  constexpr uint32_t kRoom = ((1 << 18) - 2 * 126) / 126 + 1;
  uint64_t address = 1;
  for (uint32_t place = 1; place <= kRoom + 1; place++) {
    std::vector<uint64_t> addresses;
    for (int n = 0; n < 126; n++)
      addresses.push_back(address += 2);
    stack(place, addresses);
    EXPECT_EQ(number(place, 0), place <= kRoom ? place : 0u);
  }
  EXPECT_EQ(collector.left_out(), 1u);
  EXPECT_EQ(number(1, 0), 1u) << "it is known";
}

TEST_F(Frames, StacksAreLimited) {
  constexpr uint32_t kSlots = 512; // 2^18 pairs of them
  for (uint32_t n = 1; n <= kSlots; n++) {
    stack(n, {n});
    stack(kSlots + n, {1000 + n});
  }
  stack(2 * kSlots + 1, {9000});
  for (uint32_t kernel = 1; kernel <= kSlots; kernel++)
    for (uint32_t user = 1; user <= kSlots; user++)
      ASSERT_EQ(number(kernel, kSlots + user), (kernel - 1) * kSlots + user);
  EXPECT_EQ(number(2 * kSlots + 1, 0), 0u);
  EXPECT_EQ(collector.left_out(), 1u);
  EXPECT_EQ(number(kSlots, 2 * kSlots), kSlots * kSlots) << "it is known";
}

TEST_F(Frames, TheFramesOfAllStacksTogetherAreLimited) {
  constexpr uint64_t kMost = 3 << 20, kFull = kMost / 126, kRest = kMost % 126;
  static_assert(kRest == 12);
  for (uint64_t n = 0; n < kFull; n++) { // two of the frames say which stack it is
    std::vector<uint64_t> addresses(126, 1);
    addresses[0] = 10'000 + n % 200;
    addresses[1] = 20'000 + n / 200;
    stack(uint32_t(n + 1), addresses);
    ASSERT_EQ(number(uint32_t(n + 1), 0), n + 1);
  }
  stack(30'000, std::vector<uint64_t>(kRest + 1, 1));
  stack(30'001, std::vector<uint64_t>(kRest, 1));
  EXPECT_EQ(number(30'000, 0), 0u);
  EXPECT_EQ(number(30'001, 0), kFull + 1);
}

TEST_F(Frames, ACompletedCopyHasTheKernelsPartFirst) {
  auto copy = std::make_unique<stack_copy>();
  copy->pid = 7;
  copy->id = STACK_COPY_FIRST;
  collector.keep(copy.get(), sizeof(*copy));
  stack(3, {90, 80});
  const uint32_t one = number(3, STACK_COPY_FIRST);
  collector.complete(one + 1, {1100}); // nobody waits for it
  EXPECT_EQ(frames(one), List{});
  collector.complete(one, {1100, 1201});
  const List whole = {{CapturedFrame::kernel, 0, 90},
                      {CapturedFrame::kernel, 0, 79},
                      {CapturedFrame::file, 0, 100},
                      {CapturedFrame::file, 0, 200}};
  EXPECT_EQ(frames(one), whole);
  EXPECT_EQ(collector.captured().stacks[one - 1].kernel, 2u);
  collector.complete(one, {1500}); // it is complete
  EXPECT_EQ(frames(one), whole);
}

TEST(Mappings, AreInheritedOver64Generations) {
  Mappings mappings;
  mappings.map(100, 0, 1000, 2000, 0, {"/a", 1});
  for (uint32_t n = 1; n <= 64; n++)
    mappings.fork(100 + n, 100 + n - 1, n);
  EXPECT_EQ(at(mappings, 163, 100, 1500), "/a+500");
  EXPECT_EQ(at(mappings, 164, 100, 1500), "?");
  EXPECT_TRUE(mappings.code(mappings.life(163, 100))->find(100, 1500).known);
  EXPECT_FALSE(mappings.code(mappings.life(164, 100))->find(100, 1500).known);
  mappings.map(163, 70, 1000, 2000, 0, {"/b", 2});
  EXPECT_EQ(mappings.replacements(mappings.life(163, 100), 100), 1u);
  mappings.map(164, 70, 1000, 2000, 0, {"/c", 3});
  EXPECT_EQ(mappings.replacements(mappings.life(164, 100), 100), 1u) << "of its parent";
}

// What was missed may have been of the time just after the exec.
TEST(Mappings, AreDoubtfulIfTheirLossEndsWhenTheProcessExecutes) {
  Mappings mappings;
  mappings.exec(7, 100);
  mappings.exec(8, 101);
  mappings.miss(100);
  EXPECT_TRUE(mappings.is_doubtful(mappings.life(7, 100)));
  EXPECT_FALSE(mappings.is_doubtful(mappings.life(8, 101)));
}

TEST(Mappings, OfARunningProcessAreRead) {
  Mappings mappings;
  const auto pid = uint32_t(getpid());
  read_mappings(pid, mappings);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string found = at(mappings, pid, 0, uint64_t(&read_mappings));
  EXPECT_EQ(found.substr(0, found.rfind('+')), self);
}

/// A map as a JIT compiler writes it, for a process that is not there.
class JitFrames : public testing::Test {
protected:
  ~JitFrames() override {
    for (const uint32_t pid : kPids)
      unlink(path(pid).c_str());
  }
  static std::string path(uint32_t pid) { return fmt::format("/tmp/perf-{}.map", pid); }
  static void write(uint32_t pid, const std::string &text) { std::ofstream(path(pid)) << text; }
  static std::string name_at(uint32_t pid, uint64_t address) {
    uint64_t most = UINT64_MAX;
    return std::string(AddressNames::of_process(pid, 0, most).find(address).name);
  }
  static constexpr uint32_t kPids[] = {2000000011, 2000000012}; // above all pids of Linux
};

TEST_F(JitFrames, HaveTheNamesOfTheirOwnProcess) {
  write(kPids[0], "1000 10 one\n");
  write(kPids[1], "1000 10 two\n");
  CapturedStacks captured;
  for (const uint32_t pid : {kPids[0], kPids[1], kPids[0]})
    captured.frames.push_back({CapturedFrame::process, pid, 0x1000});
  captured.frames.push_back({CapturedFrame::unknown, kPids[1], 0x100f});
  captured.frames.push_back({CapturedFrame::missing, kPids[1], 0x100f});
  captured.frames.push_back({CapturedFrame::process, kPids[1], 0x1010});
  const NamedStacks all = name_stacks(std::move(captured), -1, 0);
  std::vector<std::string> names;
  for (const NamedFrame &frame : all.frames)
    names.push_back(frame.places.front().function);
  EXPECT_EQ(names, (std::vector<std::string>{"one", "two", "one", "two", "", "", ""}));
}

TEST_F(JitFrames, AFunctionThatEndsBehindTheLastAddressIsLeftOut) {
  write(kPids[0], "ffffffffffffff00 ff last\nfffffffffffff000 1000 too long\n2000 0 empty\n"
                  "3000 8 \n\t4000\t8\ttabs\n");
  EXPECT_EQ(name_at(kPids[0], 0xffffffffffffff00), "last");
  EXPECT_EQ(name_at(kPids[0], 0xfffffffffffff000), "");
  EXPECT_EQ(name_at(kPids[0], 0x2000), "");
  EXPECT_EQ(name_at(kPids[0], 0x3000), "");
  EXPECT_EQ(name_at(kPids[0], 0x4000), "tabs");
}

TEST_F(JitFrames, AMapOfAnotherUserIsNotRead) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a file away";
  write(kPids[0], "1000 10 one\n");
  ASSERT_EQ(name_at(kPids[0], 0x1000), "one");
  ASSERT_EQ(chown(path(kPids[0]).c_str(), 65534, 65534), 0);
  EXPECT_EQ(name_at(kPids[0], 0x1000), "");
}

TEST_F(JitFrames, AMapOfTheUserOfTheProcessIsReadWhileItLives) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a file away";
  int ends[2];
  char byte = 0;
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (setuid(65534) == 0)
      (void)!::write(ends[1], "x", 1);
    for (;;)
      pause();
  }
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  close(ends[0]), close(ends[1]);
  const auto pid = uint32_t(child);
  write(pid, "1000 10 one\n");
  EXPECT_EQ(chown(path(pid).c_str(), 65534, 65534), 0);
  EXPECT_EQ(name_at(pid, 0x1000), "one");
  EXPECT_EQ(chown(path(pid).c_str(), 65533, 65533), 0);
  EXPECT_EQ(name_at(pid, 0x1000), "") << "of a third user";
  EXPECT_EQ(chown(path(pid).c_str(), 65534, 65534), 0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(name_at(pid, 0x1000), "") << "the number may be another's";
  unlink(path(pid).c_str());
}

TEST(AddressNames, TheKernelsWeakFunctionsHaveNamesAndTheLastOfTwoCounts) {
  test::TempDir dir;
  std::ofstream(dir / "kallsyms") << "1000 w weak\n2000 T first\n2000 t alias\n3000 W strong\n"
                                  << "3800 b data\n4000 A absolute\n";
  const UniqueFd file(open((dir / "kallsyms").c_str(), O_RDONLY | O_CLOEXEC));
  const AddressNames names = AddressNames::of_kernel(file.get());
  EXPECT_EQ(names.find(0x1001).name, "weak");
  EXPECT_EQ(names.find(0x2000).name, "alias");
  EXPECT_EQ(names.find(0x2fff).name, "alias");
  EXPECT_EQ(names.find(0x3fff).name, "strong");
  EXPECT_EQ(names.find(0x4000).name, "strong") << "data is no function";
}

TEST(StackOption, SaysWhichWordsThereAre) {
  try {
    parse_stacks("kernel,all");
    FAIL();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "--stacks: 'all' is not one of kernel, user, wakeup and preempt");
    EXPECT_EQ(error.status(), kExitUsage);
  }
  EXPECT_EQ(stacks_text(STACKS_PREEMPT | STACKS_WAKEUP | STACKS_USER | STACKS_KERNEL),
            "kernel,user,wakeup,preempt");
  EXPECT_EQ(parse_stacks("preempt,kernel"), uint32_t(STACKS_PREEMPT | STACKS_KERNEL));
}

} // namespace
} // namespace ovnitrace
