// SPDX-License-Identifier: BSD-2-Clause
// What was mapped where, numbers of stacks, and names of addresses.
#include "emulator/symbols/demangle.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"
#include "user/stacks/address_names.h"
#include "user/stacks/stack_capture.h"
#include "user/stacks/stack_collector.h"

#include "emulator/base/error.h"
#include "emulator/base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <map>

namespace ovnitrace {
namespace {

class Collector : public ::testing::Test {
protected:
  Collector() : collector([this](uint32_t place) { return slot(place); }, mappings) {}

  const stack_slot *slot(uint32_t place) {
    const auto found = slots.find(place);
    return found == slots.end() ? nullptr : &found->second;
  }
  void stack(uint32_t place, const std::vector<uint64_t> &addresses) {
    slots[place].count = addresses.size();
    std::copy(addresses.begin(), addresses.end(), slots[place].addresses);
  }
  uint32_t number(uint32_t kernel, uint32_t user, uint32_t pid, bool in_call = false) {
    return collector.number({100, SCHED_STACK_WORD(SCHED_STACK_OF_PREV, kernel, user, pid) |
                                      (in_call ? SCHED_STACK_IN_CALL : 0)});
  }
  /// Addresses of a stack, the kernel's first.
  std::vector<uint64_t> addresses(uint32_t number) {
    const CapturedStacks all = collector.captured();
    const CapturedStacks::Stack &stack = all.stacks.at(number - 1);
    std::vector<uint64_t> list;
    for (uint32_t n = 0; n < stack.kernel + stack.user; n++)
      list.push_back(all.frames[all.places[stack.first + n]].address);
    return list;
  }

  std::map<uint32_t, stack_slot> slots;
  Mappings mappings;
  StackCollector collector;
};
using Addresses = std::vector<uint64_t>;

TEST_F(Collector, CutsTheProgramsPartAtTheDepthAndMarksIt) {
  StackCollector shallow([this](uint32_t place) { return slot(place); }, mappings, nullptr, 2);
  mappings.map(7, 0, 1000, 9000, 0, {"/a", 1});
  stack(1, {10, 20, 30});
  stack(2, {1100, 1200, 1300 | STACK_LAST});
  stack(3, {1100, 1250 | STACK_LAST});
  const auto number = [&](uint32_t user) {
    return shallow.number({100, SCHED_STACK_WORD(SCHED_STACK_OF_PREV, 1, user, 7)});
  };
  const uint32_t deep = number(2), complete = number(3);
  const CapturedStacks all = shallow.captured();
  EXPECT_EQ(all.stacks.at(deep - 1).kernel, 3u) << "the kernel's part has all its frames";
  EXPECT_EQ(all.stacks.at(deep - 1).user, 2u);
  EXPECT_TRUE(all.stacks.at(deep - 1).deep);
  EXPECT_EQ(all.stacks.at(complete - 1).user, 2u);
  EXPECT_FALSE(all.stacks.at(complete - 1).deep) << "it has no more";
}

TEST_F(Collector, NumbersStacksByFramesAcrossProcesses) {
  mappings.map(7, 0, 1000, 2000, 0, {"/a", 1});
  mappings.map(8, 0, 5000, 6000, 0, {"/a", 1});
  stack(1, {90, 80});
  stack(2, {1100, 1200});
  stack(3, {5100, 5200});
  const uint32_t first = number(1, 2, 7);
  EXPECT_EQ(first, 1u);
  EXPECT_EQ(number(1, 3, 8), first) << "the same places in the same file";
  EXPECT_EQ(number(1, 2, 7), first);
  EXPECT_EQ(addresses(first), (Addresses{90, 79, 100, 199})) << "callers: before the return";
  EXPECT_NE(number(1, 0, 7), first);
  EXPECT_NE(number(0, 2, 7), first);
  EXPECT_EQ(number(1, 2, 7), first);
  const CapturedStacks all = collector.captured();
  EXPECT_EQ(all.stacks.size(), 3u);
  EXPECT_EQ(all.stacks[0].taken, 4u);
  EXPECT_EQ(all.stacks[1].taken, 1u);
  EXPECT_EQ(all.stacks[2].taken, 1u);
  EXPECT_EQ(all.stacks[0].kernel, 2u);
}

TEST_F(Collector, KnowsASystemCallFromAnInterrupt) {
  mappings.map(7, 0, 1000, 2000, 0, {"/a", 1});
  stack(2, {1100, 1200});
  EXPECT_EQ(addresses(number(0, 2, 7)), (Addresses{100, 199}));
  EXPECT_EQ(addresses(number(0, 2, 7, true)), (Addresses{99, 199}));
}

TEST_F(Collector, CountsUnknownStacks) {
  EXPECT_EQ(number(4, 5, 7), 0u);
  EXPECT_EQ(collector.left_out(), 1u);
  stack(4, {90});
  EXPECT_EQ(number(4, 5, 7), 1u) << "it was still being written";
}

TEST_F(Collector, NumbersOfTheKernelAreKeptUpToALimit) {
  constexpr uint32_t kKernel = 1 << 10, kPids = StackCollector::kMostKnown / kKernel,
                     kUser = kKernel + 2; // a place without a stack
  stack(kKernel + 1, {10});
  for (uint32_t place = 1; place <= kKernel; place++)
    stack(place, {10});
  for (uint32_t pid = 1; pid <= kPids; pid++)
    for (uint32_t place = 1; place <= kKernel; place++)
      ASSERT_EQ(number(place, kUser, pid), 1u) << "the program's part is not known";
  EXPECT_EQ(collector.left_out(), 0u);
  EXPECT_EQ(number(kKernel + 1, kUser, 1), 0u);
  EXPECT_EQ(collector.left_out(), 1u);
  EXPECT_EQ(number(kKernel, kUser, kPids), 1u) << "it is known";
}

/// Addresses of a stack, "-" where frames may be missing.
std::string text_of(const CapturedStacks &all, uint32_t number) {
  const CapturedStacks::Stack &stack = all.stacks.at(number - 1);
  std::string text;
  for (uint32_t n = 0; n < stack.kernel + stack.user; n++) {
    const CapturedFrame &frame = all.frames[all.places[stack.first + n]];
    text += (n ? " " : "") +
            (frame.kind == CapturedFrame::missing ? "-" : std::to_string(frame.address));
  }
  return text;
}

TEST_F(Collector, ShowsWhereFramesMayBeMissing) {
  mappings.map(7, 0, 1000, 2000, 0, {"/a", 1});
  stack(1, {1100 | STACK_GUESSED, 1200, 1300 | STACK_EXACT | STACK_LAST});
  const uint32_t guessed = number(0, 1, 7);
  EXPECT_EQ(text_of(collector.captured(), guessed), "100 - 199 300");
  EXPECT_TRUE(collector.captured().stacks[guessed - 1].gap);
  EXPECT_TRUE(collector.captured().stacks[guessed - 1].whole);
  stack(2, {1100, 1200 | STACK_CUT});
  const uint32_t cut = number(0, 2, 7);
  EXPECT_EQ(text_of(collector.captured(), cut), "100 199");
  EXPECT_FALSE(collector.captured().stacks[cut - 1].gap);
  EXPECT_FALSE(collector.captured().stacks[cut - 1].whole);
  EXPECT_TRUE(collector.captured().stacks[cut - 1].stuck);
}

TEST_F(Collector, ShowsNoCallerWhereThereIsNoCode) {
  mappings.map(7, 0, 1000, 2000, 0, {"/a", 1});
  stack(1, {1100, 9000, 1200 | STACK_LAST});
  const uint32_t astray = number(0, 1, 7);
  EXPECT_EQ(text_of(collector.captured(), astray), "100");
  EXPECT_FALSE(collector.captured().stacks[astray - 1].whole);
}

class UnfinishedStacks : public Collector {
protected:
  UnfinishedStacks()
      : collector([this](uint32_t place) { return slot(place); }, mappings,
                  [this](UnfinishedStack &&stack) {
                    given.push_back(std::move(stack));
                    return takes;
                  }) {
    mappings.map(7, 0, 1000, 2000, 0, {"/a", 1});
  }
  void copy(uint32_t id, uint32_t pid) {
    auto made = std::make_unique<stack_copy>();
    made->image = 77;
    made->pid = pid;
    made->id = id;
    made->count = 1;
    made->pages = 1;
    made->addresses[0] = 1100;
    made->state.sp = 5000;
    made->memory[5000 - 4096] = 42;
    collector.keep(made.get(), sizeof(*made));
  }
  uint32_t number_at(uint64_t time, uint32_t user) {
    return collector.number({time, SCHED_STACK_WORD(SCHED_STACK_OF_PREV, 0, user, 7)});
  }

  StackCollector collector; // hides the one that walks nothing
  std::vector<UnfinishedStack> given;
  bool takes = true;
};

TEST_F(UnfinishedStacks, HaveANumberAndAreCompletedLater) {
  copy(STACK_COPY_FIRST, 7);
  const uint32_t number = number_at(100, STACK_COPY_FIRST);
  ASSERT_NE(number, 0u);
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].number, number);
  EXPECT_EQ(given[0].start, 5000u);
  ASSERT_EQ(given[0].memory.size(), 2 * 4096u - 5000u);
  EXPECT_EQ(given[0].memory[0], 42);
  EXPECT_EQ(given[0].mappings->find(100, 1100).offset, 100u);
  EXPECT_EQ(text_of(collector.captured(), number), "");
  collector.complete(number, {1100, 1200 | STACK_LAST});
  EXPECT_EQ(text_of(collector.captured(), number), "100 199");
  stack(1, {1100, 1200 | STACK_LAST});
  EXPECT_EQ(number_at(200, 1), number) << "the kernel side can walk it now";
  EXPECT_EQ(collector.captured().stacks[number - 1].taken, 2u);
}

TEST_F(UnfinishedStacks, AreNotKnownWithoutTheirCopyOrIfTooManyWait) {
  EXPECT_EQ(number_at(100, STACK_COPY_FIRST), 0u);
  copy(STACK_COPY_FIRST, 8);
  EXPECT_EQ(number_at(100, STACK_COPY_FIRST), 0u) << "of another process";
  takes = false;
  copy(STACK_COPY_FIRST, 7);
  EXPECT_EQ(number_at(100, STACK_COPY_FIRST), 0u);
  EXPECT_EQ(collector.left_out(), 3u);
}

TEST_F(UnfinishedStacks, HaveTheCodeOfTheTimeAtWhichTheyWereTaken) {
  copy(STACK_COPY_FIRST, 7);
  const uint32_t number = number_at(100, STACK_COPY_FIRST);
  mappings.map(7, 200, 1000, 2000, 500, {"/b", 2});
  collector.complete(number, {1100, 1200 | STACK_LAST});
  EXPECT_EQ(text_of(collector.captured(), number), "100 199") << "and not that of now";
}

TEST_F(UnfinishedStacks, CopiesWithoutATransitionAreLimited) {
  for (uint32_t n = 0; n <= StackCollector::kMostCopies; n++)
    copy(STACK_COPY_FIRST + n, 7);
  EXPECT_EQ(number_at(100, STACK_COPY_FIRST), 0u) << "the oldest is gone";
  EXPECT_NE(number_at(100, STACK_COPY_FIRST + 1), 0u);
  EXPECT_NE(number_at(100, STACK_COPY_FIRST + StackCollector::kMostCopies), 0u);
}

TEST_F(UnfinishedStacks, TheOldestCopyIsRemovedAlsoAfterTheNumbersHaveStartedAgain) {
  for (uint32_t n = 0; n < StackCollector::kMostCopies; n++)
    copy(0xffff - n, 7);
  copy(STACK_COPY_FIRST, 7); // the next one
  copy(STACK_COPY_FIRST + 1, 7);
  EXPECT_NE(number_at(100, STACK_COPY_FIRST), 0u);
  EXPECT_NE(number_at(100, STACK_COPY_FIRST + 1), 0u);
  EXPECT_EQ(number_at(100, 0xffff - StackCollector::kMostCopies + 2), 0u) << "one of the oldest";
  EXPECT_NE(number_at(100, 0xffff), 0u);
}

TEST_F(UnfinishedStacks, RulesOfCodeThatWasReplacedAreNotTrusted) {
  stack(1, {1100, 1200 | STACK_LAST});
  copy(STACK_COPY_FIRST, 7);
  number_at(100, STACK_COPY_FIRST);
  const uint32_t before = number_at(150, 1);
  mappings.map(7, 200, 1000, 2000, 0, {"/b", 2});
  std::vector<uint64_t> images;
  collector.replace([&](uint64_t image, uint32_t replacements, uint64_t start, uint64_t end) {
    images.push_back(image);
    EXPECT_EQ(std::pair(start, end), std::pair(uint64_t(1000), uint64_t(2000)));
    EXPECT_EQ(replacements, 1u);
  });
  EXPECT_EQ(images, (std::vector<uint64_t>{77}));
  const uint32_t doubtful = number_at(300, 1), after = number_at(UINT64_MAX, 1);
  EXPECT_EQ(number_at(150, 1), before) << "it was so then";
  EXPECT_EQ(text_of(collector.captured(), doubtful), "100 - 199");
  EXPECT_FALSE(collector.captured().stacks[doubtful - 1].whole);
  EXPECT_EQ(text_of(collector.captured(), after), "100 199");
  EXPECT_NE(after, before) << "in another file";
}

TEST_F(Collector, ShowsThatMappingsAreNotKnown) {
  mappings.map(7, 0, 1000, 2000, 0, {"/a", 1});
  stack(1, {1100, 1200, 1300 | STACK_LAST});
  const uint32_t before = number(0, 1, 7); // at 100
  EXPECT_EQ(text_of(collector.captured(), before), "100 199 299");
  mappings.miss(150);
  const uint32_t after = number(0, 1, 7);
  EXPECT_EQ(text_of(collector.captured(), after), "100 - 199 - 299");
  EXPECT_FALSE(collector.captured().stacks[after - 1].whole);
}

TEST_F(UnfinishedStacks, TheSameFileAtTheSamePlaceReplacesNothing) {
  mappings.map(7, 200, 1000, 2000, 0, {"/a", 1});
  mappings.map(7, 200, 2000, 3000, 0, {"/b", 2});
  EXPECT_EQ(mappings.replacements(mappings.life(7, 200), 300), 0u);
  mappings.fork(8, 7, 300);
  mappings.map(8, 400, 1500, 1600, 0, {"/c", 3});
  EXPECT_EQ(mappings.replacements(mappings.life(8, 400), 399), 0u);
  EXPECT_EQ(mappings.replacements(mappings.life(8, 400), 400), 1u) << "what its parent had";
  const auto code = mappings.code(mappings.life(8, 400));
  EXPECT_EQ(code->find(400, 1500).file->path, "/c");
  EXPECT_EQ(code->find(399, 1500).file->path, "/a");
  EXPECT_EQ(code->find(400, 1600).file->path, "/a");
  EXPECT_FALSE(code->find(400, 9000).known);
}

AddressNames kernel_names(const std::string &text) {
  test::TempDir dir;
  test::TraceBuilder::write_file(dir.path() + "/kallsyms", text.data(), text.size());
  const UniqueFd file(open((dir.path() + "/kallsyms").c_str(), O_RDONLY));
  return AddressNames::of_kernel(file.get());
}

TEST(AddressNames, KernelNamesAreItsCodeWithModules) {
  const AddressNames names = kernel_names("1000 T first\n1800 D data\n2000 t second\t[ext4]\n"
                                          "nonsense\n\n3000 W last\n0 T hidden\n");
  EXPECT_EQ(names.find(0xfff).name, "");
  EXPECT_EQ(names.find(0x1000).name, "first");
  EXPECT_EQ(names.find(0x1fff).name, "first");
  EXPECT_EQ(names.find(0x1fff).offset, 0xfffu);
  EXPECT_EQ(names.find(0x2001).name, "second");
  EXPECT_EQ(names.find(0x2001).module, "[ext4]");
  EXPECT_EQ(names.find(0x3000).name, "last");
  EXPECT_TRUE(kernel_names("0 T all\n0 T hidden\n").empty());
}

TEST(Demangle, KnowsCppAndBothManglingsOfRust) {
  EXPECT_EQ(demangle("_ZN3app6Worker4stepEi"), "app::Worker::step");
  EXPECT_EQ(demangle("_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE"),
            "core::ops::function::FnOnce::call_once");
  EXPECT_EQ(demangle("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
  EXPECT_EQ(demangle("main"), "main");
  EXPECT_EQ(demangle("_ZN"), "_ZN");
  EXPECT_EQ(demangle(std::string(10000, 'x')).size(), 4096u);
}

TEST(StackOption, IsAListAndBothPartsByDefault) {
  constexpr uint32_t kBoth = STACKS_KERNEL | STACKS_USER;
  EXPECT_EQ(parse_stacks("blocks"), kBoth);
  EXPECT_EQ(parse_stacks("kernel"), uint32_t(STACKS_KERNEL));
  EXPECT_EQ(parse_stacks("wakeup,preempt"), kBoth | STACKS_WAKEUP | STACKS_PREEMPT);
  EXPECT_EQ(parse_stacks("user,wakeup"), uint32_t(STACKS_USER | STACKS_WAKEUP));
  EXPECT_THROW(parse_stacks("kernel,"), Error);
  EXPECT_THROW(parse_stacks("all"), Error);
  EXPECT_EQ(stacks_text(kBoth | STACKS_WAKEUP), "kernel,user,wakeup");
  EXPECT_EQ(stacks_text(0), "none");
}

} // namespace
} // namespace ovnitrace
