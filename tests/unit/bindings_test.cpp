// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/bindings.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace ovnitrace {
namespace {

TEST(Bindings, ContextZeroIsNoThread) {
  Bindings bindings;
  EXPECT_EQ(bindings.thread(0), kNone);
  EXPECT_EQ(bindings.find(0), nullptr);
  bindings.bind(16, 100, 3); // falls on the place of 0
  EXPECT_EQ(bindings.thread(0), kNone);
  EXPECT_EQ(bindings.find(0), nullptr);
}

TEST(Bindings, AllContextsCanBeBound) {
  Bindings bindings;
  for (uint32_t context = UINT16_MAX; context > 0; context--)
    bindings.bind(uint16_t(context), context + 7, context * 3);
  for (uint32_t context = 1; context <= UINT16_MAX; context++) {
    ASSERT_EQ(bindings.thread(uint16_t(context)), context * 3);
    ASSERT_EQ(bindings.find(uint16_t(context))->tid, context + 7);
  }
}

TEST(Bindings, AgreeWithAStandardMap) {
  for (uint32_t seed = 0; seed < 50; seed++) {
    std::mt19937 random(seed);
    Bindings bindings;
    std::map<uint16_t, uint32_t> expected;
    const uint32_t step = 1 << random() % 14; // many that fall on the same places, or none
    for (int n = 0; n < 2000; n++) {
      const auto context = uint16_t(1 + random() % 300 * step);
      switch (random() % 50) {
      case 0:
        bindings.clear();
        expected.clear();
        break;
      case 1:
        if (auto *binding = bindings.find(context))
          expected[context] = binding->thread = uint32_t(n);
        break;
      default:
        if (context == 0)
          break;
        bindings.bind(context, 5, uint32_t(n));
        expected[context] = uint32_t(n);
      }
      const auto other = uint16_t(random() % 300 * step);
      const auto at = expected.find(other);
      ASSERT_EQ(bindings.thread(other), at == expected.end() ? kNone : at->second)
          << "seed " << seed << ", context " << other;
    }
  }
}

} // namespace
} // namespace ovnitrace
