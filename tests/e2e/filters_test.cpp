// SPDX-License-Identifier: BSD-2-Clause
// Filters of threads where other tools fail: living processes, cgroups inside cgroups, cgroups that
// come later, short lives, PID namespaces.
#include "tests/e2e/support/cgroups.h"
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <unistd.h>

namespace ovnitrace::test {

namespace {

/// `pid`: only of this process; 0: all.
std::set<uint32_t> tids_in(const std::string &trace, pid_t pid = 0) {
  std::set<uint32_t> tids;
  for (const ThreadRecord &thread : read_trace_json(trace).threads)
    if (!pid || thread.pid == uint32_t(pid))
      tids.insert(thread.tid);
  return tids;
}

size_t count_named(const std::string &trace, const std::string &name) {
  const TraceRecord record = read_trace_json(trace);
  return size_t(std::count_if(record.threads.begin(), record.threads.end(),
                              [&](const ThreadRecord &thread) { return thread.name == name; }));
}

} // namespace

class Filters : public CaptureTest {
protected:
  /// A capture of the machine with these filters, which has begun.
  std::unique_ptr<Process> start(const std::vector<std::string> &filters) {
    std::filesystem::remove_all(trace());
    auto tracer = std::make_unique<Process>(record_command(trace(), {}, filters));
    EXPECT_TRUE(eventually([&] { return exists(trace() + "/trace.json"); }, "the capture begins"));
    return tracer;
  }
  Outcome stop(Process &tracer) {
    tracer.signal(SIGINT);
    const Outcome outcome = tracer.wait();
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
    return outcome;
  }
  /// Runs `true` in a cgroup.
  static void run_in(const std::string &cgroup) {
    const Outcome program =
        run({.argv = {"sh", "-c", "echo 0 > " + cgroup + "/cgroup.procs; exec /bin/true"}});
    EXPECT_EQ(program.status(), 0) << program.err;
  }
  std::string unique(const std::string &name) { return name + std::to_string(getpid()); }
  Outcome refused(std::vector<std::string> options) {
    options.insert(options.begin(), {ovnitrace(), "record"});
    const Outcome outcome = run({.argv = options});
    EXPECT_EQ(outcome.status(), 2) << outcome.err;
    return outcome;
  }
};

TEST_F(Filters, AContainerIsFoundWithTheProcessesThatAlreadyRunInIt) {
  for (const std::string &place : cgroup_places()) {
    SCOPED_TRACE(place);
    const std::string id =
        "0123456789abcdef0123456789abcdef0123456789abcdef" + unique("0000000000");
    TestCgroup slice(place, unique("ovnitrace-test-")), other(place, unique("ovnitrace-other-"));
    slice.add("docker-" + id + ".scope");
    slice.add("docker-" + id + ".scope/inner");
    Process outside({.argv = {"sleep", "1000"}});
    Process inside({.argv = {"sleep", "1000"}});
    Process busy({.argv = {"sh", "-c", "while :; do sleep 0.01; done"}});
    TestCgroup::move(inside.pid(), slice.path() + "/docker-" + id + ".scope");
    TestCgroup::move(busy.pid(), slice.path() + "/docker-" + id + ".scope/inner");
    const auto tracer = start({"--container", id.substr(0, 50)});
    ASSERT_TRUE(blocked(busy.pid(), blocks_of(busy.pid()) + 5));
    const Outcome outcome = stop(*tracer);
    EXPECT_NE(outcome.err.find("docker-" + id), std::string::npos) << outcome.err;
    const std::set<uint32_t> tids = tids_in(trace());
    EXPECT_TRUE(tids.contains(uint32_t(inside.pid())));
    EXPECT_TRUE(tids.contains(uint32_t(busy.pid())));
    EXPECT_FALSE(tids.contains(uint32_t(outside.pid())));
    EXPECT_GE(count_named(trace(), "sleep"), 5u) << "those that live for 10 ms";
  }
}

TEST_F(Filters, AUnitThatStartsLaterIsRecordedFromItsFirstProcess) {
  const std::string unit = unique("ovnitrace-late");
  const auto tracer = start({"--unit", unit});
  const std::string place = cgroup_places().at(0);
  for (int again = 0; again < 2; again++) { // a unit that is restarted has a new cgroup
    TestCgroup slice(place, unique("ovnitrace-test-"));
    slice.add(unit + ".service");
    const std::string procs = slice.path() + "/" + unit + ".service/cgroup.procs";
    const Outcome program =
        run({.argv = {"sh", "-c",
                      "echo 0 > " + procs + "; " + installed("many_threads") + " 5; /bin/true"}});
    EXPECT_EQ(program.status(), 0) << program.err;
  }
  const Outcome outcome = stop(*tracer);
  EXPECT_NE(outcome.err.find("there is no such cgroup now; ovnitrace waits"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(count_named(trace(), "many_threads"), 12u);
  EXPECT_EQ(count_named(trace(), "true"), 2u);
  EXPECT_EQ(count_named(trace(), "sh"), 2u);
}

TEST_F(Filters, AUnitIsFoundHoweverOftenItWasMadeBefore) {
  const std::string unit = unique("ovnitrace-again");
  TestCgroup slice(cgroup_places().at(0), unique("ovnitrace-test-"));
  const auto tracer = start({"--unit", unit});
  const std::string service = unit + ".service";
  for (int n = 0; n < 70; n++) {
    slice.add(service);
    ASSERT_EQ(rmdir((slice.path() + "/" + service).c_str()), 0);
  }
  slice.add(service);
  run_in(slice.path() + "/" + service);
  const Outcome outcome = stop(*tracer);
  EXPECT_EQ(outcome.err.find("more than 64 cgroups"), std::string::npos) << outcome.err;
  EXPECT_EQ(count_named(trace(), "true"), 1u);
}

TEST_F(Filters, SixtyFourCgroupsPassAtATime) {
  const std::string unit = unique("ovnitrace-many"), service = "/" + unit + ".service";
  TestCgroup slice(cgroup_places().at(0), unique("ovnitrace-test-"));
  const auto tracer = start({"--unit", unit});
  const auto add = [&](int number) {
    const std::string parent = "of-" + std::to_string(number);
    slice.add(parent);
    slice.add(parent + service);
    return slice.path() + "/" + parent + service;
  };
  const std::string first = add(1);
  for (int n = 2; n < 64; n++)
    add(n);
  const std::string last = add(64), beyond = add(65);
  run_in(first);
  run_in(last);
  run_in(beyond); // not recorded
  ASSERT_EQ(rmdir(first.c_str()), 0);
  run_in(add(66)); // has its place
  const Outcome outcome = stop(*tracer);
  EXPECT_NE(outcome.err.find("warning: more than 64 cgroups pass the filters"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(count_named(trace(), "true"), 3u);
}

TEST_F(Filters, EachThreadOfAProcessFollowsItIntoACgroup) {
  const std::string place = cgroup_places().at(0);
  TestCgroup cgroup(place, unique("ovnitrace-test-"));
  Process program({.argv = {installed("sched_mix"), "600"}});
  const std::string tasks = "/proc/" + std::to_string(program.pid()) + "/task";
  ASSERT_TRUE(eventually([&] { return names_in(tasks).size() == 15; }, "the threads of sched_mix"));
  const auto tracer = start({"-G", cgroup.path()});
  TestCgroup::move(program.pid(), cgroup.path());
  ASSERT_TRUE(blocked(program.pid(), blocks_of(program.pid()) + 5));
  TestCgroup::move(program.pid(), place);
  ASSERT_TRUE(blocked(program.pid(), blocks_of(program.pid()) + 20));
  stop(*tracer);
  std::set<uint32_t> living;
  for (const std::string &tid : names_in(tasks))
    living.insert(uint32_t(std::stoul(tid)));
  EXPECT_EQ(tids_in(trace(), program.pid()), living);
  std::map<uint32_t, std::string> last;
  for (const DumpEvent &event : dump(trace()))
    if (event.event == "EXT_snapshot")
      last[event.tid] = event.detail("state");
  for (const uint32_t tid : living)
    EXPECT_EQ(last[tid], "unknown") << tid << " has left";
}

TEST_F(Filters, ShortLivesAreRecordedWhole) {
  record({"sh", "-c", "for n in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done"}, {"-n", "true"});
  EXPECT_EQ(count_named(trace(), "true"), 10u);
  EXPECT_EQ(read_trace_json(trace()).threads.size(), 10u);
  size_t ends = 0;
  for (const DumpEvent &event : dump(trace()))
    ends += event.event == "task_end";
  EXPECT_EQ(ends, 10u);
}

TEST_F(Filters, WakersAndHoldersOutsideKeepTheirNames) {
  Process target({.argv = {"sleep", "1000"}});
  const auto tid = uint32_t(target.pid());
  const auto tracer = std::make_unique<Process>(
      record_command(path("woken"), {}, {"-t", std::to_string(target.pid())}));
  ASSERT_TRUE(eventually([&] { return exists(path("woken") + "/trace.json"); }, "it begins"));
  const Outcome waker = run({.argv = {"bash", "-c", "kill -TERM " + std::to_string(target.pid())}});
  target.wait();
  stop(*tracer);
  EXPECT_EQ(tids_in(path("woken")), std::set{tid});
  bool named = false;
  for (const DumpEvent &event : dump(path("woken")))
    named |= event.event == "task_activate" && event.detail("waker").starts_with("bash(");
  EXPECT_TRUE(named);
}

TEST_F(Filters, PidsAreThoseOfOvnitracesPidNamespace) {
  for (const std::string option : {"-p", "-t"}) {
    const Outcome outcome =
        run({.argv = {"unshare", "--pid", "--fork", "--mount-proc", "sh", "-c",
                      "sleep 1000 & " + ovnitrace() + " record -q -f -o " + trace() + " -d 0.3 " +
                          option + " $!; status=$?; kill $!; exit $status"}});
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
    const TraceRecord record = read_trace_json(trace());
    ASSERT_EQ(record.threads.size(), 1u);
    EXPECT_EQ(record.threads[0].name, "sleep");
    if (option == "-p") {
      EXPECT_EQ(record.attached_pids, std::vector{record.threads[0].pid})
          << "a trace has the machine's pids";
    }
  }
}

// Members of a container have other numbers there, but are found by their cgroup.
TEST_F(Filters, PidNamespacesOfContainersDoNotMatter) {
  TestCgroup slice(cgroup_places().at(0), unique("ovnitrace-test-"));
  const std::string machine = unique("web");
  slice.add("machine-" + machine + ".scope");
  const auto tracer = start({"--container", machine});
  const Outcome program =
      run({.argv = {"sh", "-c",
                    "echo 0 > " + slice.path() + "/machine-" + machine + ".scope/cgroup.procs; " +
                        "unshare --pid --fork " + installed("many_threads") + " 5"}});
  EXPECT_EQ(program.status(), 0) << program.err;
  stop(*tracer);
  EXPECT_EQ(count_named(trace(), "many_threads"), 6u);
}

TEST_F(Filters, AllOptionsMustPass) {
  Process program({.argv = {installed("sched_mix"), "600"}});
  const std::string pid = std::to_string(program.pid()), tasks = "/proc/" + pid + "/task";
  ASSERT_TRUE(eventually([&] { return names_in(tasks).size() == 15; }, "the threads of sched_mix"));
  Process other({.argv = {"sleep", "1000"}});
  const std::string tid = names_in(tasks).at(3);
  const Outcome both = run({.argv = {ovnitrace(), "record", "--dry-run", "-p", pid, "-t",
                                     tid + "," + std::to_string(other.pid())}});
  EXPECT_EQ(both.status(), 0) << both.err;
  EXPECT_NE(both.out.find(" " + tid + " "), std::string::npos) << both.out;
  EXPECT_NE(both.out.find("1 thread would be recorded now"), std::string::npos) << both.out;
  const Outcome none =
      run({.argv = {ovnitrace(), "record", "--dry-run", "-t", tid, "--comm", "sleep"}});
  EXPECT_NE(none.out.find("0 threads would"), std::string::npos) << none.out;
  const Outcome kernel =
      run({.argv = {ovnitrace(), "record", "--dry-run", "-n", "kworker*,sleep", "--no-kthreads"}});
  EXPECT_NE(kernel.out.find(" sleep\n"), std::string::npos) << kernel.out;
  EXPECT_EQ(kernel.out.find("kworker"), std::string::npos) << kernel.out;
}

TEST_F(Filters, ACaptureWithoutAMatchSaysSoAndWaits) {
  const auto tracer = start({"--uid", "4000000000"});
  const Outcome outcome = stop(*tracer);
  EXPECT_NE(outcome.err.find("no thread passes the filters now (--uid 4000000000)"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(read_trace_json(trace()).threads.size(), 0u);
}

TEST_F(Filters, OptionsSayWhatIsWrong) {
  const struct {
    std::vector<std::string> options;
    const char *says;
  } wrong[] = {
      {{"-n", "a-name-that-is-too-long"}, "the kernel keeps 15 characters"},
      {{"--cpu", "100000"}, "--cpu"},
      {{"--cpu", "1-0"}, "smaller number first"},
      {{"-t", "x"}, "--tid"},
      {{"--unit", "a/b"}, "no name of a unit"},
      {{"--container", ""}, "its value is empty"},
      {{"--dry-run", "--", "true"}, "leave the program out"},
      {{"-n", "a", "--control", "start:enter_func:f", "--", "true"}, "does not go with --control"},
  };
  for (const auto &[options, says] : wrong)
    EXPECT_NE(refused(options).err.find(says), std::string::npos) << says;
}

} // namespace ovnitrace::test
