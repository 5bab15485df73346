// SPDX-License-Identifier: BSD-2-Clause
// Rings and chunks in a small memory cgroup: user/record/fit_memory.
#include "emulator/base/error.h"
#include "user/record/fit_memory.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

constexpr uint64_t kMiB = 1 << 20;

RecordOptions usual() {
  RecordOptions options;
  options.ring_bytes = 8 * kMiB;
  options.chunk_bytes = kMiB;
  options.spare_chunks = 16;
  return options;
}

TEST(FitMemory, LeavesSizesThatFit) {
  RecordOptions options = usual();
  fit_memory(options, {}, 2, 146 * kMiB);
  EXPECT_EQ(options.ring_bytes, 8 * kMiB);
  EXPECT_EQ(options.chunk_bytes, kMiB);
}

TEST(FitMemory, ReducesSizesThatDoNotFit) {
  RecordOptions options = usual();
  fit_memory(options, {}, 2, 117 * kMiB);
  EXPECT_EQ(options.ring_bytes, kMiB);
  EXPECT_EQ(options.chunk_bytes, kMiB / 8);
}

TEST(FitMemory, KeepsSizesThatTheUserGave) {
  RecordOptions options = usual();
  fit_memory(options, {.rings = true, .chunks = false}, 2, 132 * kMiB);
  EXPECT_EQ(options.ring_bytes, 8 * kMiB);
  EXPECT_LT(options.chunk_bytes, kMiB);
}

TEST(FitMemory, RefusesWithTheMemoryNeededAndTheMemoryLeft) {
  RecordOptions options = usual();
  try {
    fit_memory(options, {}, 2, 48 * kMiB);
    FAIL() << "it cannot fit";
  } catch (const Error &error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("needs about 113 MiB"), std::string::npos) << what;
    EXPECT_NE(what.find("leaves 48 MiB"), std::string::npos) << what;
  }
}

/// How many MiB a capture needs: with one less left, sizes that the user gave do not fit.
uint64_t needed(RecordOptions options) {
  for (uint64_t mib = 0;; mib++)
    try {
      fit_memory(options, {.rings = true, .chunks = true}, 2, mib * kMiB);
      return mib;
    } catch (const Error &) {
    }
}

TEST(FitMemory, EachPartOfACaptureNeedsItsShare) {
  RecordOptions options = usual();
  EXPECT_EQ(needed(options), 112u + 2 * 8 + 2 + 16);
  options.control.emplace_back();
  EXPECT_EQ(needed(options), 146u + 48);
  options.control.clear();
  options.stacks = 1;
  EXPECT_EQ(needed(options), 146u + 100);
  options.stacks = 0;
  options.families = families_of_tracepoints();
  EXPECT_EQ(needed(options), 146u + 56);
  options.families = {};
  options.buffer.kind = BufferKind::kCyc;
  options.buffer.bytes = 32 * kMiB;
  EXPECT_EQ(needed(options), 112u + 2 * 8 + 2 * 32) << "a flight recorder has no spare chunks";
}

TEST(FitMemory, HalvesRingsAndChunksDownToTheirSmallestSizes) {
  RecordOptions options = usual();
  options.ring_bytes = options.chunk_bytes = 128 << 10;
  fit_memory(options, {}, 2, 113 * kMiB);
  EXPECT_EQ(options.ring_bytes, 64u << 10);
  EXPECT_EQ(options.chunk_bytes, 32u << 10) << "both are halved as long as that is needed";
}

} // namespace
} // namespace ovnitrace
