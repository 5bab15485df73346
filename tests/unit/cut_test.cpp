// SPDX-License-Identifier: BSD-2-Clause
// What --from, --to, --pid, --tid, --comm and --cpu keep, and which of them a trace refuses.
#include "emulator/base/error.h"
#include "emulator/core/cut.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

/// A trace from 1,000 to 3,000 ns with two threads.
Catalog two_threads() {
  Catalog catalog;
  catalog.begin = 1000;
  catalog.end = 3000;
  catalog.threads = {{.tid = 11, .pid = 10, .name = "app"}, {.tid = 22, .pid = 20, .name = "db"}};
  return catalog;
}

/// The error and its exit status; empty if the cut is right.
std::string refusal(const Cut &cut, const Catalog &catalog = two_threads()) {
  try {
    check_cut(cut, catalog);
    return "";
  } catch (const Error &error) {
    return std::to_string(error.status()) + " " + error.what();
  }
}

TEST(Cut, HasAnEndAfterItsStart) {
  EXPECT_EQ(refusal({.from = 600, .to = 500}),
            "2 the cut starts at 600 ns, after it ends at 500 ns");
  EXPECT_EQ(refusal({.from = 500, .to = 500}), "") << "an instant";
}

TEST(Cut, StartsInTheTrace) {
  EXPECT_EQ(refusal({.from = 2000}), "");
  EXPECT_EQ(refusal({.from = 2001}), "1 the cut starts at 2.001 us, after the end of the trace, "
                                     "which lasts 2.000 us");
}

TEST(Cut, KeepsAThread) {
  EXPECT_EQ(refusal({.tids = {99, 22}}), "");
  EXPECT_EQ(refusal({.pids = {9, 8}, .tids = {7}, .comms = {"x", "y*"}}),
            "1 the trace has no thread with --pid 9,8 --tid 7 --comm x,y*: `ovnitrace info "
            "--top 0 TRACE` lists the threads");
  EXPECT_EQ(refusal({.comms = {"y"}}), "1 the trace has no thread with --comm y: `ovnitrace info "
                                       "--top 0 TRACE` lists the threads");
  Catalog empty = two_threads(), live = two_threads();
  empty.threads.clear();
  live.live = true;
  EXPECT_EQ(refusal({.tids = {99}}, empty), "") << "it has no threads at all";
  EXPECT_EQ(refusal({.tids = {99}}, live), "") << "the thread may come";
}

TEST(Cut, IsATimeOfTheTrace) {
  const auto range = [](const Cut &cut) {
    const TimeRange kept = range_of(cut, two_threads());
    return std::pair(kept.from, kept.to);
  };
  EXPECT_EQ(range({}), std::pair(uint64_t(1000), uint64_t(3000)));
  EXPECT_EQ(range({.from = 300, .to = 1999}), std::pair(uint64_t(1300), uint64_t(2999)));
  EXPECT_EQ(range({.from = 300, .to = 2001}), std::pair(uint64_t(1300), uint64_t(3000)));
}

TEST(Cut, CutsIfAThreadOrATimeIsLeftOut) {
  EXPECT_FALSE(Cut{}.cuts());
  EXPECT_FALSE(Cut{}.chooses_threads());
  EXPECT_TRUE(Cut{.from = 1}.cuts());
  EXPECT_TRUE(Cut{.to = UINT64_MAX - 1}.cuts());
  for (const Cut &cut : {Cut{.pids = {1}}, Cut{.tids = {1}}, Cut{.comms = {"a"}}}) {
    EXPECT_TRUE(cut.cuts());
    EXPECT_TRUE(cut.chooses_threads());
  }
}

TEST(Cut, KeepsThreadsOfEachKindOfChoice) {
  using Kept = std::vector<uint8_t>;
  const auto kept = [](const Cut &cut) { return kept_threads(cut, two_threads()); };
  EXPECT_EQ(kept({}), (Kept{1, 1}));
  EXPECT_EQ(kept({.pids = {20}}), (Kept{0, 1}));
  EXPECT_EQ(kept({.tids = {20, 11}}), (Kept{1, 0}));
  EXPECT_EQ(kept({.comms = {"x*", "d?"}}), (Kept{0, 1}));
}

TEST(Cut, KeepsCpusByNumber) {
  EXPECT_TRUE(Cut{}.keeps_cpu(7));
  EXPECT_TRUE((Cut{.cpus = {1, 3}}.keeps_cpu(3)));
  EXPECT_FALSE((Cut{.cpus = {1, 3}}.keeps_cpu(2)));
}

} // namespace
} // namespace ovnitrace
