// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/relay.h"

#include "tests/unit/support/few_threads.h"

#include <atomic>
#include <gtest/gtest.h>
#include <stdexcept>

namespace ovnitrace {
namespace {

struct Block {
  int number = 0, worked = 0;
};

/// Passes the numbers 0 … 999 and returns what was put.
std::vector<int> relayed(size_t blocks, uint32_t threads) {
  std::vector<int> put;
  Relay<Block> relay(
      std::vector<Block>(blocks), threads,
      [](Block &block) {
        if (block.number % 7 == 0)
          std::this_thread::yield(); // lets later ones overtake it
        block.worked = block.number * 2;
      },
      [&](Block &block) {
        EXPECT_EQ(block.worked, block.number * 2);
        put.push_back(block.number);
      });
  for (int number = 0; number < 1000; number++) {
    relay.current().number = number;
    relay.pass();
  }
  relay.finish();
  return put;
}

TEST(Relay, PutsBlocksInTheirOrderWhateverTheNumberOfThreads) {
  std::vector<int> all;
  for (int number = 0; number < 1000; number++)
    all.push_back(number);
  for (const uint32_t threads : {0u, 1u, 2u, 5u})
    for (const size_t blocks : {2u, 4u, 9u})
      EXPECT_EQ(relayed(blocks, threads), all) << threads << " threads, " << blocks << " blocks";
}

TEST(Relay, TheDestructorFinishesThePassedBlocks) {
  std::atomic<int> put = 0;
  {
    Relay<Block> relay(std::vector<Block>(4), 2, {}, [&](Block &) { put++; });
    for (int n = 0; n < 3; n++)
      relay.pass();
  }
  EXPECT_EQ(put, 3);
}

TEST(Relay, RethrowsAnErrorOfAThreadAndPutsNoMoreBlocks) {
  for (const bool in_work : {false, true})
    for (const uint32_t threads : {1u, 3u}) {
      std::atomic<int> put = 0;
      const auto fail = [](Block &block) {
        if (block.number == 10)
          throw std::runtime_error("ten");
      };
      Relay<Block> relay(std::vector<Block>(4), threads,
                         in_work ? Relay<Block>::Step(fail) : nullptr, [&](Block &block) {
                           if (!in_work)
                             fail(block);
                           put++;
                         });
      const auto pass_all = [&] {
        for (int number = 0; number < 100; number++) {
          relay.current().number = number;
          relay.pass();
        }
      };
      EXPECT_THROW(pass_all(), std::runtime_error);
      EXPECT_THROW(pass_all(), std::runtime_error) << "and again: it does not hang";
      EXPECT_THROW(relay.finish(), std::runtime_error);
      EXPECT_LE(put, 10);
      if (threads == 1) {
        EXPECT_EQ(put, 10);
      }
    }
}

TEST(Relay, ThrowsWhereAThreadCannotStart) {
  const auto start = [] { Relay<Block>(std::vector<Block>(4), 3, {}, [](Block &) {}); };
  EXPECT_GE(test::failures_with_few_threads(start), 3);
}

} // namespace
} // namespace ovnitrace
