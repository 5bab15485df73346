// SPDX-License-Identifier: BSD-2-Clause
// The latency shares of `why`: emulator/why/latency_shares.
#include "emulator/open/open_trace.h"
#include "emulator/slices/slicer.h"
#include "emulator/why/explainer.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/random_schedule.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::TempDir;
using test::TraceBuilder;

StateChange to(ThreadState state) {
  return {ThreadState::Unknown, state, 0, 0};
}

TEST(LatencyShares, AMomentIsSharedByTheThreadsThatRun) {
  LatencyShares shares(3, {100, 600});
  shares.change(0, to(ThreadState::Running), 50);
  shares.change(1, to(ThreadState::Running), 300);
  shares.change(0, to(ThreadState::Paused), 400);
  shares.change(1, to(ThreadState::Cooling), 450);
  shares.change(2, to(ThreadState::Running), 500);
  EXPECT_EQ(shares.finish(), (std::vector<uint64_t>{200 + 50, 50 + 50, 100}));
  EXPECT_EQ(shares.covered(), 450u);
}

/// Which threads run in each ns of a range.
class Running final : public SliceSink {
public:
  Running(size_t threads, uint64_t end) : runs(end, std::vector<bool>(threads)) {}
  void on_slice(const Slice &slice) override {
    for (uint64_t ns = slice.start; slice.state == ThreadState::Running && ns < slice.end; ns++)
      runs[ns][slice.thread] = true;
  }
  std::vector<std::vector<bool>> runs;
};

TEST(LatencySharesProperty, AgreeWithASlowModelOfEachNanosecond) {
  std::mt19937 random(254);
  double most = 0;
  for (unsigned n = 0; n < test::cases(120); n++) {
    TempDir dir;
    CollectingSink sink;
    TraceBuilder trace(dir.path());
    const uint64_t length = test::random_schedule(trace, random) - 100;
    trace.write();
    Cut cut;
    cut.from = random() % length;
    cut.to = cut.from + 1 + random() % (length - cut.from);
    if (n % 3 == 0)
      cut.tids = {1, 2, 4};
    auto source = open_trace({{dir.path()}}, sink);
    const size_t threads = source->catalog().threads.size();
    Running model(threads, source->catalog().end);
    replay_slices(*source, cut, model);
    std::vector<double> shares(threads);
    uint64_t covered = 0;
    for (const std::vector<bool> &runs : model.runs) {
      const auto count = std::count(runs.begin(), runs.end(), true);
      covered += count > 0;
      for (size_t t = 0; t < threads; t++)
        shares[t] += runs[t] ? 1.0 / double(count) : 0;
    }
    source = open_trace({{dir.path()}}, sink);
    const Explanation why = explain(*source, cut);
    EXPECT_EQ(why.covered, covered) << "trace " << n;
    for (size_t t = 0; t < threads; t++) {
      EXPECT_LE(std::abs(double(why.threads[t].latency_share) - shares[t]), 0.51)
          << "trace " << n << ", thread " << t;
      most = std::max(most, shares[t]);
    }
  }
  EXPECT_GT(most, 50);
}

} // namespace
} // namespace ovnitrace
