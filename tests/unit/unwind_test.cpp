// SPDX-License-Identifier: BSD-2-Clause
// The walk from a frame to its caller, and the table of its rules.
#include "user/stacks/unwind_table.h"

#include "tests/unit/support/word_memory.h"

#include <gtest/gtest.h>
#include <ovnitrace/unwind.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>

namespace ovnitrace {
namespace {

using test::read_word;
using Memory = test::WordMemory;

class UnwindSteps : public ::testing::Test {
protected:
  uint64_t step(uint64_t rule) { return unwind_step_x86(rule, &state, read_word, &memory); }
  uint64_t bp() {
    EXPECT_EQ(unwind_need_bp(&state, read_word, &memory), 0);
    return state.bp;
  }

  unwind_state state = {.pc = 0x401000,
                        .sp = 0x7000,
                        .bp = 0x7100,
                        .link = 0,
                        .highest = 0,
                        .exact = 1,
                        .has_bp = UNWIND_BP_HERE,
                        .sp_is_low = 0,
                        .unused = 0};
  Memory memory;
};

TEST_F(UnwindSteps, FollowTheStackPointer) {
  memory = {{0x7018, 0x402000}};
  EXPECT_EQ(step(UNWIND_RULE(UNWIND_SP, 32, UNWIND_BP_KEPT, 0)), 0u);
  EXPECT_EQ(state.pc, 0x402000u);
  EXPECT_EQ(state.sp, 0x7020u);
  EXPECT_EQ(state.bp, 0x7100u);
  EXPECT_EQ(unwind_address(&state), 0x401fffu) << "in the call, not behind it";
}

TEST_F(UnwindSteps, FollowTheFramePointerAndRestoreIt) {
  memory = {{0x7108, 0x402000}, {0x7100, 0x7200}};
  EXPECT_EQ(step(UNWIND_RULE(UNWIND_BP, 16, UNWIND_BP_SAVED, 2)), 0u);
  EXPECT_EQ(state.sp, 0x7110u);
  EXPECT_EQ(bp(), 0x7200u);
}

TEST_F(UnwindSteps, ReadTheEndOfTheFrameFromMemory) {
  memory = {{0x70f8, 0x7300}, {0x72f8, 0x402000}, {0x7100, 0x7400}};
  EXPECT_EQ(step(UNWIND_RULE(UNWIND_AT_BP, -8, UNWIND_BP_AT_BP, 0)), 0u);
  EXPECT_EQ(state.sp, 0x7300u);
  EXPECT_EQ(bp(), 0x7400u);
}

// The caller's rule may be another than the one that found the end of the frame.
TEST_F(UnwindSteps, NeedTheFramePointerWhereTheCallersIsStored) {
  memory = {{0x7018, 0x402000}, {0x7100, 0x7200}, {0x7200, 0x7300}};
  const uint64_t rule = UNWIND_RULE(UNWIND_SP, 32, UNWIND_BP_AT_BP, 0);
  state.has_bp = UNWIND_BP_STORED;
  EXPECT_EQ(step(rule), 0u);
  EXPECT_EQ(bp(), 0x7300u);
  state.has_bp = UNWIND_BP_GONE;
  EXPECT_EQ(step(rule), uint64_t(STACK_CUT));
}

TEST_F(UnwindSteps, GoFromASignalToTheInstructionThatItInterrupted) {
  memory = {{0x7000 + 168, 0x403000}, {0x7000 + 120, 0x7500}, {0x7000 + 160, 0x6000}};
  state.exact = 0;
  state.has_bp = UNWIND_BP_GONE;
  EXPECT_EQ(step(UNWIND_SIGNAL), STACK_EXACT) << "nothing called the frame of the signal";
  EXPECT_EQ(state.sp, 0x6000u) << "from a stack of its own";
  EXPECT_EQ(state.bp, 0x7500u);
  EXPECT_EQ(state.has_bp, uint32_t(UNWIND_BP_HERE));
  EXPECT_EQ(unwind_address(&state), 0x403000u);
}

TEST_F(UnwindSteps, KnowHowFarAnEntryOfALinkageTableCame) {
  memory = {{0x7000, 0x402000}, {0x7008, 0x403000}};
  unwind_state before = state;
  state.pc = 0x40100a;
  EXPECT_EQ(step(UNWIND_PLT), 0u);
  EXPECT_EQ(state.pc, 0x402000u);
  state = before;
  state.pc = 0x40100b;
  EXPECT_EQ(step(UNWIND_PLT), 0u);
  EXPECT_EQ(state.pc, 0x403000u);
}

TEST_F(UnwindSteps, MarkAFrameThatWasGuessed) {
  memory = {{0x7108, 0x402000}, {0x7100, 0x7200}};
  EXPECT_EQ(step(UNWIND_GUESS), STACK_GUESSED);
  EXPECT_EQ(state.pc, 0x402000u);
  state.has_bp = UNWIND_BP_HERE;
  state.bp = state.sp - 8;
  EXPECT_EQ(step(UNWIND_GUESS), STACK_CUT) << "below the stack";
  state.bp = state.sp + (2 << 20);
  memory = {{state.bp, 0}, {state.bp + 8, 0x402000}};
  EXPECT_EQ(step(UNWIND_GUESS), STACK_CUT) << "too far above it";
}

TEST_F(UnwindSteps, GuessUpToAMebibyteAboveTheStackPointer) {
  const auto guess = [&](uint64_t bp) {
    state.sp = 0x7000;
    state.bp = bp;
    state.has_bp = UNWIND_BP_HERE;
    memory = {{bp, 0x9000}, {bp + 8, 0x402000}};
    return step(UNWIND_GUESS);
  };
  EXPECT_EQ(guess(0x7000), STACK_GUESSED);
  EXPECT_EQ(state.sp, 0x7010u);
  EXPECT_EQ(bp(), 0x9000u) << "the caller's is where it pointed";
  EXPECT_EQ(guess(0x7000 + (1 << 20)), STACK_GUESSED);
  EXPECT_EQ(guess(0x7000 + (1 << 20) + 8), STACK_CUT);
  EXPECT_EQ(guess(0x7004), STACK_CUT) << "no address of a word";
}

TEST_F(UnwindSteps, TakeOnlyAddressesThatAProgramCanHave) {
  const auto returns_to = [&](uint64_t pc) {
    state.sp = 0x7000;
    state.link = 5;
    state.exact = 1;
    memory = {{0x7000, pc}};
    return step(UNWIND_RULE(UNWIND_SP, 8, UNWIND_BP_KEPT, 0));
  };
  EXPECT_EQ(returns_to((1ull << 47) - 1), 0u);
  EXPECT_EQ(state.link, 0u) << "it was the innermost frame's";
  EXPECT_EQ(state.exact, 0u);
  EXPECT_EQ(returns_to(1ull << 47), STACK_CUT);
  EXPECT_EQ(returns_to(UINT64_MAX), STACK_CUT);
  EXPECT_EQ(returns_to(1), 0u);
  for (const uint64_t pc : {uint64_t(0), uint64_t(1) << 47}) {
    memory = {{0x7000 + 168, pc}, {0x7000 + 120, 0x7500}, {0x7000 + 160, 0x6000}};
    state.sp = 0x7000;
    EXPECT_EQ(step(UNWIND_SIGNAL), STACK_EXACT | STACK_CUT) << pc;
  }
  memory = {{0x7000 + 168, 1}, {0x7000 + 120, 0x7500}, {0x7000 + 160, 0x6000}};
  state.sp = 0x7000;
  state.link = 5;
  EXPECT_EQ(step(UNWIND_SIGNAL), STACK_EXACT);
  EXPECT_EQ(state.link, 0u);
}

TEST(UnwindRules, HaveTheirPartsInAWord) {
  const uint64_t rule = UNWIND_RULE(UNWIND_AT_BP, -24, UNWIND_BP_AT_BP, 0xfffe);
  EXPECT_EQ(UNWIND_KIND(rule), uint32_t(UNWIND_AT_BP));
  EXPECT_EQ(UNWIND_OFFSET(rule), -24);
  EXPECT_EQ(UNWIND_BP_RULE(rule), uint32_t(UNWIND_BP_AT_BP));
  EXPECT_EQ(UNWIND_BP_WORDS(rule), 0xfffeu);
}

// Two that differ in anything are two.
TEST(UnwindKeys, AreThoseOfOneAddressOfOneImage) {
  const std::set<uint64_t> images = {unwind_image(1, 2, 3), unwind_image(2, 1, 3),
                                     unwind_image(1, 3, 2), unwind_image(1, 2, 4),
                                     unwind_image(1, 2, 3)};
  EXPECT_EQ(images.size(), 4u);
  const std::set<uint64_t> keys = {unwind_key(1, 0x1000), unwind_key(2, 0x1000),
                                   unwind_key(1, 0x1004), unwind_key(0x1000, 4),
                                   unwind_key(1, 0x1000)};
  EXPECT_EQ(keys.size(), 4u);
  for (uint64_t address = 0; address < 1000; address++)
    EXPECT_GT(unwind_key(7, address), uint64_t(UNWIND_REMOVED)) << "these mean that a slot is free";
}

TEST_F(UnwindSteps, FindAReturnAddressInARegisterOfTheInnermostFrame) {
  state.link = 0x402000;
  const uint64_t rule = UNWIND_RULE(UNWIND_IN_LINK, 0, UNWIND_BP_KEPT, 0);
  EXPECT_EQ(step(rule), 0u);
  EXPECT_EQ(state.pc, 0x402000u);
  EXPECT_EQ(state.sp, 0x7000u);
  EXPECT_EQ(step(rule), STACK_CUT) << "the register is that of the innermost frame";
  state.link = 0x402000;
  EXPECT_EQ(step(UNWIND_RULE(UNWIND_IN_LINK, -8, UNWIND_BP_KEPT, 0)), STACK_CUT) << "it falls";
}

TEST_F(UnwindSteps, GoFromACloneOnlyInTheThreadThatCalledIt) {
  memory = {{0x7000, 0x402000}};
  const uint64_t rule = UNWIND_RULE(UNWIND_CLONE, 8, UNWIND_BP_KEPT, 0);
  EXPECT_EQ(step(rule), STACK_LAST);
  state.link = 1;
  EXPECT_EQ(step(rule), 0u);
  EXPECT_EQ(state.pc, 0x402000u);
}

TEST_F(UnwindSteps, EndWhereAThreadStarts) {
  EXPECT_EQ(step(UNWIND_END), STACK_LAST);
  EXPECT_EQ(step(UNWIND_ENTRY), STACK_LAST | STACK_EXACT);
  memory = {{0x7000, 0}};
  EXPECT_EQ(step(UNWIND_RULE(UNWIND_SP, 8, UNWIND_BP_KEPT, 0)), STACK_LAST) << "returns nowhere";
  memory = {{0x7108, 0}, {0x7100, 0}};
  EXPECT_EQ(step(UNWIND_GUESS), STACK_CUT) << "a guess proves nothing";
}

TEST_F(UnwindSteps, StopRatherThanGoAstray) {
  memory = {{0x7000, 0x402000}, {0x6ff8, 0x402000}, {0x7008, 1ull << 47}};
  const std::pair<uint64_t, const char *> cases[] = {
      {UNWIND_STOP, "no rule can say"},
      {15, "no such rule"},
      {UNWIND_RULE(UNWIND_SP, 0, 0, 0), "the stack pointer stays"},
      {UNWIND_RULE(UNWIND_SP, -8, 0, 0), "it falls"},
      {UNWIND_RULE(UNWIND_SP, 64, 0, 0), "nothing to read there"},
      {UNWIND_RULE(UNWIND_SP, 16, 0, 0), "no address of a program"},
      {UNWIND_RULE(UNWIND_AT_BP, 0, 0, 0), "no end of the frame to read"},
      {UNWIND_SIGNAL, "no registers to read"},
      {UNWIND_RULE(UNWIND_IN_LINK, 0, 0, 0), "the register is not known"},
  };
  for (const auto &[rule, what] : cases) {
    const unwind_state before = state;
    EXPECT_EQ(step(rule), STACK_CUT) << what;
    state = before;
  }
  const unwind_state before = state;
  EXPECT_EQ(step(UNWIND_RULE(UNWIND_SP, 8, UNWIND_BP_SAVED, 9)), 0u);
  EXPECT_EQ(step(UNWIND_RULE(UNWIND_BP, 16, 0, 0)), STACK_CUT) << "no frame pointer to read";
  state = before;
  EXPECT_EQ(step(UNWIND_RULE(UNWIND_SP, 8, UNWIND_BP_LOST, 0)), 0u);
  memory[0x7108] = 0x402000;
  EXPECT_EQ(step(UNWIND_RULE(UNWIND_BP, 16, 0, 0)), STACK_CUT) << "the frame pointer is lost";
}

class UnwindTables : public ::testing::Test {
protected:
  std::vector<unwind_slot> slots = std::vector<unwind_slot>(UNWIND_RULES);
  std::vector<unwind_ask> asks = std::vector<unwind_ask>(UNWIND_ASKS);
  UnwindTable table{slots.data(), asks.data()};
};

TEST_F(UnwindTables, HaveTheRulesOfEachImage) {
  table.add(1, 0x1000, 11);
  table.add(2, 0x1000, 12);
  table.add(1, 0x1000, 13);
  EXPECT_EQ(table.find(1, 0x1000), 11u) << "the first one counts";
  EXPECT_EQ(std::ranges::count(slots, 0u, &unwind_slot::key), ptrdiff_t(UNWIND_RULES - 2))
      << "and takes no second slot";
  EXPECT_EQ(table.find(2, 0x1000), 12u);
  EXPECT_EQ(table.find(1, 0x1001), 0u);
  table.add(1, 0x2000, 15);
  asks[5].count = 3;
  table.forget(1, 0x1000, 0x2000);
  EXPECT_EQ(asks[5].count, 0u);
  EXPECT_EQ(table.find(1, 0x2000), 15u);
  EXPECT_EQ(table.find(1, 0x1000), 0u);
  EXPECT_EQ(table.find(2, 0x1000), 12u);
  table.add(1, 0x1000, 14);
  EXPECT_EQ(table.find(1, 0x1000), 14u);
}

TEST_F(UnwindTables, StartAgainWhenTheyAreFull) {
  asks[5].count = 3;
  for (uint64_t address = 0; address < UNWIND_RULES; address++)
    table.add(7, address, address + 1);
  uint64_t there = 0;
  for (uint64_t address = 0; address < UNWIND_RULES; address++)
    if (const uint64_t rule = table.find(7, address)) {
      ASSERT_EQ(rule, address + 1);
      there++;
    }
  EXPECT_GT(there, UNWIND_RULES / 4);
  EXPECT_LE(there, UNWIND_RULES / 2);
  EXPECT_NE(table.find(7, UNWIND_RULES - 1), 0u);
  EXPECT_EQ(asks[5].count, 0u) << "all may be asked for again";
}

TEST_F(UnwindTables, AreFullWhenHalfOfTheirSlotsAreUsed) {
  for (int n = 0; n < 1000; n++) { // which takes one slot
    table.add(7, 1, 1);
    table.forget(7, 0, 2);
  }
  table.add(7, 1, 1);
  uint64_t used = 1;
  for (uint64_t address = 2; table.find(7, 1) != UNWIND_UNKNOWN; address++) {
    ASSERT_LT(address, UNWIND_RULES);
    table.add(7, address, 1);
    used += table.find(7, address) != UNWIND_UNKNOWN;
  }
  EXPECT_EQ(used, UNWIND_RULES / 2 + 1u) << "the last one is alone";
}

TEST_F(UnwindTables, KnowNothingOfAnImageAfterTheyHaveStartedAgain) {
  for (uint64_t address = 0; address == 0 || table.find(7, 0) != UNWIND_UNKNOWN; address++) {
    ASSERT_LT(address, UNWIND_RULES);
    table.add(7, address, 1);
  }
  for (uint64_t address = 0; address < 1000; address++)
    table.add(8, address, 1);
  table.forget(7, 0, UNWIND_RULES);
  for (uint64_t address = 0; address < 1000; address++)
    ASSERT_EQ(table.find(8, address), 1u) << "in a slot that was of the other image";
}

/// Whatever rules a hostile file has: a walk ends, as each step but that of a signal goes up.
TEST_F(UnwindSteps, GoUpWhateverTheRule) {
  std::mt19937_64 random(7);
  for (uint64_t address = 0x7000; address < 0x7400; address += 8)
    memory[address] = random() % 2 ? 0x7000 + random() % 0x400 : random() % 0x500000;
  for (int n = 0; n < 20000; n++) {
    state.sp = 0x7000 + random() % 64 * 8;
    state.bp = 0x7000 + random() % 64 * 8;
    const unwind_state before = state;
    const uint64_t rule =
        UNWIND_RULE(random() % 16, int32_t(random() % 256) - 64, random() % 4, random() % 32);
    if (step(rule) & (STACK_LAST | STACK_CUT) || UNWIND_KIND(rule) == UNWIND_SIGNAL)
      state = before;
    else
      ASSERT_GT(state.sp, before.sp) << rule;
  }
}

} // namespace
} // namespace ovnitrace
