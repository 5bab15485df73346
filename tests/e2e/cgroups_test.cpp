// SPDX-License-Identifier: BSD-2-Clause
// The cgroups of threads in a capture: those of the start, births in them, and moves.
#include "tests/e2e/support/cgroups.h"
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

namespace ovnitrace::test {

using nlohmann::json;

namespace {

/// Returns the hierarchies whose cgroups a capture records: not that of the freezer.
std::vector<std::string> recorded_places() {
  std::vector<std::string> places = cgroup_places();
  std::erase_if(places, [](const std::string &place) { return place.ends_with("/freezer"); });
  return places;
}

} // namespace

class Cgroups : public CaptureTest {
protected:
  std::string unique(const std::string &name) { return name + std::to_string(getpid()); }
  json output(const std::vector<std::string> &arguments) {
    std::vector<std::string> argv = {ovnitrace()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const Outcome outcome = run({.argv = argv});
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
    return json::parse(outcome.out);
  }
  /// Returns what `info` has of the threads.
  json threads(const std::vector<std::string> &options = {}) {
    std::vector<std::string> arguments = {"info", "--json", trace()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return output(arguments)["threads"];
  }
  /// Returns the cgroups of the threads of a name, as `info` has them.
  std::multiset<std::string> of(const std::string &name) {
    std::multiset<std::string> paths;
    for (const json &thread : threads())
      if (thread["name"] == name)
        paths.insert(thread["cgroup"].is_string() ? thread["cgroup"].get<std::string>() : "-");
    return paths;
  }
};

TEST_F(Cgroups, AProgramThatMovesAndForksIsShownInItsCgroup) {
  const std::string id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  for (const std::string &place : recorded_places()) {
    SCOPED_TRACE(place);
    std::filesystem::remove_all(trace());
    TestCgroup slice(place, unique("ovnitrace-test-"));
    slice.add("docker-" + id + ".scope");
    slice.add("web.service");
    const std::string below = slice.path().substr(place.size());
    const std::string container = below + "/docker-" + id + ".scope", unit = below + "/web.service";
    const auto enter = [&](const std::string &path) {
      return "echo 0 > " + place + path + "/cgroup.procs; ";
    };
    record({"sh", "-c",
            enter(container) + installed("many_threads") + " 5; " + enter(unit) + "sleep 0.01"});
    EXPECT_EQ(of("many_threads").size(), 6u);
    EXPECT_EQ(of("many_threads").count(container), 6u);
    EXPECT_EQ(of("sleep"), std::multiset<std::string>{unit});
    EXPECT_EQ(of("sh"), std::multiset<std::string>{unit});
    std::map<std::string, int> moves;
    for (const DumpEvent &event : dump(trace()))
      if (event.event == "EXT_cgroup_move")
        moves[event.detail("cgroup")]++;
    EXPECT_EQ(moves.size(), 2u) << "sh, into two cgroups";
    for (const auto &[cgroup, times] : moves)
      EXPECT_EQ(times, 1) << cgroup;
    std::set<std::string> groups;
    const json why = output({"why", "--json", trace()});
    for (const json &group : why["cgroups"])
      groups.insert(group["group"].get<std::string>());
    EXPECT_EQ(groups, (std::set<std::string>{"docker 0123456789ab", "web.service"}));
  }
}

// A path has 32 parts at most, and its last 1024 bytes. If parts are missing, it says so.
TEST_F(Cgroups, LongPathsAreCutInFront) {
  const std::string long_name(255, 'n');
  const struct {
    std::string part;
    size_t whole; ///< so many below the test's own still have room
  } limits[] = {{"deep", 31}, {long_name, 3}};
  const std::string place = recorded_places().at(0);
  for (const auto &[part, whole] : limits) {
    TestCgroup slice(place, unique("ovnitrace-test-"));
    std::string inside;
    for (size_t parts = 1; parts <= whole + 1; parts++) {
      inside += (parts > 1 ? "/" : "") + part;
      slice.add(inside);
      if (parts < whole)
        continue;
      std::filesystem::remove_all(trace());
      record({"sh", "-c", "echo 0 > " + slice.path() + "/" + inside + "/cgroup.procs; sleep 0.01"});
      const std::string below = slice.path().substr(place.size());
      EXPECT_EQ(of("sleep"),
                std::multiset<std::string>{(parts > whole ? "…" : below) + "/" + inside});
    }
  }
}

TEST_F(Cgroups, TheSnapshotAndAMoveOfAllThreadsOfAProcessAreRecorded) {
  const std::string place = recorded_places().at(0);
  TestCgroup slice(place, unique("ovnitrace-test-"));
  slice.add("a.service");
  slice.add("b.service");
  const std::string below = slice.path().substr(place.size());
  Process program({.argv = {installed("sched_mix"), "600"}});
  const std::string tasks = "/proc/" + std::to_string(program.pid()) + "/task";
  ASSERT_TRUE(eventually([&] { return names_in(tasks).size() == 15; }, "the threads of sched_mix"));
  TestCgroup::move(program.pid(), slice.path() + "/a.service");
  Process tracer(record_command(trace(), {}, {"-a"}));
  ASSERT_TRUE(eventually([&] { return exists(trace() + "/trace.json"); }, "the capture begins"));
  ASSERT_TRUE(blocked(program.pid(), blocks_of(program.pid()) + 5));
  TestCgroup::move(program.pid(), slice.path() + "/b.service");
  ASSERT_TRUE(blocked(program.pid(), blocks_of(program.pid()) + 5));
  tracer.signal(SIGINT);
  EXPECT_EQ(tracer.wait().status(), 0);
  size_t moved = 0;
  for (const DumpEvent &event : dump(trace()))
    moved += event.event == "EXT_cgroup_move" && exists(tasks + "/" + std::to_string(event.tid));
  EXPECT_EQ(moved, 15u);
  size_t in_b = 0, in_kernel = 0;
  for (const json &thread : threads()) {
    in_b += thread["cgroup"] == below + "/b.service" &&
            exists(tasks + "/" + std::to_string(thread["tid"].get<uint32_t>()));
    in_kernel += thread["cgroup"] == "kernel";
    EXPECT_FALSE(thread["cgroup"].is_null()) << thread["name"];
  }
  EXPECT_EQ(in_b, 15u);
  EXPECT_GT(in_kernel, 0u);
  std::set<std::string> before;
  for (const json &thread : threads({"--pid", std::to_string(program.pid()), "--to", "1ns"}))
    before.insert(thread["cgroup"].get<std::string>());
  EXPECT_EQ(before, std::set<std::string>{below + "/a.service"});
}

// The creator is in none of the cgroups that are recorded.
TEST_F(Cgroups, AProcessThatIsMadeInACgroupNamesItsCreator) {
  std::string place;
  for (const std::string &each : recorded_places())
    if (exists(each + "/cgroup.controllers"))
      place = each;
  if (place.empty())
    GTEST_SKIP() << "no hierarchy of version 2 is mounted";
  TestCgroup slice(place, unique("ovnitrace-test-"));
  const Process first({.argv = {"sleep", "1000"}});
  TestCgroup::move(first.pid(), slice.path());
  Process tracer(record_command(trace(), {}, {"--cgroup", slice.path().substr(place.size())}));
  ASSERT_TRUE(eventually([&] { return exists(trace() + "/trace.json"); }, "the capture begins"));
  const int cgroup = open(slice.path().c_str(), O_DIRECTORY | O_CLOEXEC);
  clone_args made = {};
  made.flags = CLONE_INTO_CGROUP;
  made.exit_signal = SIGCHLD;
  made.cgroup = uint64_t(cgroup);
  const auto child = pid_t(syscall(SYS_clone3, &made, sizeof(made)));
  if (child == 0)
    _exit(pause());
  close(cgroup);
  ASSERT_GT(child, 0) << strerror(errno);
  ASSERT_TRUE(blocked(child, 1));
  tracer.signal(SIGINT);
  EXPECT_EQ(tracer.wait().status(), 0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::string creator;
  for (const DumpEvent &event : dump(trace()))
    if (event.tid == uint32_t(child) && event.detail("new") == "1")
      creator = event.detail("waker");
  EXPECT_EQ(creator, "e2e_tests(" + std::to_string(gettid()) + ")");
  const json peers = json::parse(read_text(trace() + "/trace.json"))["peers"];
  EXPECT_FALSE(peers.empty());
  for (const json &peer : peers)
    EXPECT_TRUE(peer.contains("cgroup")) << peer;
}

} // namespace ovnitrace::test
