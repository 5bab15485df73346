// SPDX-License-Identifier: BSD-2-Clause
// What a first pass over plain FTrace files finds: emulator/shark/run_index.
#include "emulator/base/unique_fd.h"
#include "emulator/shark/run_index.h"
#include "tests/unit/support/shark_builder.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ovnitrace::shark {
namespace {

using test::SharkBuilder;

RunIndex index_of(SharkBuilder &file, size_t more = 0) {
  const std::vector<ftrace_record> &records = file.records();
  const size_t bytes = records.size() * sizeof(ftrace_record);
  UniqueFd fd(memfd_create("shark", MFD_CLOEXEC));
  EXPECT_EQ(write(fd.get(), records.data(), bytes), ssize_t(bytes));
  EXPECT_EQ(ftruncate(fd.get(), off_t(bytes + more)), 0);
  return make_run_index(fd.get(), bytes + more);
}

TEST(SharkIndex, ARunEndsWhereTheTimeGoesBack) {
  SharkBuilder file;
  file.at(50).context_switch(1).at(60).context_switch(2).at(60).context_switch(1);
  file.at(10).context_switch(1).empty().at(20).context_switch(2);
  const RunIndex index = index_of(file);
  ASSERT_EQ(index.runs.size(), 2u);
  EXPECT_EQ(index.runs[0].begin, 48u) << "the earlier one first";
  EXPECT_EQ(index.runs[0].end, 96u);
  EXPECT_EQ(index.runs[0].first, 10u);
  EXPECT_EQ(index.runs[1].begin, 0u);
  EXPECT_EQ(index.runs[1].end, 48u);
  EXPECT_EQ(index.runs[1].first, 50u);
  EXPECT_EQ(index.first, 10u);
  EXPECT_EQ(index.last, 60u);
  EXPECT_EQ(index.records, 5u);
  EXPECT_EQ(index.counts[FTrace_EVT_context_switch], 5u);
  EXPECT_EQ(index.read, 96u);
}

TEST(SharkIndex, KnowsTheFirstUnknownRecordAndTheRestOfTheFile) {
  SharkBuilder file;
  file.at(5).context_switch(1).empty().record(0xee).record(0x1ed);
  const RunIndex index = index_of(file, 9);
  EXPECT_EQ(index.unknown, 2u);
  EXPECT_EQ(index.first_unknown, 32u);
  EXPECT_EQ(index.first_unknown_code, 0xee);
  EXPECT_EQ(index.records, 1u);
  EXPECT_EQ(index.read, 64u);
  EXPECT_EQ(index.tail, 9u);
  EXPECT_EQ(index.error, 0);
}

TEST(SharkIndex, TheFirstRateCountsAndTheNextOtherOne) {
  SharkBuilder file;
  file.rate(0).rate(7).rate(7).rate(8).rate(9);
  const RunIndex index = index_of(file);
  EXPECT_EQ(index.rate, 7u);
  EXPECT_EQ(index.other_rate, 8u);
  EXPECT_EQ(index.other_rate_offset, 48u);
}

TEST(SharkIndex, TraceStartGivesTheRateIfNothingElseDoes) {
  SharkBuilder file;
  file.record(FTrace_EVT_trace_start, 0, 0).record(FTrace_EVT_trace_start, 0, 5);
  file.record(FTrace_EVT_trace_start, 0, 6);
  EXPECT_EQ(index_of(file).rate, 5u);
  file.rate(7);
  EXPECT_EQ(index_of(file).rate, 7u);
}

TEST(SharkIndex, AChunkFileStartsWithItsRateAndItsFormat) {
  SharkBuilder file, late;
  EXPECT_TRUE(index_of(file.rate(7).record(FTrace_EXT_format, 1)).has_chunks);
  EXPECT_FALSE(index_of(late.rate(7).rate(7).record(FTrace_EXT_format, 1)).has_chunks);
}

TEST(SharkIndex, FilesAreJoined) {
  SharkBuilder none, first, second;
  none.empty();
  first.at(100).record(FTrace_EVT_trace_start, 0, 5).context_switch(1).record(0xee);
  second.at(40).rate(7).context_switch(1).at(90).context_switch(2);
  const RunIndex empty = index_of(none), one = index_of(first), two = index_of(second);
  const RunIndex all = join({&empty, &one, &two});
  ASSERT_EQ(all.runs.size(), 2u);
  EXPECT_EQ(all.runs[0].file, 2u);
  EXPECT_EQ(all.runs[1].file, 1u);
  EXPECT_EQ(all.first, 40u);
  EXPECT_EQ(all.last, 100u);
  EXPECT_EQ(all.records, 5u);
  EXPECT_EQ(all.unknown, 1u);
  EXPECT_EQ(all.read, 16u + 48u + 48u);
  EXPECT_EQ(all.counts[FTrace_EVT_context_switch], 3u);
  EXPECT_EQ(all.rate, 7u) << "a rate that is given counts more than that of trace_start";
  EXPECT_EQ(join({&two, &one, &empty}).first, 40u);
  EXPECT_EQ(join({&one, &empty}).first, 100u) << "a file without records has no first one";
  EXPECT_EQ(join({&one, &empty}).rate, 5u);
}

} // namespace
} // namespace ovnitrace::shark
