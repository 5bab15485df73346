// SPDX-License-Identifier: BSD-2-Clause
// What the catalog says of hosts: their clocks, their CPUs, and the commands of their processes.
#include "emulator/input/catalog.h"
#include "emulator/input/command_lines.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {
namespace {

using Texts = std::vector<std::string>;

/// The clock of the second host is 1000 ns ahead.
class CatalogHosts : public ::testing::Test {
protected:
  Catalog catalog(const std::string &first, const std::string &second) {
    test::TraceBuilder one(one_.path()), two(two_.path());
    one.cpu(0).at(100).start().id(1, 7, 7, "a").dispatch(1).at(300).stop();
    two.cpu(1).at(1100).start().id(1, 7, 7, "b").dispatch(1).at(1200).stop();
    one.json(R"({"version": 1)" + first + "}").write();
    two.json(R"({"version": 1)" + second + "}").write();
    return open_trace({{one_.path()}, {two_.path(), -1000}}, sink_)->catalog();
  }

private:
  test::TempDir one_, two_;
  test::CollectingSink sink_;
};

TEST_F(CatalogHosts, TimesOfAHostAreOnTheClockOfTheTrace) {
  const std::string members = R"(, "peers": [{"tid": 77, "since_ns": 1150, "name": "x"}],
      "marks": [{"time_ns": 1180, "text": "m"}],
      "command_lines": [{"pid": 7, "text": "a"}, {"pid": 7, "since_ns": 1200, "text": "b"}])";
  const Catalog both = catalog(members, members);
  const HostInfo &one = both.hosts[0], &two = both.hosts[1];
  EXPECT_EQ(one.peers.at(0).since_ns, 1150u);
  EXPECT_EQ(two.peers.at(0).since_ns, 150u);
  EXPECT_EQ(one.marks.at(0).time_ns, 1180u);
  EXPECT_EQ(two.marks.at(0).time_ns, 180u);
  EXPECT_EQ(one.command_lines.at(1).since_ns, 1200u);
  EXPECT_EQ(two.command_lines.at(1).since_ns, 200u);
  EXPECT_EQ(two.command_lines.at(0).since_ns, 0u) << "before the capture";
}

TEST_F(CatalogHosts, AHostIsDescribedByItsTrace) {
  const Catalog both = catalog("", R"(, "host": "two", "machine": "aarch64", "program_pid": 9,
      "cpus": 3, "all_threads": true, "idle_states": ["C1"], "cgroups": ["/a", 5],
      "devices": [{"device": 3, "name": "sda"}], "options": {"stacks": "user"},
      "control": {"chains": [{"name": "load"}]})");
  const HostInfo &one = both.hosts[0], &two = both.hosts[1];
  EXPECT_EQ(two.name, "two");
  EXPECT_EQ(two.machine, "aarch64");
  EXPECT_EQ(two.program_pid, 9u);
  EXPECT_TRUE(two.all_threads);
  EXPECT_FALSE(one.all_threads);
  EXPECT_FALSE(two.cpu_holders);
  EXPECT_FALSE(two.sees_refills);
  EXPECT_EQ(two.idle_states, Texts{"C1"});
  EXPECT_EQ(two.chains, Texts{"load"});
  EXPECT_EQ(two.devices.at(0).name, "sda");
  ASSERT_EQ(two.cgroups.size(), 2u);
  EXPECT_EQ(two.cgroups[0].path, "/a");
  EXPECT_EQ(two.cgroups[1].path, "cgroup 2") << "its path is not known";
  EXPECT_EQ(one.stacks, "");
  EXPECT_NE(two.stacks, "") << "the directory with the stacks";
  std::string cpus;
  for (const CpuInfo &cpu : both.cpus)
    cpus += std::to_string(cpu.host) + ":" + std::to_string(cpu.index) + " ";
  EXPECT_EQ(cpus, "0:0 1:0 1:1 1:2 ");
}

TEST_F(CatalogHosts, CpusAreThoseOfTheTopologyAndThoseThatHaveEvents) {
  // CPU 1 of the second host came online later, and the tracer was killed.
  const Catalog both = catalog(R"(, "boot_id": "x")", R"(, "boot_id": "x", "cpus": 4,
      "topology": [{"cpu": 0}, {"cpu": 3}])");
  std::string cpus;
  for (const CpuInfo &cpu : both.cpus)
    cpus += std::to_string(cpu.host) + ":" + std::to_string(cpu.index) + " ";
  EXPECT_EQ(cpus, "0:0 1:0 1:1 1:3 ");
  EXPECT_EQ(cpu_count(both), 3u) << "both traces are of one machine";
}

TEST_F(CatalogHosts, IdleStatesAreSeenIfAllCpusAreRecordedWithPower) {
  const auto sees = [&](const std::string &families, const std::string &filter) {
    return catalog("", R"(, "options": {"families": ")" + families + R"("}, "filters": [")" +
                           filter + "\"]")
        .hosts[1]
        .sees_idle;
  };
  EXPECT_TRUE(sees("sched, power", "--comm x"));
  EXPECT_FALSE(sees("sched, powers", "--comm x"));
  EXPECT_FALSE(sees("sched, power", "--cpu 1"));
  EXPECT_FALSE(sees("sched, power", "--no-cpu 1"));
}

TEST_F(CatalogHosts, TheDateIsThatOfTheFirstHostThatKnowsIt) {
  // By the clock of the second host, the trace begins at 1100.
  const auto wall = [](const std::string &ns) {
    return R"(, "clock": {"to_wall_ns": )" + ns + "}";
  };
  EXPECT_EQ(catalog("", "").date, 0);
  EXPECT_EQ(catalog("", wall("1699999999999998900")).date, 1'700'000'000);
  EXPECT_EQ(catalog("", wall("1699999999999998899")).date, 1'699'999'999);
  EXPECT_EQ(catalog(wall("1600000000000000000"), wall("1699999999999998900")).date, 1'600'000'000);
  EXPECT_EQ(catalog(wall("-5000000000"), wall("1699999999999998900")).date, 1'700'000'000)
      << "no date";
  EXPECT_EQ(catalog(wall("-100"), wall("1699999999999998900")).date, 1'700'000'000)
      << "nor is the first second";
}

TEST_F(CatalogHosts, ACaptureCanBeLongerThanItsEvents) {
  const Catalog plain = catalog("", "");
  EXPECT_EQ(plain.begin, 100u);
  EXPECT_EQ(plain.end, 300u);
  EXPECT_EQ(catalog("", R"(, "end_ns": 1301)").end, 301u) << "by the clock of the host";
  EXPECT_EQ(catalog("", R"(, "end_ns": 1299)").end, 300u);
  const std::string lost = R"(, "begin_ns": 1050, "ended": {"write_error": "no space"})";
  EXPECT_EQ(catalog("", lost).begin, 50u) << "the start of a file is lost";
  EXPECT_EQ(catalog("", lost + R"(, "forgotten": 1)").begin, 100u);
  EXPECT_EQ(catalog("", R"(, "begin_ns": 1050)").begin, 100u);
}

/// The pid 300 was used twice: the second process was born at 500.
TEST(CommandLinesOf, AThreadHasTheLastCommandOfItsProcess) {
  Catalog catalog;
  catalog.hosts.resize(2);
  catalog.hosts[0].command_lines = {{300, 0, "first"},    {300, 499, "second"}, {300, 500, "third"},
                                    {300, 900, "fourth"}, {500, 20, "lone"},    {600, 650, "old"}};
  catalog.hosts[1].command_lines = {{300, 5, "far"}};
  struct Thread {
    uint32_t tid, pid, host;
    uint64_t birth;
  };
  for (const Thread &of :
       {Thread{300, 300, 0, 0}, Thread{300, 300, 0, 500}, Thread{301, 300, 0, 499},
        Thread{302, 300, 0, 500}, Thread{300, 300, 1, 0}, Thread{400, 400, 0, 0},
        Thread{501, 500, 0, 10}, Thread{600, 600, 0, 700}}) {
    ThreadInfo &thread = catalog.threads.emplace_back();
    thread.tid = of.tid;
    thread.pid = of.pid;
    thread.host = of.host;
    thread.birth = of.birth;
  }
  EXPECT_EQ(command_lines(catalog),
            (std::vector<std::string_view>{"second", "fourth", "second", "fourth", "far", "",
                                           "lone", ""}));
}

/// An event has 16 bits for the number of its file.
TEST(CatalogFiles, AreAsManyAsAnEventCanName) {
  const auto catalog_of = [](size_t files) {
    std::vector<HostInput> hosts(2);
    for (size_t n = 0; n < files; n++)
      hosts[n % 2].chunks.emplace_back().cpu = uint16_t(n / 2);
    CutPlanner planner(0);
    return make_catalog(hosts, planner);
  };
  EXPECT_EQ(catalog_of(65535).files.size(), 65535u);
  EXPECT_EQ(test::error_from([&] { catalog_of(65536); }),
            "cannot read 65536 chunk files at once: at most 65535");
}

} // namespace
} // namespace ovnitrace
