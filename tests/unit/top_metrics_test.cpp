// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace top --metrics` counts, and how it serves it.
#include "emulator/base/error.h"
#include "emulator/top/top_table.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"
#include "user/net/endpoint.h"
#include "user/top/metrics_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sstream>
#include <thread>

namespace ovnitrace {
namespace {

constexpr uint64_t kMs = 1'000'000; // ns

using Lines = std::vector<std::string>;

/// Returns the lines that begin with a text, without it.
Lines after(const std::string &text, const std::string &start) {
  Lines found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(start))
      found.push_back(line.substr(start.size()));
  return found;
}

/// 10 ms on CPU 3. `app` runs until 2 ms, is preempted by `hog` until 5 ms, and is blocked from 6
/// ms to 7 ms. It gets its CPU 1023 ns later, and is blocked again for 500 ns from 8 ms on. Its
/// thread `aide` runs then, and lets it wait for 2048 ns.
class TopMetrics : public ::testing::Test {
protected:
  explicit TopMetrics(const std::string &name = "app") {
    test::TraceBuilder trace(dir_.path());
    auto &cpu = trace.cpu(3).at(0).start().id(1, 10, 10, name).id(2, 20, 20, "hog");
    cpu.id(3, 11, 10, "aide").dispatch(1).at(2 * kMs).epilogue(1, 20).dispatch(2);
    cpu.at(5 * kMs).epilogue(2, 10).dispatch(1).at(6 * kMs).sleep(1, 20).dispatch(2);
    cpu.at(7 * kMs).activate(1, 20).at(7 * kMs + 1023).sleep(2, 10).dispatch(1);
    cpu.at(8 * kMs).sleep(1, 11).dispatch(3).at(8 * kMs + 500).activate(1, 11);
    cpu.at(8 * kMs + 500 + 2048).sleep(3, 10).dispatch(1).at(10 * kMs).stop();
    trace.write();
  }
  TopPart part(uint64_t from, uint64_t to) { return read_top_part(dir_.path(), from, to, sink_); }

  test::TempDir dir_;
  test::CollectingSink sink_;
  Metrics metrics_;
};

TEST_F(TopMetrics, TimesSumAllThreadsOfAProcess) {
  metrics_.add(part(0, 10 * kMs));
  const std::string text = metrics_.text();
  EXPECT_EQ(after(text, R"(ovnitrace_thread_seconds_total{process="app",group="",state=)"),
            (Lines{R"("running"} 0.005998977)", R"("preempted"} 0.003000000)",
                   R"("throttled"} 0.000000000)", R"("woken"} 0.000003071)",
                   R"("blocked"} 0.002997952)", R"("unknown"} 0.008000000)"}));
  EXPECT_EQ(
      after(text, R"(ovnitrace_switches_total{process="app",group="",reason=)"),
      (Lines{R"("preempted"} 1)", R"("yielded"} 0)", R"("throttled"} 0)", R"("voluntary"} 3)"}));
  EXPECT_EQ(after(text, R"(ovnitrace_wakeups_total{process="app",group=""})"), Lines{" 2"});
  EXPECT_EQ(after(text, "ovnitrace_cpu_busy_seconds_total{"), Lines{R"(cpu="3"} 0.010000000)"});
  EXPECT_EQ(after(text, "ovnitrace_observed_seconds_total"), Lines{" 0.010000000"});
  EXPECT_EQ(after(text, "ovnitrace_lost_events_total"), Lines{" 0"});
}

TEST_F(TopMetrics, EachProcessHasItsOwnNumbers) {
  metrics_.add(part(0, 10 * kMs));
  const std::string text = metrics_.text();
  EXPECT_EQ(after(text, "ovnitrace_wakeups_total"),
            (Lines{R"({process="app",group=""} 2)", R"({process="hog",group=""} 0)"}));
  EXPECT_EQ(
      after(text, R"(ovnitrace_switches_total{process="hog",group="",reason=)"),
      (Lines{R"("preempted"} 1)", R"("yielded"} 0)", R"("throttled"} 0)", R"("voluntary"} 1)"}));
  EXPECT_EQ(after(text, "ovnitrace_migrations_total"),
            (Lines{R"({process="app",group=""} 0)", R"({process="hog",group=""} 0)"}));
  const std::vector<std::string> events = after(text, "ovnitrace_events_total");
  ASSERT_EQ(events.size(), 1u);
  metrics_.add(part(0, 10 * kMs));
  EXPECT_EQ(std::stoul(after(metrics_.text(), "ovnitrace_events_total").at(0)),
            2 * std::stoul(events[0]));
}

TEST_F(TopMetrics, ThrottledTimeIsNotPreempted) {
  test::TempDir dir;
  test::TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").id(2, 20, 20, "hog").dispatch(1);
  cpu.at(kMs).epilogue(1, 20, FTRACE_OFFCPU_THROTTLED).dispatch(2).at(3 * kMs).epilogue(2, 10);
  cpu.dispatch(1).at(4 * kMs).stop();
  trace.write();
  for (uint64_t ms = 0; ms < 4; ms += 2) // the throttled time goes on at the end of the first part
    metrics_.add(read_top_part(dir.path(), ms * kMs, (ms + 2) * kMs, sink_));
  const Lines states =
      after(metrics_.text(), R"(ovnitrace_thread_seconds_total{process="app",group="",state=)");
  EXPECT_EQ(states[1], R"("preempted"} 0.000000000)");
  EXPECT_EQ(states[2], R"("throttled"} 0.002000000)");
}

TEST_F(TopMetrics, EveryMetricThatIsKnownHasItsHelpAndType) {
  const std::string latency = "HELP ovnitrace_wakeup_latency_seconds How long threads waited for a "
                              "CPU after a wakeup.";
  EXPECT_EQ(after(metrics_.text(), "# "),
            (Lines{
                "HELP ovnitrace_thread_seconds_total Time of threads in each state.",
                "TYPE ovnitrace_thread_seconds_total counter",
                "HELP ovnitrace_switches_total How often threads left their CPU.",
                "TYPE ovnitrace_switches_total counter",
                "HELP ovnitrace_wakeups_total How often a thread became runnable.",
                "TYPE ovnitrace_wakeups_total counter",
                "HELP ovnitrace_migrations_total How often a thread moved to another CPU.",
                "TYPE ovnitrace_migrations_total counter",
                latency,
                "TYPE ovnitrace_wakeup_latency_seconds histogram",
                "HELP ovnitrace_cpu_busy_seconds_total Time in which a CPU ran a recorded thread.",
                "TYPE ovnitrace_cpu_busy_seconds_total counter",
                "HELP ovnitrace_observed_seconds_total Time that these metrics are about.",
                "TYPE ovnitrace_observed_seconds_total counter",
                "HELP ovnitrace_events_total Events that were recorded.",
                "TYPE ovnitrace_events_total counter",
                "HELP ovnitrace_lost_events_total Events that were lost.",
                "TYPE ovnitrace_lost_events_total counter",
            }));
}

TEST_F(TopMetrics, OnlyProcessesThatLiveInTheIntervalAreCounted) {
  test::TempDir dir;
  test::TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "gone").id(2, 20, 20, "hog").dispatch(1);
  cpu.at(kMs).end(1).dispatch(2).at(4 * kMs).stop();
  trace.write();
  metrics_.add(read_top_part(dir.path(), 2 * kMs, 4 * kMs, sink_));
  EXPECT_EQ(after(metrics_.text(), "ovnitrace_wakeups_total"),
            Lines{R"({process="hog",group=""} 0)"});
}

/// A thread waits for CPU 0 while CPU 1, which it may use, is idle.
TEST_F(TopMetrics, IdleTimeHasItsCause) {
  test::TempDir dir;
  test::TraceBuilder trace(dir.path());
  trace.json(R"({"format": "ovnitrace", "version": 1, "all_threads": true})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").id(2, 20, 20, "hog").dispatch(2);
  cpu.record(FTrace_EXT_affinity, 1, 0b11)
      .at(kMs)
      .activate(1)
      .at(3 * kMs)
      .sleep(2, 10)
      .dispatch(1)
      .at(4 * kMs)
      .stop();
  trace.cpu(1)
      .at(0)
      .start()
      .id(3, 30, 30, "other")
      .dispatch(3)
      .at(2)
      .sleep(3, 0)
      .at(4 * kMs)
      .stop();
  trace.write();
  metrics_.add(read_top_part(dir.path(), 0, 4 * kMs, sink_));
  EXPECT_EQ(after(metrics_.text(),
                  R"(ovnitrace_idle_while_waiting_seconds_total{process="app",group="",cause=)"),
            (Lines{R"("in_flight"} 0.000000000)", R"("scheduler"} 0.002000000)",
                   R"("affinity"} 0.000000000)"}));
  EXPECT_EQ(after(metrics_.text(), "# HELP ovnitrace_idle_while_waiting_seconds_total"),
            Lines{" Time in which threads waited for a CPU while a CPU was idle."});
  TopPart interval = read_top_part(dir.path(), 0, 4 * kMs, sink_);
  EXPECT_EQ(top_table(interval, {.columns = 100}).head.at(1),
            "waited 2.000 ms for a CPU, 2.000 ms of it while a CPU was idle that the thread may "
            "use");
}

TEST_F(TopMetrics, LatenciesAreCountedUpToEachBound) {
  metrics_.add(part(0, 10 * kMs));
  const std::string text = metrics_.text(),
                    of_app =
                        R"(ovnitrace_wakeup_latency_seconds_bucket{process="app",group="",le=)";
  Lines buckets = after(text, of_app);
  ASSERT_EQ(buckets.size(), 12u);
  EXPECT_EQ(buckets[0], R"("0.000001023"} 1)") << "1023 ns, not 2048 ns";
  EXPECT_EQ(buckets[1], R"("0.000004095"} 2)");
  EXPECT_EQ(buckets[10], R"("1.073741823"} 2)");
  EXPECT_EQ(buckets[11], R"("+Inf"} 2)");
  EXPECT_EQ(after(text, R"(ovnitrace_wakeup_latency_seconds_sum{process="app",group=""})"),
            Lines{" 0.000003071"});
  EXPECT_EQ(after(text, R"(ovnitrace_wakeup_latency_seconds_count{process="app",group=""})"),
            Lines{" 2"});
}

TEST_F(TopMetrics, IntervalsAddUp) {
  for (uint64_t ms = 0; ms < 10; ms += 2)
    metrics_.add(part(ms * kMs, (ms + 2) * kMs));
  Metrics whole;
  whole.add(part(0, 10 * kMs));
  for (const char *name : {"ovnitrace_thread_seconds_total", "ovnitrace_cpu_busy_seconds_total",
                           "ovnitrace_observed_seconds_total", "ovnitrace_wakeup_latency_seconds"})
    EXPECT_EQ(after(metrics_.text(), name), after(whole.text(), name)) << name;
}

TEST_F(TopMetrics, LaterGroupsAreCountedTogether) {
  test::TempDir dir;
  test::TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(0).start();
  constexpr uint16_t kProcesses = Metrics::kMostGroups + 2;
  for (uint16_t n = 1; n <= kProcesses; n++)
    cpu.id(n, n, n, fmt::format("process-{}", n));
  for (uint16_t n = 1; n <= kProcesses; n++)
    cpu.at(n * kMs).dispatch(n).at((n + 1) * kMs).sleep(n);
  cpu.stop();
  trace.write();
  metrics_.add(read_top_part(dir.path(), 0, (kProcesses + 1) * kMs, sink_));
  const Lines wakeups = after(metrics_.text(), "ovnitrace_wakeups_total");
  EXPECT_EQ(wakeups.size(), Metrics::kMostGroups + 1);
  const std::string others =
      R"x(ovnitrace_thread_seconds_total{process="(others)",group="",state="running"})x";
  EXPECT_EQ(after(metrics_.text(), others), Lines{" 0.002000000"}) << "the last two";
}

class StrangeNameInMetrics : public TopMetrics {
protected:
  StrangeNameInMetrics() : TopMetrics(R"(a\"b)") {}
};

TEST_F(StrangeNameInMetrics, IsEscaped) {
  metrics_.add(part(0, 10 * kMs));
  EXPECT_EQ(after(metrics_.text(), R"(ovnitrace_wakeups_total{process="a\\\"b",group=""})"),
            Lines{" 2"})
      << metrics_.text();
}

/// Answers requests until its test ends.
class ServedMetrics : public TopMetrics {
protected:
  ServedMetrics() {
    UniqueFd socket = listen_on({Endpoint::kTcp, "127.0.0.1", 0});
    const std::string address = local_text(socket.get());
    port_ = uint16_t(std::stoul(address.substr(address.rfind(':') + 1)));
    server_.emplace(std::move(socket));
    server_->take(dir_.path(), 0, 10 * kMs);
    thread_ = std::thread([this] { server_->wait(UINT64_MAX / 2, end_); });
  }
  ~ServedMetrics() override {
    eventfd_write(end_, 1);
    thread_.join();
    close(end_);
  }
  /// Returns a connection from an address of this machine, 127.0.0.`host`.
  UniqueFd connection_from(uint32_t host) const {
    UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in from = {}, to = {};
    from.sin_family = to.sin_family = AF_INET;
    from.sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~0xffu) | host);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(port_);
    if (bind(fd.get(), reinterpret_cast<sockaddr *>(&from), sizeof from) != 0 ||
        connect(fd.get(), reinterpret_cast<sockaddr *>(&to), sizeof to) != 0)
      fd = UniqueFd();
    const timeval most = {10, 0}; // only if nothing ever comes
    setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    return fd;
  }
  /// Returns the whole response.
  std::string ask(const std::string &request, uint32_t host = 1) const {
    const UniqueFd fd = connection_from(host);
    if (!fd)
      return "no connection";
    const std::string text = request + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    EXPECT_EQ(send(fd.get(), text.data(), text.size(), 0), ssize_t(text.size()));
    std::string all;
    char buffer[4096];
    for (ssize_t got; (got = recv(fd.get(), buffer, sizeof buffer, 0)) > 0;)
      all.append(buffer, size_t(got));
    return all;
  }

  std::optional<MetricsServer> server_;
  const int end_ = eventfd(0, EFD_CLOEXEC);
  uint16_t port_ = 0;
  std::thread thread_;
};

TEST_F(ServedMetrics, SumUpTheIntervals) {
  metrics_.add(part(0, 10 * kMs));
  const std::string response = ask("GET /metrics");
  EXPECT_TRUE(response.starts_with("HTTP/1.1 200 ")) << response;
  EXPECT_NE(response.find("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"),
            std::string::npos);
  EXPECT_TRUE(response.ends_with("\r\n\r\n" + metrics_.text())) << response;
  const std::string head = ask("HEAD /metrics");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 ")) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
}

TEST_F(ServedMetrics, AreNothingElse) {
  EXPECT_TRUE(ask("GET /").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(ask("POST /metrics").starts_with("HTTP/1.1 405 "));
  EXPECT_TRUE(ask("POST /metrics").ends_with("\r\n\r\nonly GET\n"));
  EXPECT_FALSE(ask("\x01\xff").starts_with("HTTP/1.1 2"));
  EXPECT_TRUE(ask("GET /metrics").starts_with("HTTP/1.1 200 ")) << "it still answers";
}

TEST_F(ServedMetrics, AreForOthersWhileOneHostHoldsManyConnections) {
  std::vector<UniqueFd> idle;
  for (int n = 0; n < 40; n++)
    idle.push_back(connection_from(2));
  EXPECT_TRUE(ask("GET /metrics").starts_with("HTTP/1.1 200 "));
}

TEST(MetricsAddress, InUseIsAnError) {
  const UniqueFd first = listen_on({Endpoint::kTcp, "127.0.0.1", 0});
  const std::string address = local_text(first.get());
  const auto port = uint16_t(std::stoul(address.substr(address.rfind(':') + 1)));
  EXPECT_THROW(listen_on({Endpoint::kTcp, "127.0.0.1", port}), Error);
}

TEST(MetricsServerTest, NeedsASocket) {
  EXPECT_EQ(test::error_from([] { MetricsServer(UniqueFd(open("/dev/null", O_RDONLY))); }),
            "cannot start the HTTP server of --metrics");
}

TEST_F(ServedMetrics, AreRefusedToTheNinthConnectionOfAHost) {
  std::vector<UniqueFd> idle;
  for (int n = 0; n < 7; n++)
    idle.push_back(connection_from(2));
  EXPECT_TRUE(ask("GET /metrics", 2).starts_with("HTTP/1.1 200 ")) << "the eighth";
  idle.push_back(connection_from(2));
  EXPECT_EQ(ask("GET /metrics", 2), "") << "the ninth";
  EXPECT_TRUE(ask("GET /metrics", 3).starts_with("HTTP/1.1 200 "));
}

TEST_F(ServedMetrics, AreForOneOf32Connections) {
  std::vector<UniqueFd> idle;
  for (uint32_t n = 0; n < 31; n++)
    idle.push_back(connection_from(2 + n / 8));
  EXPECT_TRUE(ask("GET /metrics").starts_with("HTTP/1.1 200 "));
}

TEST_F(ServedMetrics, SayWhatEndsWithTheCapture) {
  EXPECT_EQ(server_->unfinished(), "no metrics are served any more");
  EXPECT_TRUE(ask("GET /other").ends_with("\r\n\r\nsee /metrics\n"));
  EXPECT_NE(ask("GET /other").find("\r\nContent-Type: text/plain\r\n"), std::string::npos);
}

} // namespace
} // namespace ovnitrace
