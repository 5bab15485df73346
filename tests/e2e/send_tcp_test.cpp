// SPDX-License-Identifier: BSD-2-Clause
// --send tcp:// to `ovnitrace collect`, over the loopback, with real captures.
#include "tests/e2e/support/collector.h"
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/prv.h"
#include "tests/e2e/support/trace.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ovnitrace::test {

class SendTcp : public CaptureTest {
protected:
  std::string collected() const { return path("collected"); }
  /// Sends plain chunks, because the tests count their records.
  Command send_command(const std::string &url, const std::vector<std::string> &program,
                       const std::vector<std::string> &options = {}) const {
    Command command;
    command.argv = {ovnitrace(), "record", "--send", url};
    if (std::find(options.begin(), options.end(), "--compress") == options.end())
      command.argv.push_back("--compress=0");
    command.argv.insert(command.argv.end(), options.begin(), options.end());
    command.argv.push_back("--");
    command.argv.insert(command.argv.end(), program.begin(), program.end());
    return command;
  }
  std::string write_key(const std::string &name, const std::string &key, mode_t mode = 0600) const {
    write_text(path(name), key);
    chmod(path(name).c_str(), mode);
    return path(name);
  }
  void expect_convertible(const std::string &trace) {
    const Outcome outcome = run({.argv = {ovnitrace(), "convert", trace}});
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
    EXPECT_EQ(outcome.err.find("warning"), std::string::npos) << outcome.err;
    expect_sound(read_prv(trace, "thread"), read_prv(trace, "cpu"));
  }
};

// Every record that the recorder made is in the files, and no command warns about them.
TEST_F(SendTcp, LosesNoneOfAMillionEvents) {
  CollectorProcess collector("tcp", collected());
  const Outcome sent = run(send_command(collector.url(), {installed("pingpong"), "400000"},
                                        {"--ring-size", "64M", "--chunks", "256"}));
  ASSERT_EQ(sent.status(), 0) << sent.err;
  EXPECT_NE(sent.err.find("written to " + collector.url() + " as " + collected()),
            std::string::npos)
      << sent.err;
  const Outcome stopped = collector.stop();
  EXPECT_EQ(stopped.status(), 0) << stopped.err;
  EXPECT_NE(stopped.err.find("is complete"), std::string::npos) << stopped.err;
  ASSERT_EQ(collector.traces().size(), 1u);
  const std::string trace = collector.traces()[0];
  const TraceRecord reported = read_trace_json(trace);
  EXPECT_EQ(reported.how, "exited with status 0");
  EXPECT_EQ(reported.lost, 0u);
  EXPECT_EQ(reported.records_dropped, 0u);
  EXPECT_EQ(count_records(trace), reported.records);
  EXPECT_GT(reported.events, 1'000'000u);
  const Outcome dumped = run({.argv = {ovnitrace(), "dump", trace}});
  EXPECT_EQ(dumped.status(), 0) << dumped.err;
  EXPECT_GT(std::count(dumped.out.begin(), dumped.out.end(), '\n'), 1'000'000);
}

TEST_F(SendTcp, GoesOnWhenNobodyReadsTheCollectorsOutput) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  Process collector(
      {.argv = {ovnitrace(), "collect", "--listen", "tcp://127.0.0.1:0", "-o", collected()},
       .in_child = [&] { dup2(ends[1], STDERR_FILENO); }});
  close(ends[1]);
  char said[256] = {};
  EXPECT_GT(read(ends[0], said, sizeof said - 1), 0);
  close(ends[0]);
  const std::string first = lines_of(said).at(0);
  EXPECT_EQ(run(send_command(first.substr(first.find("tcp://")), {"true"})).status(), 0);
  collector.signal(SIGINT);
  EXPECT_EQ(collector.wait().status(), 0);
}

TEST_F(SendTcp, GivesTheSameTraceAsALocalCapture) {
  CollectorProcess collector("tcp", collected());
  const Outcome sent = run(send_command(collector.url(), {installed("sched_mix")}));
  ASSERT_EQ(sent.status(), 0) << sent.err;
  const std::string trace = collector.traces().at(0);
  const TraceRecord reported = read_trace_json(trace);
  EXPECT_GT(reported.end, reported.begin);
  EXPECT_FALSE(reported.threads.empty());
  EXPECT_EQ(count_transitions(dump(trace)), reported.logged);
  for (const std::string &name : names_in(trace))
    EXPECT_TRUE(name == "trace.json" || name.ends_with(".ftr")) << name;
  expect_convertible(trace);
}

TEST_F(SendTcp, SendsCompressedChunksAsTheyAre) {
  CollectorProcess collector("tcp", collected());
  const Outcome sent =
      run(send_command(collector.url(), {installed("pingpong"), "20000"}, {"--compress"}));
  ASSERT_EQ(sent.status(), 0) << sent.err;
  const std::string trace = collector.traces().at(0);
  EXPECT_TRUE(exists(trace + "/cpu0000.ftr.zst"));
  EXPECT_EQ(run({.argv = {ovnitrace(), "compress", "-d", trace}}).status(), 0);
  EXPECT_EQ(count_records(trace), read_trace_json(trace).records);
  expect_convertible(trace);
}

TEST_F(SendTcp, TakesSeveralSendersAtOnceAndTheirKey) {
  const std::string key = write_key("key", "0123456789abcdef0123");
  CollectorProcess collector("tcp", collected(), {"--key", key});
  std::vector<std::unique_ptr<Process>> senders;
  for (int n = 0; n < 3; n++)
    senders.push_back(std::make_unique<Process>(send_command(
        collector.url(), {installed("pingpong"), "20000"}, {"--key", key, "--chunks", "256"})));
  for (auto &sender : senders) {
    const Outcome outcome = sender->wait();
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
  }
  EXPECT_EQ(collector.stop().status(), 0);
  ASSERT_EQ(collector.traces().size(), 3u);
  for (const std::string &trace : collector.traces()) {
    const TraceRecord reported = read_trace_json(trace);
    EXPECT_EQ(count_records(trace), reported.records);
    EXPECT_EQ(reported.records_dropped, 0u);
    expect_convertible(trace);
  }
}

TEST_F(SendTcp, RefusesAWrongKeyBeforeTheProgramRuns) {
  const std::string key = write_key("key", "0123456789abcdef0123"),
                    other = write_key("other", "0123456789abcdef0124"),
                    open = write_key("open", "0123456789abcdef0123", 0644);
  CollectorProcess keyed("tcp", collected(), {"--key", key});
  CollectorProcess plain("tcp", path("plain"));
  const auto refusal = [&](const std::string &url, const std::vector<std::string> &options) {
    const Outcome outcome = run(send_command(url, {"touch", path("ran")}, options));
    EXPECT_EQ(outcome.status(), 1) << outcome.err;
    EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome.err;
    return outcome.err;
  };
  EXPECT_NE(refusal(keyed.url(), {"--key", other}).find("wrong key"), std::string::npos);
  EXPECT_NE(refusal(keyed.url(), {}).find("only senders with its key"), std::string::npos);
  EXPECT_NE(refusal(plain.url(), {"--key", key}).find("the collector has no key"),
            std::string::npos);
  EXPECT_NE(refusal(keyed.url(), {"--key", open}).find("others may read"), std::string::npos);
  EXPECT_FALSE(exists(path("ran")));
  EXPECT_TRUE(keyed.traces().empty() && plain.traces().empty());
  EXPECT_EQ(
      run({.argv = {ovnitrace(), "collect", "--listen", "127.0.0.1:0", "--key", open}}).status(),
      1);
}

// ovnitrace reads files and connects as the user who called sudo.
TEST_F(SendTcp, ReadsTheKeyAsTheUser) {
  const std::string key = write_key("key", "0123456789abcdef0123");
  CollectorProcess collector("tcp", collected(), {"--key", key});
  Command command = send_command(collector.url(), {"true"}, {"--key", key});
  command.env = {{"SUDO_UID", std::to_string(nobody_uid())},
                 {"SUDO_GID", std::to_string(nobody_gid())}};
  EXPECT_NE(run(command).err.find("Permission denied"), std::string::npos);
  ASSERT_EQ(chown(key.c_str(), nobody_uid(), nobody_gid()), 0);
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
}

TEST_F(SendTcp, FailsBeforeTheProgramRunsIfNobodyCollects) {
  std::string url;
  {
    CollectorProcess collector("tcp", collected());
    url = collector.url();
    collector.stop();
  }
  const Outcome outcome = run(send_command(url, {"touch", path("ran")}));
  EXPECT_EQ(outcome.status(), 1);
  EXPECT_NE(outcome.err.find("cannot send to " + url + ": Connection refused"), std::string::npos)
      << outcome.err;
  EXPECT_FALSE(exists(path("ran")));
  EXPECT_EQ(run(send_command("127.0.0.1:1", {"true"})).status(), 2);
  EXPECT_EQ(run(send_command("tcp://127.0.0.1:1", {"true"}, {"-o", trace()})).status(), 2);
  EXPECT_EQ(run({.argv = {ovnitrace(), "record", "--key", "x", "--", "true"}}).status(), 2);
}

TEST_F(SendTcp, LeavesAReadableTraceOfASenderThatIsKilled) {
  CollectorProcess collector("tcp", collected());
  const std::string loop =
      "until [ -e " + path("go") + " ]; do " + installed("pingpong") + " 2000 >/dev/null; done";
  Process sender(send_command(collector.url(), {"sh", "-c", loop}, {"--chunk-size", "16K"}));
  eventually(
      [&] {
        return collector.traces().size() == 1 && count_records(collector.traces()[0]) > 10'000;
      },
      "records at the collector");
  sender.signal(SIGKILL);
  sender.wait();
  write_text(path("go"), "");
  eventually(
      [&] { return collector.process().err().find("disconnected before") != std::string::npos; },
      "it is noticed");
  EXPECT_EQ(collector.stop().status(), 3);
  const std::string trace = collector.traces().at(0);
  EXPECT_EQ(read_trace_json(trace).how, "still being captured, or the tracer was killed");
  const Outcome dumped = run({.argv = {ovnitrace(), "dump", trace}});
  EXPECT_GT(parse_dump(dumped.out).size(), 5'000u);
}

// The program runs on and notices nothing. The trace that the collector had received is readable.
TEST_F(SendTcp, ReportsInTheEndThatTheCollectorWasKilled) {
  CollectorProcess collector("tcp", collected());
  const std::string loop = "until [ -e " + path("go") + " ]; do " + installed("pingpong") +
                           " 2000 >/dev/null; done; " + installed("pingpong") +
                           " 20000 >/dev/null; echo >" + path("done");
  Process sender(send_command(collector.url(), {"sh", "-c", loop}, {"--chunk-size", "16K"}));
  eventually(
      [&] {
        return collector.traces().size() == 1 && count_records(collector.traces()[0]) > 10'000;
      },
      "records at the collector");
  collector.process().signal(SIGKILL);
  collector.process().wait();
  write_text(path("go"), "");
  const Outcome outcome = sender.wait();
  EXPECT_EQ(outcome.status(), 1);
  EXPECT_TRUE(exists(path("done")));
  EXPECT_NE(outcome.err.find("; cannot send to " + collector.url()), std::string::npos)
      << outcome.err;
  const Outcome dumped = run({.argv = {ovnitrace(), "dump", collector.traces().at(0)}});
  EXPECT_GT(parse_dump(dumped.out).size(), 5'000u);
}

// The collector takes nothing for a while. Records that do not fit into the sender's memory become
// a blackout with their number.
TEST_F(SendTcp, NeverWaitsForTheCollector) {
  CollectorProcess collector("tcp", collected());
  const std::string script = "echo >" + path("begun") + "; until [ -e " + path("go") +
                             " ]; do sleep 0.02; done; " + installed("pingpong") +
                             " 250000 >/dev/null; echo >" + path("done");
  Process sender(send_command(collector.url(), {"sh", "-c", script},
                              {"--chunk-size", "16K", "--chunks", "4", "--ring-size", "64M"}));
  eventually([&] { return exists(path("begun")); }, "the program runs");
  collector.process().signal(SIGSTOP);
  write_text(path("go"), "");
  eventually([&] { return exists(path("done")); },
             "the program ends though nobody takes its trace");
  collector.process().signal(SIGCONT);
  const Outcome outcome = sender.wait();
  EXPECT_EQ(outcome.status(), 1);
  EXPECT_NE(outcome.err.find("events are missing, shown as blackouts"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(collector.stop().status(), 3) << "it knows as much as the sender";
  const std::string trace = collector.traces().at(0);
  const TraceRecord reported = read_trace_json(trace);
  EXPECT_GT(reported.records_dropped, 10'000u);
  uint64_t records = 0, gaps = 0, lost = 0;
  for (const auto &[name, file] : records_in(trace))
    for (size_t n = 0; n < file.size(); n++) {
      records++;
      // The blackout has a chunk of its own: header, blackout, next_chunk or trace_stop.
      if (file[n].code == FTrace_EVT_numevents && n + 1 < file.size() &&
          file[n + 1].code == FTrace_EVT_blackout_start) {
        gaps += file[n].par2;
        lost += file[n + 2].par2;
      }
    }
  EXPECT_EQ(records - gaps + reported.records_dropped, reported.records);
  EXPECT_EQ(number_after(outcome.err, "was too slow: "), lost);
  expect_convertible(trace);
}

TEST_F(SendTcp, EndsATraceThatIsTooLarge) {
  CollectorProcess collector("tcp", collected(), {"--max-size", "200K"});
  const Outcome outcome = run(send_command(collector.url(), {installed("pingpong"), "50000"}));
  EXPECT_EQ(outcome.status(), 1);
  EXPECT_NE(outcome.err.find("the limit of 204800 bytes for one trace is reached"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("lost; not all of it written to " + collector.url()),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(outcome.err.find("; written to"), std::string::npos) << outcome.err;
  EXPECT_EQ(collector.stop().status(), 3);
}

// The part of a message that found room is kept, even of the first message.
TEST_F(SendTcp, ACollectorWithAFullDiskKeepsTheWrittenPart) {
  CollectorProcess collector("tcp", collected(), {}, [] {
    const rlimit limit = {
        100'000, 100'000}; // of each file; there as on a full disk a write ends early, then fails
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  const Outcome outcome = run(send_command(collector.url(), {installed("pingpong"), "20000"}));
  EXPECT_EQ(outcome.status(), 1);
  EXPECT_NE(outcome.err.find("what had been written before stays readable"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(outcome.err.find("(0 records not written"), std::string::npos) << outcome.err;
  EXPECT_EQ(collector.stop().status(), 3);
  ASSERT_EQ(collector.traces().size(), 1u);
  EXPECT_GE(count_records(collector.traces()[0]), 100'000 / sizeof(ftrace_record));
}

// The exit status of a program that failed takes precedence over that of ovnitrace.
TEST_F(SendTcp, ReportsAStoppedCollectorAndEndsAsTheProgram) {
  for (const auto &[status, reported] : {std::pair{0, 1}, {7, 7}}) {
    CollectorProcess collector("tcp", collected());
    const std::string go = path("go" + std::to_string(status)),
                      begun = path("begun" + std::to_string(status));
    Process sender(send_command(collector.url(),
                                {"sh", "-c",
                                 "echo >" + begun + "; until [ -e " + go +
                                     " ]; do sleep 0.02; done; exit " + std::to_string(status)}));
    eventually([&] { return exists(begun); }, "the program runs");
    collector.stop();
    write_text(go, "");
    const Outcome outcome = sender.wait();
    EXPECT_EQ(outcome.status(), reported) << outcome.err;
    EXPECT_NE(outcome.err.find("not all of it written to " + collector.url()), std::string::npos)
        << outcome.err;
    EXPECT_NE(outcome.err.find("the collector was stopped"), std::string::npos) << outcome.err;
  }
}

TEST_F(SendTcp, CollectsOnUnderNohup) {
  CollectorProcess collector("tcp", collected(), {}, [] { signal(SIGHUP, SIG_IGN); });
  collector.process().signal(SIGHUP);
  EXPECT_EQ(run(send_command(collector.url(), {"true"})).status(), 0);
  EXPECT_EQ(collector.stop().status(), 0);
  EXPECT_EQ(collector.traces().size(), 1u);
}

// The collector runs as nobody, and listens on the loopback by default. The test has a network
// namespace of its own, where port 20000 is free.
TEST_F(SendTcp, ListensOnTheLoopbackWithoutRoot) {
  ASSERT_EQ(chown(directory().c_str(), nobody_uid(), nobody_gid()), 0);
  Process collector({.argv = {ovnitrace(), "collect"}, .cwd = directory(), .in_child = [] {
                       if (unshare(CLONE_NEWNET) != 0)
                         _exit(202);
                       const int any = socket(AF_INET, SOCK_DGRAM, 0);
                       ifreq loopback = {};
                       loopback.ifr_name[0] = 'l', loopback.ifr_name[1] = 'o';
                       loopback.ifr_flags = IFF_UP;
                       if (ioctl(any, SIOCSIFFLAGS, &loopback) != 0)
                         _exit(203);
                       close(any);
                       become_nobody();
                     }});
  eventually([&] { return collector.err().find('\n') != std::string::npos; }, "it listens");
  collector.signal(SIGTERM);
  const Outcome outcome = collector.wait();
  EXPECT_EQ(outcome.status(), 0);
  EXPECT_EQ(outcome.err, "ovnitrace: listening on tcp://127.0.0.1:20000\n");
}

} // namespace ovnitrace::test
