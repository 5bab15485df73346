// SPDX-License-Identifier: BSD-2-Clause
// The walk from a frame to its caller on arm64.
#include "tests/unit/support/word_memory.h"

#include <gtest/gtest.h>
#include <ovnitrace/unwind.h>

#include <csignal>
#include <cstddef>
#include <random>
#include <utility>

namespace ovnitrace {
namespace {

using test::read_word;
using Words = test::WordMemory;

constexpr uint64_t kLeaf = UNWIND_RULE_ARM64(UNWIND_SP, 0, UNWIND_BP_KEPT, 0, 0);
/// stp x29, x30, [sp, #-32]!
constexpr uint64_t kPushed = UNWIND_RULE_ARM64(UNWIND_SP, 32, UNWIND_BP_SAVED, 3, 1);

class UnwindStepsArm64 : public ::testing::Test {
protected:
  uint64_t step(uint64_t rule) { return unwind_step_arm64(rule, &state, read_word, &memory); }
  uint64_t frame_pointer() {
    EXPECT_EQ(unwind_need_bp(&state, read_word, &memory), 0);
    return state.bp;
  }
  /// Takes a step, and goes back.
  uint64_t try_step(uint64_t rule) {
    const unwind_state before = state;
    const uint64_t marks = step(rule);
    state = before;
    return marks;
  }

  unwind_state state = {.pc = 0x401000,
                        .sp = 0x7000,
                        .bp = 0x7100,
                        .link = 0x405000,
                        .highest = (1ull << 48) - 1,
                        .exact = 1,
                        .has_bp = UNWIND_BP_HERE,
                        .sp_is_low = 0,
                        .unused = 0};
  Words memory;
};

TEST_F(UnwindStepsArm64, TakeTheLinkRegisterOfTheInnermostFrameOnly) {
  EXPECT_EQ(step(kLeaf), 0u);
  EXPECT_EQ(state.pc, 0x405000u);
  EXPECT_EQ(state.sp, 0x7000u);
  EXPECT_EQ(state.bp, 0x7100u);
  EXPECT_EQ(unwind_address(&state), 0x404fffu) << "in the call, not behind it";
  EXPECT_EQ(step(kLeaf), STACK_CUT) << "the caller has called, so the register has changed";
}

TEST_F(UnwindStepsArm64, FollowTheStackPointer) {
  memory = {{0x7000, 0x7200}, {0x7008, 0x402000}};
  EXPECT_EQ(step(kPushed), 0u);
  EXPECT_EQ(state.pc, 0x402000u);
  EXPECT_EQ(state.sp, 0x7020u);
  EXPECT_EQ(frame_pointer(), 0x7200u);
}

TEST_F(UnwindStepsArm64, FollowTheFramePointer) {
  memory = {{0x7100, 0x7200}, {0x7108, 0x402000}};
  EXPECT_EQ(step(UNWIND_RULE_ARM64(UNWIND_BP, 64, UNWIND_BP_SAVED, 7, 1)), 0u);
  EXPECT_EQ(state.sp, 0x7140u);
  EXPECT_EQ(frame_pointer(), 0x7200u);
}

TEST_F(UnwindStepsArm64, FindAFramePointerOnEitherSideOfTheReturnAddress) {
  memory = {{0x7018, 0x7200}, {0x7008, 0x402000}};
  const unwind_state before = state;
  EXPECT_EQ(step(UNWIND_RULE_ARM64(UNWIND_SP, 32, UNWIND_BP_SAVED, 3, -2)), 0u);
  EXPECT_EQ(frame_pointer(), 0x7200u);
  state = before;
  EXPECT_EQ(step(UNWIND_RULE_ARM64(UNWIND_SP, 32, UNWIND_BP_SAVED, 0, 1)), 0u);
  EXPECT_EQ(state.pc, 0x405000u) << "only the frame pointer is saved yet";
  EXPECT_EQ(frame_pointer(), 0x7200u);
}

TEST_F(UnwindStepsArm64, GoFromASignalToTheInstructionThatItInterrupted) {
  memory = {{0x7000 + 544, 0x7500},
            {0x7000 + 552, 0x406000},
            {0x7000 + 560, 0x6000},
            {0x7000 + 568, 0x403000}};
  state.exact = 0;
  state.link = 0;
  state.has_bp = UNWIND_BP_GONE;
  EXPECT_EQ(step(UNWIND_SIGNAL), STACK_EXACT) << "nothing called the frame of the signal";
  EXPECT_EQ(state.sp, 0x6000u) << "from a stack of its own";
  EXPECT_EQ(state.bp, 0x7500u);
  EXPECT_EQ(state.has_bp, uint32_t(UNWIND_BP_HERE));
  EXPECT_EQ(unwind_address(&state), 0x403000u);
  EXPECT_EQ(step(kLeaf), 0u) << "all its registers are known";
  EXPECT_EQ(state.pc, 0x406000u);
}

#if defined(__aarch64__)
TEST_F(UnwindStepsArm64, KnowTheKernelsFrameOfASignal) {
  const size_t frame = sizeof(siginfo_t), context = frame + offsetof(ucontext_t, uc_mcontext);
  EXPECT_EQ(context + offsetof(mcontext_t, regs) + 29 * 8, size_t(UNWIND_SIGNAL_X29));
  EXPECT_EQ(context + offsetof(mcontext_t, regs) + 30 * 8, size_t(UNWIND_SIGNAL_X30));
  EXPECT_EQ(context + offsetof(mcontext_t, sp), size_t(UNWIND_SIGNAL_SP));
  EXPECT_EQ(context + offsetof(mcontext_t, pc), size_t(UNWIND_SIGNAL_PC));
}
#endif

/// The bits of a signature are those from the size of the program's addresses up to bit 54.
TEST_F(UnwindStepsArm64, RemoveTheSignatureOfAReturnAddress) {
  memory = {{0x7000, 0x7200}, {0x7008, 0x402000 | 0x5aull << 48}};
  const unwind_state before = state;
  EXPECT_EQ(step(kPushed), 0u);
  EXPECT_EQ(state.pc, 0x402000u);
  state = before;
  state.link |= 0x25ull << 48;
  EXPECT_EQ(step(kLeaf), 0u);
  EXPECT_EQ(state.pc, 0x405000u);
  state = before;
  state.highest = (1ull << 39) - 1;
  state.link |= 0xabcdull << 39;
  EXPECT_EQ(step(kLeaf), 0u);
  EXPECT_EQ(state.pc, 0x405000u);
}

TEST_F(UnwindStepsArm64, GuessByFramePointersUntilTheStackPointerIsKnown) {
  memory = {{0x7100, 0x7200},   {0x7108, 0x402000}, {0x7200, 0x7300},
            {0x7208, 0x403000}, {0x7300, 0x7400},   {0x7308, 0x404000}};
  EXPECT_EQ(step(UNWIND_GUESS), STACK_GUESSED);
  EXPECT_EQ(state.pc, 0x402000u);
  EXPECT_EQ(try_step(UNWIND_SIGNAL), STACK_CUT) << "it is at the stack pointer";
  EXPECT_EQ(step(kPushed), STACK_GUESSED) << "where the stack pointer was is not known";
  EXPECT_EQ(state.pc, 0x403000u);
  EXPECT_EQ(step(UNWIND_RULE_ARM64(UNWIND_BP, 32, UNWIND_BP_SAVED, 3, 1)), 0u);
  EXPECT_EQ(state.pc, 0x404000u);
  EXPECT_EQ(state.sp, 0x7320u);
  EXPECT_EQ(state.sp_is_low, 0u);
}

TEST_F(UnwindStepsArm64, GuessNothingFarFromTheStackPointer) {
  memory = {{0x6ff0, 0x7200}, {0x6ff8, 0x402000}, {0x207000, 0x207100}, {0x207008, 0x402000}};
  state.bp = 0x6ff0;
  EXPECT_EQ(try_step(UNWIND_GUESS), STACK_CUT) << "below the stack";
  state.bp = 0x207000;
  EXPECT_EQ(try_step(UNWIND_GUESS), STACK_CUT) << "too far above it";
}

TEST_F(UnwindStepsArm64, GuessUpToAMebibyteAboveTheStackPointer) {
  const auto guess = [&](uint64_t bp) {
    state.bp = bp;
    memory = {{bp, 0x9000}, {bp + 8, 0x402000}};
    return try_step(UNWIND_GUESS);
  };
  EXPECT_EQ(guess(0x7000), STACK_GUESSED);
  EXPECT_EQ(guess(0x7000 + (1 << 20)), STACK_GUESSED);
  EXPECT_EQ(guess(0x7000 + (1 << 20) + 8), STACK_CUT);
  EXPECT_EQ(guess(0x7004), STACK_CUT) << "no address of a word";
}

TEST_F(UnwindStepsArm64, TakeOnlyAddressesThatAProgramCanHave) {
  const auto returns_to = [&](uint64_t pc) {
    state.link = pc;
    return try_step(kLeaf);
  };
  EXPECT_EQ(returns_to((1ull << 55) - 1), 0u);
  EXPECT_EQ(returns_to(1ull << 55 | 0x402000), STACK_CUT);
  EXPECT_EQ(returns_to(1ull << 48), STACK_CUT) << "nothing but a signature";
  EXPECT_EQ(returns_to(1), 0u);
  const auto signal_at = [&](uint64_t pc) {
    memory = {{0x7000 + 544, 0x7500},
              {0x7000 + 552, 0x406000},
              {0x7000 + 560, 0x6000},
              {0x7000 + 568, pc}};
    return try_step(UNWIND_SIGNAL);
  };
  EXPECT_EQ(signal_at((1ull << 48) - 1), STACK_EXACT);
  EXPECT_EQ(signal_at(1ull << 48), STACK_EXACT | STACK_CUT);
  EXPECT_EQ(signal_at(0), STACK_EXACT | STACK_CUT);
}

TEST_F(UnwindStepsArm64, EndWhereAThreadStarts) {
  EXPECT_EQ(step(UNWIND_END), STACK_LAST);
  EXPECT_EQ(step(UNWIND_ENTRY), STACK_LAST | STACK_EXACT);
  memory = {{0x7008, 0}, {0x7100, 0}, {0x7108, 0}};
  EXPECT_EQ(step(kPushed), STACK_LAST) << "returns nowhere";
  EXPECT_EQ(step(UNWIND_GUESS), STACK_CUT) << "a guess proves nothing";
}

TEST_F(UnwindStepsArm64, StopRatherThanGoAstray) {
  memory = {{0x7008, 1ull << 55}, {0x6fe8, 0x402000}, {0x6ff8, 0x402000}};
  const std::pair<uint64_t, const char *> cases[] = {
      {UNWIND_STOP, "no rule can say"},
      {UNWIND_PLT, "a rule of x86-64"},
      {15, "no such rule"},
      {kPushed, "no address of a program"},
      {UNWIND_RULE_ARM64(UNWIND_SP, 0, 0, 1, 0), "the stack pointer stays, and is no leaf's"},
      {UNWIND_RULE_ARM64(UNWIND_SP, -16, 0, 1, 0), "it falls"},
      {UNWIND_RULE_ARM64(UNWIND_SP, -16, 0, 0, 0), "it falls in a leaf"},
      {UNWIND_RULE_ARM64(UNWIND_SP, 64, 0, 1, 0), "nothing to read there"},
      {UNWIND_SIGNAL, "no registers to read"},
  };
  for (const auto &[rule, what] : cases)
    EXPECT_EQ(try_step(rule), STACK_CUT) << what;
  EXPECT_EQ(step(UNWIND_RULE_ARM64(UNWIND_SP, 0, UNWIND_BP_LOST, 0, 0)), 0u);
  EXPECT_EQ(step(UNWIND_RULE_ARM64(UNWIND_BP, 16, 0, 1, 0)), STACK_CUT)
      << "the frame pointer is lost";
}

/// Whatever rules a hostile file has: a walk ends, as each step goes up, except those of a signal
/// and of the link register.
TEST_F(UnwindStepsArm64, GoUpWhateverTheRule) {
  std::mt19937_64 random(7);
  for (uint64_t address = 0x7000; address < 0x7800; address += 8)
    memory[address] = random() % 2 ? 0x7000 + random() % 0x400 : random() % 0x500000;
  state.exact = 0;
  for (int n = 0; n < 20000; n++) {
    state.sp = 0x7000 + random() % 64 * 8;
    state.bp = 0x7000 + random() % 64 * 8;
    state.link = random() % 2 ? 0 : 0x402000;
    state.sp_is_low = random() % 2;
    const unwind_state before = state;
    const uint64_t rule = random() << 32 >> 24 | random() % 16;
    const uint64_t marks = step(rule);
    if (marks & (STACK_LAST | STACK_CUT) || UNWIND_KIND(rule) == UNWIND_SIGNAL)
      state = before;
    else if (before.link)
      ASSERT_GE(state.sp, before.sp) << rule;
    else
      ASSERT_GT(state.sp, before.sp) << rule;
  }
}

} // namespace
} // namespace ovnitrace
