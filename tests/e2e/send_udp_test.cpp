// SPDX-License-Identifier: BSD-2-Clause
// --send udp:// to `ovnitrace collect`, over the loopback, with real captures and a bad network.
#include "tests/e2e/support/collector.h"
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/lossy_relay.h"
#include "tests/e2e/support/prv.h"
#include "tests/e2e/support/trace.h"

#include <ovnitrace/ftrace_codes.h>

#include <nlohmann/json.hpp>

#include <csignal>
#include <cstring>

namespace ovnitrace::test {

class SendUdp : public CaptureTest {
protected:
  Command send_command(const std::string &url, const std::vector<std::string> &program) const {
    Command command;
    command.argv = {ovnitrace(), "record", "--ring-size", "64M", "--send", url, "--"};
    command.argv.insert(command.argv.end(), program.begin(), program.end());
    return command;
  }
  static nlohmann::json collected(const std::string &trace) {
    return nlohmann::json::parse(read_text(trace + "/trace.json")).at("collected");
  }
  /// Events in the files, those that their blackouts count included, each by itself.
  struct Events {
    uint64_t there = 0, lost = 0;
  };
  static Events events_in(const std::string &trace) {
    Events events;
    for (const auto &[name, records] : records_in(trace))
      for (const ftrace_record &record : records) {
        // All that sched_switch and its like make; no record that describes.
        const int code = record.code & FTRACE_CODE_MASK;
        const bool thread = (code & 0xf) == 2 || code == FTrace_EXT_exec ||
                            code == FTrace_EXT_exit || code == FTrace_EXT_migrate ||
                            code == FTrace_EXT_snapshot || code == FTrace_EXT_affinity ||
                            code == FTrace_EXT_holder || code == FTrace_EXT_refill ||
                            code == FTrace_EXT_work || code == FTrace_EXT_work_age;
        events.there += code == FTrace_EXT_wake_switch ? 3 : code == FTrace_EXT_switch ? 2 : thread;
        if (record.code == FTrace_EVT_blackout_end && record.par1 != FTRACE_BLACKOUT_SOMEWHERE)
          events.lost += record.par2;
      }
    return events;
  }
  void expect_convertible(const std::string &trace) {
    const Outcome outcome = run({.argv = {ovnitrace(), "convert", trace}});
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
    EXPECT_EQ(outcome.err.find("warning"), std::string::npos) << outcome.err;
    expect_sound(read_prv(trace, "thread"), read_prv(trace, "cpu"));
  }
  static bool reported(CollectorProcess &collector, const std::string &what, unsigned times = 1) {
    return eventually(
        [&] {
          unsigned found = 0;
          const std::string said = collector.process().err();
          for (size_t at = said.find(what); at != said.npos; at = said.find(what, at + 1))
            found++;
          return found >= times;
        },
        what);
  }
};

// Everything that was sent is in the files or in a blackout; and every datagram came or is reported
// as lost.
TEST_F(SendUdp, AccountsForAMillionEvents) {
  CollectorProcess collector("udp", path("collected"));
  const Outcome sent = run(send_command(collector.url(), {installed("pingpong"), "400000"}));
  EXPECT_LE(sent.status(), 1)
      << sent.err; // 1: the sender itself had to leave something out, and counted it
  reported(collector, " reordered, ");
  collector.stop();
  const std::string trace = collector.traces().at(0);
  const nlohmann::json json = collected(trace);
  EXPECT_EQ(json["end_came"], true);
  const Events events = events_in(trace);
  EXPECT_EQ(events.there + events.lost, json["events"].get<uint64_t>());
  EXPECT_GE(events.lost, json["events_lost"].get<uint64_t>());
  EXPECT_GT(json["events"].get<uint64_t>(), 1'000'000u);
  EXPECT_EQ(json["events_lost"].get<uint64_t>() == 0, json["lost"].get<uint64_t>() == 0);
  expect_convertible(trace);
}

TEST_F(SendUdp, CountsExactlyWhatABadNetworkLoses) {
  CollectorProcess collector("udp", path("collected"));
  LossyRelay relay(collector.url());
  // Few enough datagrams that all of them have room where they wait.
  std::vector<std::unique_ptr<Process>> senders;
  for (int n = 0; n < 2; n++)
    senders.push_back(
        std::make_unique<Process>(send_command(relay.url(), {installed("pingpong"), "10000"})));
  for (auto &sender : senders) {
    const Outcome outcome = sender->wait();
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
  }
  relay.stop();
  reported(collector, " reordered, ", 2);
  EXPECT_EQ(collector.stop().status(), 3) << "they are not whole";
  ASSERT_EQ(collector.traces().size(), 2u);
  uint64_t lost = 0, repeated = 0, reordered = 0;
  for (const std::string &trace : collector.traces()) {
    const nlohmann::json json = collected(trace);
    lost += json["lost"].get<uint64_t>();
    repeated += json["repeated"].get<uint64_t>();
    reordered += json["reordered"].get<uint64_t>();
    EXPECT_GT(json["events_lost"].get<uint64_t>(), 0u);
    const Events events = events_in(trace);
    EXPECT_EQ(events.there + events.lost, json["events"].get<uint64_t>());
    EXPECT_EQ(events.lost, json["events_lost"].get<uint64_t>());
    expect_convertible(trace);
  }
  EXPECT_GT(relay.dropped(), 10u);
  EXPECT_EQ(lost, relay.dropped());
  EXPECT_EQ(repeated, relay.repeated());
  EXPECT_GT(reordered, 10u);
}

TEST_F(SendUdp, GivesTheSameTraceAsALocalCapture) {
  CollectorProcess collector("udp", path("collected"));
  const Outcome sent = run(send_command(collector.url(), {installed("sched_mix")}));
  ASSERT_EQ(sent.status(), 0) << sent.err;
  reported(collector, "is complete");
  EXPECT_EQ(collector.stop().status(), 0);
  const std::string trace = collector.traces().at(0);
  const TraceRecord record = read_trace_json(trace);
  EXPECT_EQ(record.how, "exited with status 0");
  EXPECT_EQ(count_records(trace), record.records);
  EXPECT_EQ(count_transitions(dump(trace)), record.logged);
  expect_convertible(trace);
}

TEST_F(SendUdp, LeavesAReadableTraceOfASenderThatIsKilled) {
  CollectorProcess collector("udp", path("collected"));
  const std::string loop =
      "until [ -e " + path("go") + " ]; do " + installed("pingpong") + " 2000 >/dev/null; done";
  Process sender(send_command(collector.url(), {"sh", "-c", loop}));
  eventually(
      [&] {
        return collector.traces().size() == 1 && count_records(collector.traces()[0]) > 10'000;
      },
      "records at the collector");
  sender.signal(SIGKILL);
  sender.wait();
  write_text(path("go"), "");
  EXPECT_EQ(collector.stop().status(), 3);
  const std::string trace = collector.traces().at(0);
  EXPECT_EQ(collected(trace)["end_came"], false);
  const Outcome dumped = run({.argv = {ovnitrace(), "dump", trace}});
  EXPECT_GT(parse_dump(dumped.out).size(), 5'000u);
}

TEST_F(SendUdp, SaysInTheEndThatNobodyListened) {
  std::string url;
  {
    CollectorProcess collector("udp", path("collected"));
    url = collector.url();
    collector.stop();
  }
  const Outcome outcome = run(send_command(url, {"touch", path("ran")}));
  EXPECT_EQ(outcome.status(), 1);
  EXPECT_TRUE(exists(path("ran")));
  EXPECT_NE(outcome.err.find("did not reach " + url + ": Connection refused"), std::string::npos)
      << outcome.err;
}

// The network sender of libovnitrace itself; what it logged is what is converted.
TEST_F(SendUdp, TakesWhatTheLibrarySends) {
  CollectorProcess collector("udp", path("collected"));
  const std::string address = collector.url().substr(std::string("udp://").size());
  const Outcome sent = run({.argv = {installed("library_sender_static"), address, "300"}});
  ASSERT_EQ(sent.status(), 0) << sent.out << sent.err;
  eventually(
      [&] {
        return !collector.traces().empty() && exists(collector.traces()[0] + "/trace.dat") &&
               read_text(collector.traces()[0] + "/trace.dat").size() >=
                   300 * sizeof(ftrace_record);
      },
      "the records");
  const Outcome stopped = collector.stop();
  EXPECT_EQ(stopped.status(), 0) << stopped.err;
  EXPECT_NE(stopped.err.find(" is complete: "), std::string::npos) << stopped.err;
  ASSERT_EQ(collector.traces().size(), 1u);
  const std::string file = collector.traces()[0] + "/trace.dat";
  const std::string bytes = read_text(file);
  std::vector<ftrace_record> records(bytes.size() / sizeof(ftrace_record));
  memcpy(records.data(), bytes.data(), records.size() * sizeof(ftrace_record));
  uint32_t next = 0;
  for (const ftrace_record &record : records)
    if (record.code == FTrace_EVT_user_event_1) {
      EXPECT_EQ(record.par2, next++);
    }
  EXPECT_EQ(next, 300u);
  const Outcome converted = run({.argv = {ovnitrace(), "convert", file}});
  EXPECT_EQ(converted.status(), 0) << converted.err;
  EXPECT_EQ(converted.err.find("warning"), std::string::npos) << converted.err;
  const Outcome dumped = run({.argv = {ovnitrace(), "dump", file}});
  EXPECT_EQ(dumped.status(), 0) << dumped.err;
}

} // namespace ovnitrace::test
