// SPDX-License-Identifier: BSD-2-Clause
// Reading by a thread of its own: emulator/input/read_ahead.
#include "emulator/base/error.h"
#include "emulator/input/read_ahead.h"
#include "emulator/input/read_watcher.h"
#include "tests/unit/support/collecting_sink.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <functional>
#include <random>
#include <string>

namespace ovnitrace {
namespace {

using test::CollectingSink;

/// Event n is at time n. Reports where `reports` says so, and throws at `throws_at`.
class Numbers final : public EventSource {
public:
  Numbers(uint64_t count, DiagnosticSink &sink) : EventSource(sink), count_(count) {}

  const Catalog &catalog() const override { return catalog_; }
  bool next(Event &event) override {
    for (uint64_t n = 0; n < reports(time_); n++)
      diagnostics().report({.file = {}, .offset = time_, .what = std::to_string(n)});
    if (time_ == throws_at)
      throw Error("at " + std::to_string(time_));
    if (time_ == count_)
      return false;
    event = {};
    event.time = time_;
    payload_ = std::string(time_ % 7, char('a' + time_ % 26));
    if (with_payloads && time_ % 3 == 0) {
      event.payload = reinterpret_cast<const uint8_t *>(payload_.data());
      event.payload_size = uint32_t(payload_.size());
    }
    time_++;
    return true;
  }

  /// How many before event n.
  std::function<uint64_t(uint64_t n)> reports = [](uint64_t) { return 0; };
  uint64_t throws_at = UINT64_MAX;
  bool with_payloads = false;

private:
  Catalog catalog_;
  uint64_t count_;
  uint64_t time_ = 0;
  std::string payload_; ///< of the last event: gone with the next
};

/// With several CPUs, and with one.
class ReadAheadTest : public testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    sched_getaffinity(0, sizeof before_, &before_);
    if (!GetParam())
      return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(unsigned(sched_getcpu()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }
  void TearDown() override { sched_setaffinity(0, sizeof before_, &before_); }

  CollectingSink sink_;

private:
  cpu_set_t before_;
};

TEST_P(ReadAheadTest, GivesAllEventsInOrder) {
  for (const uint64_t count : {0, 1, 511, 512, 513, 4096, 100'000}) {
    Numbers source(count, sink_);
    ReadAhead reader(source);
    uint64_t next = 0;
    for (auto events = reader.next(); !events.empty(); events = reader.next())
      for (const Event &event : events)
        ASSERT_EQ(event.time, next++);
    EXPECT_EQ(next, count);
    EXPECT_TRUE(reader.next().empty()) << "again";
  }
  EXPECT_TRUE(sink_.reported.empty());
}

TEST_P(ReadAheadTest, KeepsPayloadsAsLongAsTheEvents) {
  Numbers source(10'000, sink_);
  source.with_payloads = true;
  ReadAhead reader(source);
  for (auto events = reader.next(); !events.empty(); events = reader.next())
    for (const Event &event : events) {
      ASSERT_EQ(event.payload != nullptr, event.time % 3 == 0);
      const std::string payload(reinterpret_cast<const char *>(event.payload), event.payload_size);
      ASSERT_EQ(payload,
                std::string(event.payload ? event.time % 7 : 0, char('a' + event.time % 26)));
    }
}

TEST_P(ReadAheadTest, ReportsJustBeforeTheEventThatFollows) {
  std::mt19937 random(1);
  for (int round = 0; round < 20; round++) {
    const uint64_t count = random() % 3000, every = 1 + random() % 700;
    CollectingSink sink;
    Numbers source(count, sink);
    source.reports = [&](uint64_t n) { return n % every ? 0 : 1 + n % 3; };
    ReadAhead reader(source);
    uint64_t reports = source.reports(0), next = 0; ///< until the next event
    for (auto events = reader.next(); !events.empty(); events = reader.next())
      for (const Event &event : events) {
        ASSERT_EQ(event.time, next);
        ASSERT_EQ(sink.reported.size(), reports) << "before event " << next;
        reports += source.reports(++next);
      }
    ASSERT_EQ(next, count);
    ASSERT_EQ(sink.reported.size(), reports) << "those after the last event too";
    for (size_t n = 0; n < sink.reported.size(); n++)
      ASSERT_EQ(sink.reported[n].offset % every, 0u);
  }
}

TEST_P(ReadAheadTest, RethrowsErrorsOfTheSource) {
  for (const uint64_t at : {0, 1, 512, 5000}) {
    Numbers source(10'000, sink_);
    source.throws_at = at;
    source.reports = [at](uint64_t n) { return n == at ? 1 : 0; };
    CollectingSink sink;
    source.report_to(sink);
    ReadAhead reader(source);
    uint64_t read = 0;
    try {
      for (auto events = reader.next(); !events.empty(); events = reader.next())
        read += events.size();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error &error) {
      EXPECT_EQ(error.what(), "at " + std::to_string(at));
    }
    EXPECT_EQ(read, at) << "all before it";
    EXPECT_EQ(sink.reported.size(), 1u) << "and what was reported";
  }
}

/// Adds up what is reported to it.
class Watcher final : public ReadWatcher {
public:
  Watcher() { current = this; }
  ~Watcher() override { current = nullptr; }
  void reads(const Catalog &, uint64_t time, uint64_t events) override {
    EXPECT_EQ(time + 1, sum += events) << "the time of the last one";
  }
  void walks(double) override { ADD_FAILURE(); }
  void ends() override { ended++; }
  uint64_t sum = 0, ended = 0;
};

TEST_P(ReadAheadTest, TellsHowFarItIs) {
  for (const uint64_t count : {0, 1, 5000}) {
    Watcher watcher;
    Numbers source(count, sink_);
    {
      ReadAhead reader(source);
      uint64_t read = 0;
      for (auto events = reader.next(); !events.empty(); events = reader.next()) {
        EXPECT_LE(watcher.sum, read) << "only what was used";
        read += events.size();
      }
      EXPECT_EQ(watcher.ended, 0u);
    }
    EXPECT_EQ(watcher.ended, 1u);
    EXPECT_GT(watcher.sum + 1024, count) << "all but the last batch";
  }
}

TEST_P(ReadAheadTest, EndsWhereverItIsLeft) {
  for (int batches = 0; batches < 30; batches++) {
    Numbers source(100'000, sink_);
    source.reports = [](uint64_t n) { return n == 99'999 ? 1 : 0; };
    {
      ReadAhead reader(source);
      for (int n = 0; n < batches; n++)
        ASSERT_FALSE(reader.next().empty());
    }
    Event event;
    while (source.next(event))
      continue;
    ASSERT_EQ(sink_.reported.size(), size_t(batches) + 1) << "it reports to its own sink again";
  }
}

INSTANTIATE_TEST_SUITE_P(Cpus, ReadAheadTest, testing::Bool(),
                         [](const auto &test) { return test.param ? "One" : "All"; });

} // namespace
} // namespace ovnitrace
