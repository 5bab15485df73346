// SPDX-License-Identifier: BSD-2-Clause
// Stacks that the kernel side could not walk, and the rules that it gets: user/stacks/unwinder.
#include "user/stacks/unwinder.h"

#include "emulator/base/clock.h"
#include "emulator/symbols/call_frames.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <map>

namespace ovnitrace {
namespace {

#if defined(__x86_64__)

using Addresses = std::vector<__u64>;

constexpr uint64_t kImage = 77, kCode = 0x400000, kStack = 0x10000;

class UnwinderTest : public testing::Test {
protected:
  UnwinderTest() { mappings_.map(7, 10, kCode, kCode + 0x1000, 0, {"", 0}); }

  /// A stack that was taken at 20 in the first instruction of the code.
  UnfinishedStack stack(uint32_t number, size_t bytes, uint64_t start = kStack) {
    UnfinishedStack stack;
    stack.number = number;
    stack.head.image = kImage;
    stack.head.pid = 7;
    stack.head.count = 1;
    stack.head.addresses[0] = kCode | STACK_EXACT;
    stack.head.state.pc = kCode;
    stack.head.state.exact = 1;
    stack.head.state.sp = start;
    stack.head.state.bp = start;
    stack.memory.resize(bytes);
    stack.start = start;
    stack.mappings = mappings_.code(mappings_.life(7, 10));
    stack.time = 20;
    return stack;
  }
  static void put(UnfinishedStack &stack, uint64_t address, uint64_t word) {
    std::memcpy(stack.memory.data() + (address - stack.start), &word, sizeof(word));
  }
  /// A frame with a frame pointer, and where it returns to.
  static void put_frame(UnfinishedStack &stack, uint64_t at, uint64_t next, uint64_t address) {
    put(stack, at, next);
    put(stack, at + 8, address);
  }
  Addresses walk(UnfinishedStack &&stack) {
    const uint32_t number = stack.number;
    if (!std::exchange(runs_, true))
      unwinder_.start();
    EXPECT_TRUE(unwinder_.add(std::move(stack)));
    unwinder_.finish();
    return walked_[number];
  }
  uint64_t rule(uint64_t address) const { return table_.find(kImage, address); }

  std::vector<unwind_slot> slots_ = std::vector<unwind_slot>(UNWIND_RULES);
  std::vector<unwind_ask> asks_ = std::vector<unwind_ask>(UNWIND_ASKS);
  const UnwindTable table_{slots_.data(), asks_.data()};
  Mappings mappings_;
  CodeFiles files_;
  std::map<uint32_t, Addresses> walked_;
  Unwinder unwinder_{UnwindTable(slots_.data(), asks_.data()), files_,
                     [this](uint32_t number, const Addresses &all) { walked_[number] = all; }};
  bool runs_ = false;
};

TEST_F(UnwinderTest, CodeInNoFileIsWalkedByFramePointersAndTheKernelGetsTheRules) {
  UnfinishedStack three = stack(5, 64);
  put_frame(three, kStack, kStack + 32, kCode + 0x200);
  put_frame(three, kStack + 32, kStack + 48, kCode + 0x300);
  EXPECT_EQ(walk(std::move(three)),
            (Addresses{kCode | STACK_EXACT | STACK_GUESSED, (kCode + 0x200) | STACK_GUESSED,
                       (kCode + 0x300) | STACK_CUT}));
  EXPECT_EQ(rule(kCode), uint64_t(UNWIND_GUESS));
  EXPECT_EQ(rule(kCode + 0x1ff), uint64_t(UNWIND_GUESS)) << "in the call, not behind it";
  EXPECT_EQ(rule(kCode + 0x200), uint64_t(UNWIND_UNKNOWN));
  EXPECT_EQ(table_.find(kImage + 1, kCode), uint64_t(UNWIND_UNKNOWN)) << "of another image";
}

TEST_F(UnwinderTest, FramesThatTheKernelFoundComeFirst) {
  UnfinishedStack two = stack(5, 16);
  two.head.count = 2;
  two.head.addresses[1] = two.head.addresses[0];
  two.head.addresses[0] = 0x300000;
  put_frame(two, kStack, 0, 0x900000);
  EXPECT_EQ(walk(std::move(two)),
            (Addresses{0x300000, kCode | STACK_EXACT | STACK_GUESSED, 0x900000 | STACK_CUT}))
      << "to where nothing is mapped";
  EXPECT_EQ(rule(0x8fffff), uint64_t(UNWIND_UNKNOWN));
}

TEST_F(UnwinderTest, CodeThatWasMappedLaterIsNotKnown) {
  UnfinishedStack early = stack(5, 16);
  early.time = 9;
  put_frame(early, kStack, 0, kCode + 0x200);
  EXPECT_EQ(walk(std::move(early)), Addresses{kCode | STACK_EXACT | STACK_CUT});
}

TEST_F(UnwinderTest, AFileThatCannotBeOpenedEndsTheWalk) {
  mappings_.map(7, 10, kCode, kCode + 0x1000, 0, {"/nowhere/at/all", 1});
  UnfinishedStack one = stack(5, 16);
  put_frame(one, kStack, 0, kCode + 0x200);
  EXPECT_EQ(walk(std::move(one)), Addresses{kCode | STACK_EXACT | STACK_CUT});
  EXPECT_EQ(rule(kCode), uint64_t(UNWIND_STOP));
}

// It is in no file system.
TEST_F(UnwinderTest, TheCodeOfTheKernelForProgramsHasTheRulesOfItsCallFrames) {
  const auto frames = CallFrames::open_vdso();
  if (!frames)
    GTEST_SKIP() << "this kernel has none";
  uint64_t offset = 0; // of the first instruction of a function
  while (UNWIND_KIND(frames->rule_at(offset, true)) != uint32_t(UNWIND_SP))
    ASSERT_LT(++offset, 0x10000u);
  mappings_.map(7, 10, kCode, kCode + 0x10000, 0, {CallFrames::kVdso, 0});
  UnfinishedStack one = stack(5, 16);
  one.head.addresses[0] = (kCode + offset) | STACK_EXACT;
  one.head.state.pc = kCode + offset;
  walk(std::move(one));
  EXPECT_EQ(rule(kCode + offset), frames->rule_at(offset, true));
}

TEST_F(UnwinderTest, TheMemoryIsReadToItsLastByte) {
  const Addresses whole = {kCode | STACK_EXACT | STACK_GUESSED, (kCode + 0x200) | STACK_CUT},
                  cut = {kCode | STACK_EXACT | STACK_CUT};
  for (const size_t bytes : {16, 15, 7, 0}) {
    UnfinishedStack one = stack(5, 16);
    put_frame(one, kStack, 0, kCode + 0x200);
    one.memory.resize(bytes);
    EXPECT_EQ(walk(std::move(one)), bytes == 16 ? whole : cut) << bytes;
  }
  UnfinishedStack below = stack(5, 16);
  put_frame(below, kStack, 0, kCode + 0x200);
  below.head.state.sp = below.head.state.bp = kStack - 8;
  EXPECT_EQ(walk(std::move(below)), cut) << "before its first byte";
}

TEST_F(UnwinderTest, PagesThatCouldNotBeReadAreNotTakenForZeros) {
  const uint64_t start = kStack + STACK_COPY_PAGE - 16; // a page has 16 bytes of the memory
  for (const uint32_t absent : {0u, 1u, 2u, 4u}) {
    UnfinishedStack two = stack(5, 64, start);
    two.head.absent = absent;
    put_frame(two, start, start + 32, kCode + 0x200);
    put_frame(two, start + 32, 0, kCode + 0x300);
    EXPECT_EQ(walk(std::move(two)).size(), absent == 1 ? 1u : absent == 2 ? 2u : 3u) << absent;
  }
}

TEST_F(UnwinderTest, AStackHasALimitedDepth) {
  UnfinishedStack deep = stack(5, 4096);
  for (uint64_t at = kStack; at < kStack + 4080; at += 16)
    put_frame(deep, at, at + 16, kCode + 0x200);
  const Addresses all = walk(std::move(deep));
  EXPECT_EQ(all.size(), size_t(CAPTURE_STACK_DEPTH));
  EXPECT_EQ(all.back(), (kCode + 0x200) | STACK_GUESSED);
}

TEST_F(UnwinderTest, ForgottenRulesComeFromLaterStacksOnly) {
  const auto walk_one = [this](uint32_t epoch) {
    UnfinishedStack one = stack(5, 16);
    one.epoch = epoch;
    put_frame(one, kStack, 0, kCode + 0x200);
    EXPECT_EQ(walk(std::move(one)).size(), 2u);
  };
  walk_one(0);
  unwinder_.forget(kImage, 2, kCode + 1, kCode + 0x1000);
  EXPECT_EQ(rule(kCode), uint64_t(UNWIND_GUESS)) << "beside it";
  unwinder_.forget(kImage, 2, kCode, kCode + 0x1000);
  EXPECT_EQ(rule(kCode), uint64_t(UNWIND_UNKNOWN));
  walk_one(1);
  EXPECT_EQ(rule(kCode), uint64_t(UNWIND_UNKNOWN));
  walk_one(2);
  EXPECT_EQ(rule(kCode), uint64_t(UNWIND_GUESS));
}

// A child finds the rules of stacks that wait together.
TEST_F(UnwinderTest, EachImageAndEachEpochHasItsOwnRules) {
  const auto add = [&](uint32_t number, uint64_t image, uint32_t epoch) {
    UnfinishedStack one = stack(number, 16);
    one.head.image = image;
    one.epoch = epoch;
    put_frame(one, kStack, 0, kCode + 0x200);
    EXPECT_TRUE(unwinder_.add(std::move(one)));
  };
  add(1, kImage, 0);
  mappings_.map(7, 11, kCode, kCode + 0x1000, 0, {"/nowhere/at/all", 1});
  add(2, kImage, 1);
  add(3, kImage + 1, 0);
  runs_ = true;
  unwinder_.start();
  unwinder_.finish();
  EXPECT_EQ(walked_[1].size(), 2u);
  EXPECT_EQ(walked_[2].size(), 1u) << "of the file that is there now";
  EXPECT_EQ(walked_[3].size(), 1u);
  EXPECT_EQ(table_.find(kImage + 1, kCode), uint64_t(UNWIND_STOP));
}

TEST_F(UnwinderTest, ALimitedNumberOfStacksWaits) {
  for (uint32_t n = 0; n < 1024; n++)
    ASSERT_TRUE(unwinder_.add(stack(n, 0))) << n;
  EXPECT_FALSE(unwinder_.add(stack(1024, 0)));
  runs_ = true;
  unwinder_.start();
  unwinder_.finish();
  EXPECT_EQ(walked_.size(), 1024u);
  EXPECT_EQ(walked_[1023], Addresses{kCode | STACK_EXACT | STACK_CUT});
}

TEST_F(UnwinderTest, AFileHasTheRulesOfItsCallFrames) {
  const test::TempDir dir;
  const std::string path = dir / "code.so";
  std::ofstream(dir / "code.s") << R"(
.text
.type f, @function
f: .cfi_startproc
  call f
  push %rbx
  .cfi_def_cfa_offset 16
  nop
  ret
  .cfi_endproc
.size f, .-f
.section .note.GNU-stack,"",@progbits
)";
  const std::string build = "gcc -shared -nostdlib " + (dir / "code.s") + " -o " + path;
  ASSERT_EQ(std::system(build.c_str()), 0);
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  const uint64_t now = monotonic_ns();
  const uint32_t pid = uint32_t(getpid());
  mappings_.map(pid, now, kCode, kCode + 0x1000, 0x1000, {path, status.st_ino, status.st_dev});
  UnfinishedStack one = stack(5, 32);
  one.head.pid = pid;
  one.mappings = mappings_.code(mappings_.life(pid, now));
  one.time = now;
  one.head.addresses[0] = (kCode + 6) | STACK_EXACT;
  one.head.state.pc = kCode + 6;   // behind the push
  put(one, kStack + 8, kCode + 5); // behind the call
  EXPECT_EQ(walk(std::move(one)), (Addresses{(kCode + 6) | STACK_EXACT, (kCode + 5) | STACK_LAST}))
      << "its caller returns nowhere";
  EXPECT_EQ(UNWIND_KIND(rule(kCode + 6)), uint32_t(UNWIND_SP));
  EXPECT_EQ(UNWIND_OFFSET(rule(kCode + 6)), 16);
  EXPECT_EQ(UNWIND_OFFSET(rule(kCode + 4)), 8);
}

#endif

} // namespace
} // namespace ovnitrace
