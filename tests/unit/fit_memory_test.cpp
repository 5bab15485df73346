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
  fit_memory(options, {}, 2, 90 * kMiB);
  EXPECT_EQ(options.ring_bytes, 8 * kMiB);
  EXPECT_EQ(options.chunk_bytes, kMiB);
}

TEST(FitMemory, ReducesSizesThatDoNotFit) {
  RecordOptions options = usual();
  fit_memory(options, {}, 2, 61 * kMiB);
  EXPECT_EQ(options.ring_bytes, kMiB);
  EXPECT_EQ(options.chunk_bytes, kMiB / 8);
}

TEST(FitMemory, KeepsWhatTheUserGave) {
  RecordOptions options = usual();
  fit_memory(options, {.rings = true, .chunks = false}, 2, 76 * kMiB);
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
    EXPECT_NE(what.find("needs about 57 MiB"), std::string::npos) << what;
    EXPECT_NE(what.find("leaves 48 MiB"), std::string::npos) << what;
  }
}

} // namespace
} // namespace ovnitrace
