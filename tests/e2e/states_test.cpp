// SPDX-License-Identifier: BSD-2-Clause
// A chunk says in which state each thread is, for a reader that lacks the chunks before it.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/prv.h"
#include "tests/e2e/support/trace.h"

#include <ovnitrace/ftrace_codes.h>
#include <ovnitrace/ftrace_record.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace ovnitrace::test {

class States : public CaptureTest {
protected:
  void convert(const std::string &trace) const {
    const Outcome outcome = run({.argv = {ovnitrace(), "convert", trace}});
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
  }
  /// A PRV without the date in its first line.
  std::string prv(const std::string &trace, const std::string &name) const {
    const std::string text = read_text(trace + "/" + name + ".prv");
    return text.substr(std::min(text.find(')'), text.size()));
  }
};

/// Removes all EXT_state records from the files of a trace, and returns how many there were.
size_t leave_out_states(const std::string &trace) {
  size_t states = 0;
  for (const std::string &name : names_in(trace)) {
    if (!name.ends_with(".ftr"))
      continue;
    std::string bytes = read_text(trace + "/" + name);
    for (size_t at = 0; at + sizeof(ftrace_record) <= bytes.size(); at += sizeof(ftrace_record)) {
      ftrace_record record;
      std::memcpy(&record, bytes.data() + at, sizeof record);
      if (record.code != FTrace_EXT_state)
        continue;
      states++;
      record.code = FTrace_EVT_empty;
      std::memcpy(bytes.data() + at, &record, sizeof record);
    }
    write_text(trace + "/" + name, bytes);
  }
  return states;
}

// If no chunk is missing, the records add nothing.
TEST_F(States, ChangeNothingWhereNothingIsMissing) {
  record({installed("sched_mix"), "0.5"}, {"--chunk-size", "4K", "--compress=0"});
  convert(trace());
  const std::string thread = prv(trace(), "thread"), cpu = prv(trace(), "cpu");
  const std::vector<DumpEvent> events = dump(trace());
  EXPECT_GT(leave_out_states(trace()), 10u);
  convert(trace());
  EXPECT_TRUE(prv(trace(), "thread") == thread);
  EXPECT_TRUE(prv(trace(), "cpu") == cpu);
  EXPECT_EQ(dump(trace()).size(), events.size());
  EXPECT_EQ(read_trace_json(trace()).events, events.size());
}

// A flight recorder has kept nothing but a thread's own events. It still knows which thread logged
// them, and that another thread, which has logged nothing since the start, is blocked.
TEST_F(States, AThreadKeepsItsStateWhenItsLastSwitchIsEvicted) {
  constexpr unsigned kEvents = 20'000;
  const Outcome outcome =
      record({installed("user_events"), "spin", std::to_string(kEvents)}, {"--buffer", "cyc:16K"});
  unsigned spinning = 0, blocked = 0;
  ASSERT_EQ(std::sscanf(outcome.out.c_str(), "spinning %u blocked %u", &spinning, &blocked), 2)
      << outcome.out;
  ASSERT_EQ(read_trace_json(trace()).lost, 0u);
  std::vector<DumpEvent> own = dump(trace());
  std::erase_if(own, [](const DumpEvent &event) { return event.event != "user_event_0"; });
  ASSERT_GT(own.size(), 100u);
  ASSERT_LT(own.size(), kEvents / 2) << "most are forgotten";

  convert(trace());
  const Prv threads = read_prv(trace(), "thread"), cpus = read_prv(trace(), "cpu");
  expect_sound(threads, cpus);
  const auto row_of = [&](unsigned tid) {
    const auto row =
        std::find_if(threads.rows.begin(), threads.rows.end(), [&](const std::string &name) {
          return name.ends_with("(" + std::to_string(tid) + ")");
        });
    return size_t(row - threads.rows.begin());
  };
  const size_t spinner = row_of(spinning), sleeper = row_of(blocked);
  ASSERT_LT(spinner, threads.rows.size());
  ASSERT_LT(sleeper, threads.rows.size());
  constexpr uint32_t kUserEvent0 = 300;
  size_t next = 0; // of its events
  replay(threads, cpus, [&](const Instant &instant) {
    for (; next < own.size() && own[next].time <= instant.time; next++) {
      if (own[next].time < instant.time)
        continue; // of one instant only the last is shown
      EXPECT_EQ(value_of(instant.threads[spinner], kThreadState), kRunning) << instant.time;
      EXPECT_EQ(value_of(instant.threads[sleeper], kThreadState), kPaused) << instant.time;
      EXPECT_EQ(value_of(instant.threads[spinner], kUserEvent0),
                std::stoll(own[next].detail("par2")));
    }
  });
  EXPECT_EQ(next, own.size());
}

} // namespace ovnitrace::test
