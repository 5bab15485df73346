// SPDX-License-Identifier: BSD-2-Clause
// What a capture is asked to trace, by the options of a recording: user/record/traced.
#include "user/record/traced.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

TEST(CaptureParameters, ChildrenAreLeftOutOnlyIfThatIsAsked) {
  RecordOptions options;
  options.pids = {7, 8};
  options.children = true;
  EXPECT_FALSE(capture_parameters(options).only_targets);
  options.children = false;
  EXPECT_TRUE(capture_parameters(options).only_targets);
  EXPECT_EQ(capture_parameters(options).targets, (std::vector<uint32_t>{7, 8}));
}

TEST(CaptureParameters, TransitionsAreOfTheSchedulersFamily) {
  RecordOptions options;
  options.families = parse_families("irq");
  EXPECT_FALSE(capture_parameters(options).transitions);
  options.families = parse_families("irq,sched");
  EXPECT_TRUE(capture_parameters(options).transitions);
}

TEST(CaptureParameters, RegionsNeedAChain) {
  RecordOptions options;
  EXPECT_FALSE(capture_parameters(options).regions);
  options.control = {"start:icount:1"};
  EXPECT_TRUE(capture_parameters(options).regions);
  EXPECT_FALSE(capture_parameters(options).region_by_thread);
  options.region_by_thread = true;
  EXPECT_TRUE(capture_parameters(options).region_by_thread);
}

TEST(CaptureParameters, SizesAndSwitchesArePassedOn) {
  RecordOptions options;
  options.all = true;
  options.cmdlines = false;
  options.stacks = 3;
  options.stack_depth = 17;
  options.ring_bytes = 1 << 16;
  options.selection.asked = {"--comm a"};
  const CaptureParameters parameters = capture_parameters(options);
  EXPECT_TRUE(parameters.trace_all);
  EXPECT_FALSE(parameters.cmdlines);
  EXPECT_FALSE(parameters.only_looks);
  EXPECT_EQ(parameters.stacks, 3u);
  EXPECT_EQ(parameters.stack_depth, 17u);
  EXPECT_EQ(parameters.ring_bytes, size_t(1) << 16);
  EXPECT_TRUE(parameters.selection.any());
  EXPECT_FALSE(capture_parameters({}).trace_all);
}

TEST(TimeOver, SaysAfterHowLong) {
  EXPECT_EQ(time_over(2'000'000'000), "after 2.000 s (-d)");
}

} // namespace
} // namespace ovnitrace
