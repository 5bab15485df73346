// SPDX-License-Identifier: BSD-2-Clause
// One CPU's records from datagrams: what is counted as lost.
#include "user/net/chunk_assembler.h"

#include "tests/unit/support/memory_sink.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::records_of;

TEST(ChunkAssemblerTest, CountsWhatIsLostAfterTheEndOfTheTraceCame) {
  for (const uint64_t lost : {0, 5}) {
    test::MemoryStore store;
    const auto sink = store.maker()("app");
    ChunkAssembler cpu(0, *sink);
    test::ChunkBuilder builder(0);
    builder.at(100).start().record(FTrace_EVT_interrupt_hit, 7, 1).at(200).stop();
    ASSERT_TRUE(cpu.take(0, 0, builder.records(), 100, 0));
    cpu.end(cpu.events() + lost, 300, 100);
    const auto records = records_of(store.traces.at("app").files.at({0, Codec::none}));
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
