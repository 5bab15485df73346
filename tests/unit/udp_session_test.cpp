// SPDX-License-Identifier: BSD-2-Clause
// A capture through datagrams of which some are lost, repeated or out of order. Every event is in
// the trace once, or counted in a blackout.
#include "emulator/input/merge.h"
#include "emulator/input/trace_dir.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/memory_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"
#include "user/chunk/event_count.h"
#include "user/net/datagram_packer.h"
#include "user/net/udp_session.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <random>
#include <set>

namespace ovnitrace {
namespace {

using test::records_of;
using Random = std::mt19937;

unsigned below(Random &random, unsigned limit) {
  return unsigned(random() % limit);
}

/// A capture of some CPUs: chunks in the order in which they were full. Events are numbered in
/// parameter 2.
struct Capture {
  explicit Capture(Random &random, uint16_t cpus = 3, unsigned chunks = 12) {
    for (unsigned n = 0; n < chunks; n++)
      add(uint16_t(below(random, cpus)), random, FTrace_EVT_next_chunk);
    for (uint16_t cpu = 0; cpu < cpus; cpu++)
      add(cpu, random, FTrace_EVT_trace_stop);
  }

  void add(uint16_t cpu, Random &random, uint16_t last) {
    test::ChunkBuilder builder(cpu);
    builder.records().clear();
    uint32_t &number = numbers[cpu];
    builder.at(time).record(FTrace_EVT_cycles_per_msec, 0, 1'000'000);
    builder.record(FTrace_EXT_format, FTRACE_EXT_VERSION)
        .record(FTrace_EXT_chunk, cpu, number)
        .record(FTrace_EVT_numevents);
    if (number++ == 0)
      builder.record(FTrace_EVT_trace_start, 0, 1'000'000);
    const unsigned threads = 1 + below(random, 30);
    std::set<uint16_t> known;
    for (unsigned n = below(random, 400); n > 0; n--) {
      builder.at(time += 1 + below(random, 5));
      const uint16_t context = uint16_t(1 + below(random, threads));
      if (known.insert(context).second)
        builder.id(context, 100 + context, 100, "thread " + std::to_string(context), 1)
            .parent(context, 99, 1);
      switch (below(random, 12)) {
      case 0:
        builder.name(context, "another name");
        break;
      case 1:
        builder.record(FTrace_EVT_interrupt_hit, 7, ++tag);
        break;
      case 2:
        builder.record(FTrace_EVT_signal, context, ++tag);
        break;
      case 3:
        builder.blackout_start().at(++time).blackout_end(1 + below(random, 50));
        break;
      case 4:
        builder.record(FTrace_EXT_state, context, 1);
        break;
      default:
        builder.record(FTrace_EXT_migrate, context, ++tag);
      }
    }
    builder.record(last, 0, last == FTrace_EVT_next_chunk ? number : 0);
    chunks.push_back({cpu, builder.records()});
  }

  /// What a local recording would have.
  std::map<std::pair<uint16_t, Codec>, std::string> files() const {
    std::map<std::pair<uint16_t, Codec>, std::string> files;
    for (const Chunk &chunk : chunks)
      files[{uint16_t(chunk.cpu), Codec::none}].append(
          reinterpret_cast<const char *>(chunk.records.data()),
          chunk.records.size() * sizeof(ftrace_record));
    return files;
  }

  std::vector<Chunk> chunks;
  std::map<uint16_t, uint32_t> numbers;
  uint64_t time = 1000;
  uint32_t tag = 0;
};

const std::string kDescription =
    "{\"format\": \"ovnitrace\", \"version\": 1, \"host\": \"there\", \"long\": \"" +
    std::string(3000, 'x') + "\"}";

/// What it counts is not looked at.
const std::string kLastDescription = kDescription.substr(0, kDescription.size() - 1) +
                                     ", \"written\": [{\"cpu\": 0, \"records\": 1}]}";

std::vector<Datagram> pack(const Capture &capture, uint64_t session = 5) {
  std::vector<Datagram> sent;
  DatagramPacker packer(session, [&](const Datagram &datagram) { sent.push_back(datagram); });
  packer.name("app-1");
  packer.name("app-1");
  packer.describe(kDescription);
  for (const Chunk &chunk : capture.chunks)
    packer.chunk(chunk);
  packer.describe(kLastDescription);
  packer.end(capture.time, 0);
  return sent;
}

/// CPU → events that its records stand for.
std::map<uint16_t, uint64_t>
events_in(const std::map<std::pair<uint16_t, Codec>, std::string> &files) {
  std::map<uint16_t, uint64_t> events;
  for (const auto &[key, file] : files)
    for (const ftrace_record &record : records_of(file))
      events[key.first] += events_of(record);
  return events;
}

bool is_tagged(const ftrace_record &record) {
  return record.code == FTrace_EXT_migrate || record.code == FTrace_EVT_signal ||
         record.code == FTrace_EVT_interrupt_hit;
}

/// Reads the files as every command does, and expects nothing to be said.
void expect_readable(const test::MemoryTrace &trace) {
  test::TempDir directory;
  for (const auto &[key, file] : trace.files)
    test::TraceBuilder::write_file(directory / ("cpu000" + std::to_string(key.first) + ".ftr"),
                                   file.data(), file.size());
  test::CollectingSink reported;
  std::vector<HostInput> hosts;
  hosts.push_back(open_trace_dir(directory.path(), {}, 0));
  MergedTrace merged(std::move(hosts), reported);
  for (Event event; merged.next(event);) {
  }
  EXPECT_EQ(reported.damage(), 0u)
      << reported.reported.front().file << ": " << reported.reported.front().what;
}

class UdpSessionTest : public testing::Test {
protected:
  void send(UdpSession &session, const Datagram &datagram) {
    const char *why = nullptr;
    session.take(*parse_datagram(write_datagram(datagram), why));
  }
  test::MemoryStore store_;
};

TEST_F(UdpSessionTest, GivesTheSameFilesIfNothingIsLost) {
  Random random(1);
  for (int round = 0; round < 20; round++) {
    const Capture capture(random);
    UdpSession session("1.2.3.4:5", store_.maker());
    for (const Datagram &datagram : pack(capture)) {
      EXPECT_EQ(datagram.records[0].code, FTrace_EXT_session);
      send(session, datagram);
    }
    session.finish();
    const test::MemoryTrace trace = std::exchange(store_.traces["app-1"], {});
    EXPECT_EQ(trace.files, capture.files());
    EXPECT_TRUE(session.whole());
    const auto json = nlohmann::json::parse(trace.description);
    EXPECT_EQ(json["host"], "there");
    EXPECT_TRUE(json.contains("written"));
    EXPECT_EQ(json["collected"]["lost"], 0);
    EXPECT_EQ(json["collected"]["end_came"], true);
  }
}

/// Datagrams as a bad network passes them on; the last always comes.
struct Network {
  Network(std::vector<Datagram> sent, Random &random) {
    const unsigned bad = 1 + below(random, 30); // percent
    std::vector<std::pair<size_t, Datagram>> queue;
    for (size_t n = 0; n < sent.size(); n++) {
      const bool last = n + 1 == sent.size();
      if (!last && below(random, 100) < bad) {
        dropped++;
        continue;
      }
      const size_t copies = 1 + (below(random, 100) < bad);
      repeated += copies - 1;
      for (size_t copy = 0; copy < copies; copy++)
        queue.emplace_back(n + (below(random, 100) < bad ? below(random, 20) : 0), sent[n]);
    }
    std::stable_sort(queue.begin(), queue.end(),
                     [](const auto &a, const auto &b) { return a.first < b.first; });
    for (auto &[when, datagram] : queue)
      arrived.push_back(datagram);
  }
  std::vector<Datagram> arrived;
  uint64_t dropped = 0, repeated = 0;
};

TEST_F(UdpSessionTest, HasEveryEventOnceOrCountsIt) {
  Random random(2);
  uint64_t all_dropped = 0;
  for (unsigned round = 0; round < test::cases(100); round++) {
    SCOPED_TRACE(round);
    const Capture capture(random);
    const Network network(pack(capture), random);
    store_.traces.clear();
    UdpSession session("here", store_.maker());
    for (const Datagram &datagram : network.arrived)
      send(session, datagram);
    session.finish();
    ASSERT_EQ(store_.traces.size(), 1u);
    const test::MemoryTrace &trace = store_.traces.begin()->second;

    const UdpCounts counts = session.counts();
    EXPECT_EQ(counts.lost, network.dropped);
    EXPECT_EQ(counts.repeated, network.repeated);
    EXPECT_EQ(counts.wrong, 0u);
    EXPECT_EQ(events_in(trace.files), events_in(capture.files()));
    all_dropped += network.dropped;

    // In order, and each at most once.
    std::set<uint32_t> seen;
    uint64_t lost = 0;
    for (const auto &[key, file] : trace.files) {
      uint32_t last = 0;
      for (const ftrace_record &record : records_of(file)) {
        if (!is_tagged(record))
          continue;
        EXPECT_GT(record.par2, last);
        last = record.par2;
        EXPECT_TRUE(seen.insert(record.par2).second);
      }
    }
    lost = counts.events_lost;
    EXPECT_LE(seen.size(), capture.tag);
    EXPECT_EQ(nlohmann::json::parse(trace.description).contains("written"), network.dropped == 0)
        << "files of which something is missing are not as the sender wrote them";
    if (network.dropped == 0)
      EXPECT_EQ(lost, 0u);
    else
      EXPECT_GE(lost, capture.tag - seen.size()) << "some of the lost were blackouts themselves";
    expect_readable(trace);
    if (HasFailure())
      return;
  }
  EXPECT_GT(all_dropped, test::cases(300)) << "the test loses something";
}

// Only what introduces a thread is lost: what comes after it is not given to another or to none.
TEST_F(UdpSessionTest, KeepsAChunkUpToWhatIsMissing) {
  test::ChunkBuilder builder(0);
  builder.at(100).start().id(1, 101, 101, "one");
  for (int n = 0; n < 60; n++)
    builder.at(200 + n).dispatch(1);
  builder.id(2, 102, 102, "two");
  for (int n = 0; n < 200; n++)
    builder.at(300 + n).record(FTrace_EXT_migrate, uint16_t(1 + n % 2), 0);
  builder.stop();
  std::vector<Datagram> sent;
  DatagramPacker packer(9, [&](const Datagram &datagram) { sent.push_back(datagram); });
  packer.chunk({0, builder.records()});
  packer.end(500, 0);
  const auto introduces = [](const Datagram &datagram) {
    return std::any_of(datagram.all().begin(), datagram.all().end(),
                       [](const ftrace_record &record) {
                         return record.code == FTrace_EVT_id && record.par1 == 2;
                       });
  };
  ASSERT_EQ(std::erase_if(sent, introduces), 1);
  UdpSession session("here", store_.maker());
  for (const Datagram &datagram : sent)
    send(session, datagram);
  session.finish();
  const std::string &file = store_.traces.begin()->second.files.at({0, Codec::none});
  uint64_t kept = 0;
  for (const ftrace_record &record : records_of(file)) {
    EXPECT_NE(record.code, FTrace_EXT_migrate);
    kept += record.code == FTrace_EVT_task_dispatch;
  }
  EXPECT_GT(kept, 40u);
  EXPECT_EQ(events_in({{{0, Codec::none}, file}})[0], 260u);
  EXPECT_EQ(session.counts().events_lost, 260 - kept);
  expect_readable(store_.traces.begin()->second);
}

// All records came, and something else with them: neither is it complete then.
TEST_F(UdpSessionTest, IsNotWholeWhereOnlyWrongDatagramsCame) {
  Random random(4);
  for (const bool wrong : {false, true}) {
    std::vector<Datagram> sent = pack(Capture(random));
    if (wrong) {
      Datagram other = sent.front();
      ftrace_record_set(&other.records[0], FTrace_EXT_session, 99, 5, 0);
      sent.push_back(other);
      sent.back().number = uint32_t(sent.size());
    }
    UdpSession session("here", store_.maker());
    for (const Datagram &datagram : sent)
      send(session, datagram);
    session.finish();
    EXPECT_EQ(session.counts().lost + session.counts().events_lost, 0u);
    EXPECT_EQ(session.counts().wrong, wrong ? 1u : 0u);
    EXPECT_EQ(session.whole(), !wrong);
  }
}

// They are blackouts in the chunks that came whole: the collector counts none of its own.
TEST_F(UdpSessionTest, IsNotWholeWhereTheSenderDroppedEvents) {
  for (const uint64_t dropped : {uint64_t(0), uint64_t(7), uint64_t(5'000'000'000)}) {
    UdpSession session("here", store_.maker());
    DatagramPacker packer(5, [&](const Datagram &datagram) { send(session, datagram); });
    packer.chunk({0, test::ChunkBuilder(0).at(100).start().stop().records()});
    packer.end(100, dropped);
    session.finish();
    EXPECT_EQ(session.counts().dropped, std::min<uint64_t>(dropped, UINT32_MAX));
    EXPECT_EQ(session.whole(), dropped == 0);
  }
}

TEST_F(UdpSessionTest, SaysWhatItDoesNotKnowOfASenderThatNeverEnds) {
  Random random(3);
  const Capture capture(random);
  std::vector<Datagram> sent = pack(capture);
  sent.resize(sent.size() / 2);
  UdpSession session("here", store_.maker());
  for (const Datagram &datagram : sent)
    send(session, datagram);
  session.finish();
  EXPECT_FALSE(session.whole());
  EXPECT_EQ(nlohmann::json::parse(store_.traces["app-1"].description)["collected"]["end_came"],
            false);
}

TEST_F(UdpSessionTest, SurvivesDatagramsThatLie) {
  UdpSession session("here", store_.maker());
  Datagram datagram{.number = 1, .count = 3, .records = {}};
  const auto say = [&](uint16_t kind, uint16_t code, uint16_t cpu, uint64_t tsc) {
    ftrace_record_set(&datagram.records[0], FTrace_EXT_session, kind, 5, 0);
    ftrace_record_set(&datagram.records[1], code, cpu, tsc, 1);
    ftrace_record_set(&datagram.records[2], FTrace_EXT_migrate, 1, 7, 7);
    send(session, datagram);
    datagram.number++;
  };
  say(0, FTrace_EXT_part, 0, 1000);
  say(0, FTrace_EXT_part, 0, 10);      // fewer than before
  say(0, FTrace_EXT_part, 8192, 0);    // no such CPU
  say(0, FTrace_EXT_migrate, 0, 0);    // no part
  say(99, FTrace_EXT_part, 0, 0);      // no such kind
  say(2, FTrace_EXT_part, 0, 1 << 30); // a description of a gigabyte
  EXPECT_EQ(session.counts().wrong, 4u);
  session.finish();
  EXPECT_EQ(store_.traces.size(), 1u);
}

// libovnitrace and S.Ha.R.K. send records and nothing about them.
TEST_F(UdpSessionTest, WritesAPlainFileOfAnotherSender) {
  UdpSession session("10.0.0.1:20000", store_.maker());
  const auto datagram = [](uint32_t number) {
    Datagram one{.number = number, .count = 60, .records = {}};
    for (uint32_t n = 0; n < 60; n++)
      ftrace_record_set(&one.records[n], FTrace_EVT_user_event_0, 1, number * 100 + n, n);
    return one;
  };
  for (uint32_t number : {1u, 2u, 5u, 4u})
    send(session, datagram(number));
  session.finish();
  EXPECT_EQ(session.counts().lost, 1u);
  ASSERT_EQ(store_.traces.size(), 1u);
  const test::MemoryTrace &trace = store_.traces.begin()->second;
  EXPECT_EQ(trace.name, "10.0.0.1_20000");
  EXPECT_EQ(trace.description, "") << "a plain file is no trace directory";
  const std::vector<ftrace_record> records =
      records_of(trace.files.at({TraceSink::kPlainFile, Codec::none}));
  ASSERT_EQ(records.size(), 4u * 60 + 2);
  EXPECT_EQ(records[120].code, FTrace_EVT_blackout_start);
  EXPECT_EQ(ftrace_record_tsc(&records[120]), 259u);
  EXPECT_EQ(records[121].code, FTrace_EVT_blackout_end);
  EXPECT_EQ(ftrace_record_tsc(&records[121]), 400u);
}

} // namespace
} // namespace ovnitrace
