// SPDX-License-Identifier: BSD-2-Clause
// Every pair of a state and an action, against the table of ovni, written down again.
#include "emulator/format/thread_state.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace ovnitrace {
namespace {

using enum ThreadState;
using enum ThreadAction;

TEST(ThreadStates, HaveTheValuesOfTheReference) {
  EXPECT_EQ(int(Unknown), 0);
  EXPECT_EQ(int(Running), 1);
  EXPECT_EQ(int(Paused), 2);
  EXPECT_EQ(int(Dead), 3);
  EXPECT_EQ(int(Cooling), 4);
  EXPECT_EQ(int(Warming), 5);
}

TEST(ThreadStates, ActiveIsRunningCoolingAndWarming) {
  std::set<ThreadState> active;
  for (ThreadState s : {Unknown, Running, Paused, Dead, Cooling, Warming})
    if (is_active(s))
      active.insert(s);
  EXPECT_EQ(active, (std::set<ThreadState>{Running, Cooling, Warming}));
}

TEST(ThreadStates, EveryPairOfStateAndActionIsAsTheReferenceSays) {
  // From which states ovni accepts each action, and to what; then our two extensions.
  const std::map<std::pair<ThreadState, ThreadAction>, ThreadState> legal = {
      {{Unknown, execute}, Running}, {{Dead, execute}, Running},   {{Running, pause}, Paused},
      {{Cooling, pause}, Paused},    {{Paused, resume}, Running},  {{Warming, resume}, Running},
      {{Running, cool}, Cooling},    {{Paused, warm}, Warming},    {{Running, end}, Dead},
      {{Cooling, end}, Dead},        {{Cooling, resume}, Running}, {{Unknown, warm}, Warming},
  };
  for (uint32_t state = 0; state < kThreadStates; state++)
    for (ThreadAction a : {execute, pause, resume, cool, warm, end}) {
      const auto s = ThreadState(state);
      auto at = legal.find({s, a});
      EXPECT_EQ(is_legal(s, a), at != legal.end()) << name(s) << " " << name(a);
      if (at != legal.end()) {
        EXPECT_EQ(kStateAfter[size_t(a)], at->second);
      }
    }
}

} // namespace
} // namespace ovnitrace
