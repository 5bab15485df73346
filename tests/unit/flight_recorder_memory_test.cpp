// SPDX-License-Identifier: BSD-2-Clause
// A flight recorder that gets no more memory: user/chunk/flight_recorder.
#include "tests/support/sanitizer.h"
#include "tests/unit/support/child_status.h"
#include "tests/unit/support/chunks.h"
#include "user/chunk/flight_recorder.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sys/resource.h>
#include <unistd.h>

namespace ovnitrace {
namespace {

constexpr unsigned kEvents = 200'000; ///< of a chunk

/// Leaves this process memory for so many blocks of this size, and a mebibyte for what is small.
/// What earlier tests have freed counts, too.
void leave_memory(size_t blocks, size_t bytes) {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t now = pages * rlim_t(sysconf(_SC_PAGESIZE));
  rlimit limit = {now + 5 * bytes, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
  std::array<void *, 8> large = {};
  for (size_t n = 0; void *const block = std::malloc(bytes); n++)
    large[n % large.size()] = block;
  while (std::malloc(1 << 20)) // NOLINT(clang-analyzer-unix.Malloc): the process ends soon
    ;
  limit.rlim_cur += 1 << 20;
  setrlimit(RLIMIT_AS, &limit);
  for (size_t n = 0; n < blocks; n++)
    std::free(large[n]);
}

class FlightRecorderMemory : public testing::Test {
protected:
  void SetUp() override {
    if (test::kAddressSanitizer || test::kThreadSanitizer)
      GTEST_SKIP() << "a sanitizer cannot live with a limit of the address space";
  }
  /// Gives five chunks, with memory for so many. Returns what `check` says in that process.
  static int after_five(size_t room, const std::function<int(FlightRecorder &)> &check) {
    return test::status_of([&] {
      test::CollectingOutput output;
      FlightRecorder recorder(output, 1, UINT64_MAX, kEvents + 100);
      Chunk *const chunk = recorder.borrow(0);
      chunk->records = test::event_chunk(0, 1, 1000, kEvents).records;
      leave_memory(room, chunk->records.size() * sizeof(ftrace_record));
      for (int n = 0; n < 5; n++)
        recorder.give(chunk);
      const rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
      setrlimit(RLIMIT_AS, &none);
      return check(recorder);
    });
  }
};

TEST_F(FlightRecorderMemory, TheOldestMakeRoomForTheNewest) {
  EXPECT_EQ(after_five(2,
                       [](FlightRecorder &recorder) {
                         return recorder.records_dropped()
                                    ? 99
                                    : int(recorder.events_forgotten() / kEvents);
                       }),
            3)
      << "two of five have room";
}

TEST_F(FlightRecorderMemory, AChunkForWhichThereIsNoneIsCounted) {
  EXPECT_EQ(after_five(0,
                       [](FlightRecorder &recorder) {
                         return recorder.bytes_kept() || recorder.events_forgotten()
                                    ? 99
                                    : int(recorder.records_dropped() / kEvents);
                       }),
            5);
}

} // namespace
} // namespace ovnitrace
