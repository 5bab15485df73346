// SPDX-License-Identifier: BSD-2-Clause
// One CPU's records from datagrams: what is kept of a damaged chunk, and what is counted as lost.
#include "user/net/chunk_assembler.h"

#include "tests/unit/support/memory_sink.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::records_of;

// An event that is about no thread needs no introduction.
TEST(ChunkAssemblerTest, KeepsEventsWithoutAThreadInADamagedChunk) {
  test::MemoryStore store;
  const auto sink = store.maker()("app");
  ChunkAssembler cpu(0, *sink);
  std::vector<ftrace_record> records(2);
  ftrace_record_set(&records[0], FTrace_EVT_signal, 0, 500, 1); // no header: it was lost
  ftrace_record_set(&records[1], FTrace_EVT_signal, 1, 501, 2); // of a thread that nobody knows
  ASSERT_TRUE(cpu.take(3, 10, records, 400, 1));
  cpu.end(12, 600, 400);
  std::vector<uint32_t> there;
  for (const ftrace_record &record : records_of(store.traces.at("app").files.at({0, false})))
    if (record.code == FTrace_EVT_signal)
      there.push_back(record.par2);
  EXPECT_EQ(there, std::vector<uint32_t>{1});
  EXPECT_EQ(cpu.events_lost(), 11u);
}

TEST(ChunkAssemblerTest, CountsWhatIsLostAfterTheEndOfTheTraceCame) {
  for (const uint64_t lost : {0, 5}) {
    test::MemoryStore store;
    const auto sink = store.maker()("app");
    ChunkAssembler cpu(0, *sink);
    test::ChunkBuilder builder(0);
    builder.at(100).start().record(FTrace_EVT_interrupt_hit, 7, 1).at(200).stop();
    ASSERT_TRUE(cpu.take(0, 0, builder.records(), 100, 0));
    cpu.end(cpu.events() + lost, 300, 100);
    const auto records = records_of(store.traces.at("app").files.at({0, false}));
    EXPECT_EQ(records.back().code, FTrace_EVT_trace_stop);
    EXPECT_EQ(ftrace_record_tsc(&records.back()), lost ? 300u : 200u);
    uint64_t shown = 0;
    for (const ftrace_record &record : records)
      shown += record.code == FTrace_EVT_blackout_end ? record.par2 : 0;
    EXPECT_EQ(shown, lost);
    EXPECT_EQ(cpu.events_lost(), lost);
  }
}

} // namespace
} // namespace ovnitrace
