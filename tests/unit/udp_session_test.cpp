// SPDX-License-Identifier: BSD-2-Clause
// The file of a sender of datagrams, of which some are lost, repeated or out of order.
#include "emulator/base/error.h"
#include "tests/unit/support/datagram_bytes.h"
#include "tests/unit/support/memory_sink.h"
#include "user/net/udp_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace ovnitrace {
namespace {

using test::datagram_of;
using test::records_of;

class UdpSessionTest : public testing::Test {
protected:
  const test::MemoryTrace &trace() const { return store_.traces.begin()->second; }
  std::vector<ftrace_record> file() const {
    return records_of(trace().files.at({TraceSink::kPlainFile, Codec::none}));
  }
  test::MemoryStore store_;
};

/// Numbers of datagrams as a bad network passes them on; the last comes last.
std::vector<uint32_t> bad_network(std::mt19937 &random, uint32_t sent) {
  std::multimap<uint32_t, uint32_t> arrives; // when → number
  for (uint32_t number = 1; number < sent; number++)
    for (uint32_t copies = random() % 3; copies > 0; copies--)
      arrives.emplace(number + random() % 20, number);
  arrives.emplace(UINT32_MAX, sent);
  std::vector<uint32_t> numbers;
  for (const auto &[when, number] : arrives)
    numbers.push_back(number);
  return numbers;
}

TEST_F(UdpSessionTest, HasEveryDatagramOnceOrCountsIt) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; round++) {
    constexpr uint32_t kSent = 500;
    const std::vector<uint32_t> arrived = bad_network(random, kSent);
    const std::set<uint32_t> distinct(arrived.begin(), arrived.end());
    store_.traces.clear();
    UdpSession session("here", store_.maker());
    for (const uint32_t number : arrived)
      session.take(datagram_of(number, 3));
    session.flush();
    std::vector<uint32_t> written;
    uint64_t blackouts = 0, gaps = 0;
    for (const ftrace_record &record : file()) {
      blackouts += record.code == FTrace_EVT_blackout_end;
      if (record.code == FTrace_EVT_ipoint && record.par1 == 0)
        written.push_back(uint32_t(ftrace_record_tsc(&record)));
    }
    EXPECT_EQ(written, std::vector<uint32_t>(distinct.begin(), distinct.end()));
    uint32_t before = 0;
    for (const uint32_t number : distinct)
      gaps += number != std::exchange(before, number) + 1;
    EXPECT_EQ(blackouts, gaps);
    EXPECT_EQ(session.taken(), distinct.size());
    EXPECT_EQ(session.lost(), kSent - distinct.size());
    EXPECT_FALSE(std::is_sorted(arrived.begin(), arrived.end())) << "none came out of order";
    EXPECT_GT(gaps, 0u);
  }
}

TEST_F(UdpSessionTest, KeepsNothingOfDatagramsWithoutRecords) {
  UdpSession session("here", store_.maker());
  session.take(datagram_of(1, 0));
  session.flush();
  EXPECT_EQ(store_.traces.size(), 0u);
  EXPECT_EQ(session.taken(), 1u);
}

TEST_F(UdpSessionTest, KeepsNothingIfNoRecordCouldBeWritten) {
  store_.room = 0;
  {
    UdpSession session("here", store_.maker());
    EXPECT_THROW(session.take(datagram_of(1, 3)), Error);
    EXPECT_EQ(session.taken(), 0u);
  }
  EXPECT_TRUE(trace().discarded);
}

TEST_F(UdpSessionTest, GivesUpADatagramWhen128LaterOnesHaveCome) {
  UdpSession session("here", store_.maker());
  for (uint32_t number = 2; number < 129; number++)
    session.take(datagram_of(number, 1));
  EXPECT_EQ(session.taken(), 0u);
  session.take(datagram_of(129, 1));
  EXPECT_EQ(session.taken(), 128u);
  EXPECT_EQ(session.lost(), 1u);
  session.take(datagram_of(1, 1));
  session.flush();
  EXPECT_EQ(session.taken(), 128u) << "it came too late";
}

TEST_F(UdpSessionTest, IsNotBroughtOutOfItsMemoryByALie) {
  UdpSession session("here", store_.maker());
  for (uint32_t number : {1u, 4'000'000'000u}) {
    session.take(datagram_of(number, 0));
    session.flush();
  }
  EXPECT_EQ(session.lost(), 3'999'999'998u);
  session.take(datagram_of(3'999'999'999, 0));
  session.take(datagram_of(UINT32_MAX, 0));
  session.flush();
  session.take(datagram_of(UINT32_MAX, 0));
  session.take(datagram_of(4'000'000'000, 0));
  EXPECT_EQ(session.taken(), 3u) << "numbers do not begin again";
}

TEST_F(UdpSessionTest, WritesABlackoutForWhatIsMissing) {
  UdpSession session("10.0.0.1:20000", store_.maker());
  const auto datagram = [](uint32_t number) {
    Datagram one{.number = number, .count = 60, .records = {}};
    for (uint32_t n = 0; n < 60; n++)
      ftrace_record_set(&one.records[n], FTrace_EVT_user_event_0, 1, number * 100 + n, n);
    return one;
  };
  for (uint32_t number : {1u, 2u, 5u, 4u})
    session.take(datagram(number));
  session.flush();
  EXPECT_EQ(session.lost(), 1u);
  ASSERT_EQ(store_.traces.size(), 1u);
  EXPECT_EQ(trace().name, "10.0.0.1_20000");
  EXPECT_EQ(trace().description, "") << "a plain file is no trace directory";
  const std::vector<ftrace_record> records = file();
  ASSERT_EQ(records.size(), 4u * 60 + 2);
  EXPECT_EQ(records[120].code, FTrace_EVT_blackout_start);
  EXPECT_EQ(ftrace_record_tsc(&records[120]), 259u);
  EXPECT_EQ(records[121].code, FTrace_EVT_blackout_end);
  EXPECT_EQ(ftrace_record_tsc(&records[121]), 400u);
  for (const size_t n : {120, 121}) {
    EXPECT_EQ(records[n].par1, 0u);
    EXPECT_EQ(records[n].par2, 0u);
  }
}

TEST_F(UdpSessionTest, KeepsATraceThatHasARecord) {
  {
    UdpSession session("here", store_.maker());
    session.take(datagram_of(1, 1));
    EXPECT_TRUE(session.begun());
  }
  EXPECT_FALSE(trace().discarded);
  UdpSession waiting("there", store_.maker());
  waiting.take(datagram_of(2, 1));
  EXPECT_FALSE(waiting.begun());
  EXPECT_EQ(waiting.sink(), nullptr);
}

// Nothing is known of the time before the first record that came.
TEST_F(UdpSessionTest, ABlackoutBeforeTheFirstRecordHasItsTime) {
  UdpSession session("here", store_.maker());
  session.take(datagram_of(3, 1));
  session.flush();
  EXPECT_EQ(session.lost(), 2u);
  const std::vector<ftrace_record> records = file();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].code, FTrace_EVT_blackout_start);
  EXPECT_EQ(ftrace_record_tsc(&records[0]), 3u);
  EXPECT_EQ(records[1].code, FTrace_EVT_blackout_end);
  EXPECT_EQ(ftrace_record_tsc(&records[1]), 3u);
}

// Parts of a chunk are sent in any order of time, and a blackout starts before it ends.
TEST_F(UdpSessionTest, ABlackoutDoesNotEndBeforeItStarts) {
  UdpSession session("here", store_.maker());
  Datagram late = datagram_of(1, 1), early = datagram_of(3, 1);
  ftrace_record_set(&late.records[0], FTrace_EVT_ipoint, 0, 500, 0);
  ftrace_record_set(&early.records[0], FTrace_EVT_ipoint, 0, 400, 0);
  session.take(late);
  session.take(early);
  session.flush();
  const std::vector<ftrace_record> records = file();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(ftrace_record_tsc(&records[1]), 400u);
  EXPECT_EQ(ftrace_record_tsc(&records[2]), 500u);
}

} // namespace
} // namespace ovnitrace
