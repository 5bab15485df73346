// SPDX-License-Identifier: BSD-2-Clause
// What a capture says of what it traces, and how long it waits for that: user/record/traced,
// user/record/capture_start.
#include "emulator/base/error.h"
#include "tests/unit/support/child.h"
#include "user/record/capture_start.h"
#include "user/record/traced.h"
#include "user/select/name_glob.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <deque>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {
namespace {

using test::Child;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

TEST(WhatIsTraced, AreProcessesWithOrWithoutTheirChildren) {
  const Child app("app"), other("b c");
  const std::string first = std::to_string(app.pid()), second = std::to_string(other.pid());
  std::deque<ProcessWatch> processes;
  RecordOptions options;
  EXPECT_EQ(what_is_traced(options, processes), "every thread of the machine");
  processes.emplace_back(app.pid());
  EXPECT_EQ(what_is_traced(options, processes), "process " + first + " (app) with children");
  processes.emplace_back(other.pid());
  options.children = false;
  EXPECT_EQ(what_is_traced(options, processes),
            "processes " + first + " (app), " + second + " (b_c) without children");
  options.selection.asked = {"--comm a*", "--no-cpu\x1b 1"};
  EXPECT_EQ(what_is_traced(options, processes),
            "threads of the processes that pass --comm a* --no-cpu? 1");
  EXPECT_EQ(what_is_traced(options, {}), "threads of the machine that pass --comm a* --no-cpu? 1");
}

/// How a wait ends, and what is printed.
struct Waited {
  std::string how, printed;
  bool operator==(const Waited &) const = default;
};

void PrintTo(const Waited &waited, std::ostream *out) {
  *out << waited.how << " / " << waited.printed;
}

Waited wait_for(const std::deque<ProcessWatch> &processes, const RecordOptions &options = {},
                int signal = 0) {
  StopSignals signals(0);
  if (signal)
    raise(signal);
  CaptureStderr();
  const std::string how = wait_for_processes(processes, options, signals);
  return {how, GetCapturedStderr()};
}

TEST(WaitForProcesses, EndsWhenAllHaveEnded) {
  Child one("one"), two("two");
  std::deque<ProcessWatch> processes;
  processes.emplace_back(one.pid());
  one.kill();
  EXPECT_EQ(wait_for(processes),
            (Waited{"the process ended", "ovnitrace: the process ended: tracing stopped\n"}));
  processes.emplace_back(two.pid());
  two.kill();
  EXPECT_EQ(wait_for(processes),
            (Waited{"the processes ended", "ovnitrace: the processes ended: tracing stopped\n"}));
  RecordOptions quiet;
  quiet.quiet = true;
  EXPECT_EQ(wait_for(processes, quiet), (Waited{"the processes ended", ""}));
  RecordOptions long_enough;
  long_enough.duration = 3'600'000'000'000;
  EXPECT_EQ(wait_for(processes, long_enough).how, "the processes ended");
}

TEST(WaitForProcesses, EndsWithASignalOrADuration) {
  Child ended("ended");
  const Child lives("lives");
  std::deque<ProcessWatch> processes;
  processes.emplace_back(ended.pid());
  processes.emplace_back(lives.pid());
  ended.kill();
  EXPECT_EQ(wait_for(processes, {}, SIGTERM), (Waited{"stopped by a signal", ""}));
  RecordOptions options;
  for (const uint64_t duration : {1, 3'000'000}) {
    options.duration = duration;
    EXPECT_EQ(wait_for(processes, options), (Waited{time_over(duration), ""}));
  }
}

/// What is printed meanwhile.
template <class Call> std::string printed(Call call) {
  CaptureStderr();
  call();
  return GetCapturedStderr();
}

TEST(Warnings, OfFiltersThatNoThreadPasses) {
  Selection selection;
  EXPECT_EQ(printed([&] { warn_if_none_passes(selection, 0); }), "") << "there is no filter";
  selection.asked = {"--comm a", "--uid 7"};
  EXPECT_EQ(printed([&] { warn_if_none_passes(selection, 1); }), "");
  EXPECT_EQ(printed([&] { warn_if_none_passes(selection, 0); }),
            "ovnitrace: warning: no thread passes the filters now (--comm a --uid 7); ovnitrace "
            "waits for one\n");
}

TEST(Warnings, OfTriggersWhoseNameNoThreadHas) {
  const Child child("a-known-name");
  const auto rule = [](const std::string &text, const std::string &pattern) {
    RuleOption option = {text, {}};
    option.rule.kind = TRIGGER_LATENCY;
    option.rule.has_glob = !pattern.empty();
    if (!pattern.empty())
      option.rule.glob = make_name_glob("--trigger", pattern);
    return option;
  };
  const auto warnings = [](const std::vector<RuleOption> &rules) {
    return printed([&] { warn_of_unknown_names(rules); });
  };
  EXPECT_EQ(warnings({}), "");
  EXPECT_EQ(warnings({rule("latency:5ms", "")}), "") << "it has no name";
  EXPECT_EQ(warnings({rule("latency:5ms:a-known*", "a-known*"), rule("latency:6ms", "")}), "");
  const std::string unknown =
      "ovnitrace: warning: --trigger latency:7ms:a-known: no thread has this name now; ovnitrace "
      "waits for one. To match a longer name, add *\n";
  EXPECT_EQ(warnings({rule("latency:5ms:a-known-name", "a-known-name"),
                      rule("latency:7ms:a-known", "a-known"), rule("latency:6ms", "")}),
            unknown);
}

TEST(PrintedCgroups, AreThoseOfEachChoice) {
  const std::vector<CgroupChoice> choices = {{"--cgroup /a", {}}, {"--unit b", {}}};
  const std::string found = "ovnitrace: --cgroup /a is the cgroup /x/a\n"
                            "ovnitrace: --cgroup /a is the cgroup /y?/a\n",
                    none = "ovnitrace: warning: --unit b: there is no such cgroup now";
  const std::vector<std::vector<std::string>> paths = {{"/x/a", "/y\x1b/a"}, {}};
  EXPECT_EQ(printed([&] { print_cgroups(choices, paths, false, true); }),
            found + none + "; ovnitrace waits for one\n");
  EXPECT_EQ(printed([&] { print_cgroups(choices, paths, true, false); }), none + "\n");
}

TEST(CapturedFamilies, AreThoseAskedForButTheRefusedOnes) {
  const FamilySet asked = parse_families("sched,irq,signal,user"),
                  wanted = parse_families("irq,signal");
  EXPECT_EQ(captured_of(asked, wanted, wanted), asked);
  EXPECT_EQ(captured_of(asked, wanted, parse_families("signal")),
            parse_families("sched,signal,user"));
  EXPECT_EQ(captured_of(asked, wanted, {}), parse_families("sched,user"));
}

TEST(ListThreads, NeedsLivingThreads) {
  RecordOptions options;
  options.selection.tids = {uint32_t(gettid()), 4'194'305}; // more than any tid
  try {
    list_threads(options);
    FAIL() << "there is no such thread";
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "--tid 4194305: there is no such thread");
  }
}

TEST(StartText, SaysUntilWhenIsTraced) {
  RecordOptions options;
  EXPECT_EQ(start_text(options, "every thread", "run"),
            "tracing every thread until Ctrl-C; the trace goes to run");
  options.pids = {7};
  EXPECT_EQ(start_text(options, "process 7", "run"),
            "tracing process 7 until it ends or Ctrl-C; the trace goes to run");
  options.duration = 2'500'000'000;
  EXPECT_EQ(start_text(options, "process 7", "run"),
            "tracing process 7 for 2.500 s or until Ctrl-C; the trace goes to run");
}

TEST(StartsPrograms, ForACommandASaveDebugDataOrABrowser) {
  const auto starts = [](auto change) {
    RecordOptions options;
    change(options);
    return starts_programs(options);
  };
  EXPECT_FALSE(starts([](RecordOptions &) {}));
  EXPECT_TRUE(starts([](RecordOptions &options) { options.command = {"app"}; }));
  EXPECT_TRUE(starts([](RecordOptions &options) { options.on_save = "true"; }));
  EXPECT_TRUE(starts([](RecordOptions &options) { options.debuginfod = true; }));
  EXPECT_TRUE(starts([](RecordOptions &options) { options.opens_browser = true; }));
  EXPECT_FALSE(starts([](RecordOptions &options) { options.pids = {7}; }));
}

RecordOptions described_options() {
  RecordOptions options;
  options.command = {"app", "--password", "x"};
  options.pids = {9, 8};
  options.children = false;
  options.ring_bytes = 4096;
  options.chunk_bytes = 8192;
  options.buffer = {BufferKind::kStop, 7};
  options.compress_level = 3;
  options.stacks = STACKS_KERNEL | STACKS_USER;
  options.families = parse_families("sched,irq");
  return options;
}

TEST(DescribedCapture, HasWhatTheOptionsSay) {
  RecordOptions options = described_options();
  options.region_by_thread = true;
  options.control = {"start:int3,waitfor:b", "stop:int3,name:b"};
  options.selection.asked = {"--comm a"};
  Identity user;
  user.name = "nobody";
  const TraceDescription trace = describe(options, 5, user);
  EXPECT_EQ(trace.possible_cpus, 5u);
  EXPECT_EQ(trace.command, (std::vector<std::string>{"app", "--password", "x"}));
  EXPECT_FALSE(trace.with_children);
  EXPECT_EQ(trace.filters, std::vector<std::string>{"--comm a"});
  EXPECT_EQ(trace.user, "nobody");
  EXPECT_EQ(trace.families, options.families);
  EXPECT_EQ(trace.stacks_option, "kernel,user");
  EXPECT_EQ(trace.ring_bytes, 4096u);
  EXPECT_EQ(trace.chunk_bytes, 8192u);
  EXPECT_EQ(trace.buffer.kind, BufferKind::kStop);
  EXPECT_EQ(trace.buffer.bytes, 7u);
  EXPECT_EQ(trace.compress_level, 3);
  EXPECT_TRUE(trace.region_by_thread);
  ASSERT_EQ(trace.control.size(), 2u);
  EXPECT_EQ(trace.control[1], std::pair(std::string("b"), std::string("stop:int3,name:b")));
  EXPECT_TRUE(trace.idle_states.empty()) << "no idle state is recorded";
  EXPECT_LE(trace.host.cpus.size(), 5u);
}

// Arguments can be secrets.
TEST(DescribedCapture, HasNoArgumentsIfCommandLinesAreNotRecorded) {
  RecordOptions options = described_options();
  options.cmdlines = false;
  EXPECT_EQ(describe(options, 1, {}).command, std::vector<std::string>{"app"});
  options.command.clear();
  EXPECT_TRUE(describe(options, 1, {}).command.empty());
  options.cmdlines = true;
  options.command = {"app", std::string(100'000, 'x'), "y"};
  EXPECT_EQ(describe(options, 1, {}).command.size(), 2u) << "it is cut";
}

TEST(DescribedCapture, HasEveryThreadOnlyWithoutFiltersAndRegions) {
  const auto all_and_holders = [](auto change) {
    RecordOptions options;
    options.all = true;
    change(options);
    const TraceDescription trace = describe(options, 1, {});
    return std::pair(trace.all_threads, trace.cpu_holders);
  };
  using Both = std::pair<bool, bool>;
  EXPECT_EQ(all_and_holders([](RecordOptions &) {}), Both(true, false));
  EXPECT_EQ(all_and_holders([](RecordOptions &options) { options.all = false; }),
            Both(false, true));
  EXPECT_EQ(all_and_holders([](RecordOptions &options) { options.selection.asked = {"--cpu 0"}; }),
            Both(false, true));
  EXPECT_EQ(all_and_holders([](RecordOptions &options) { options.control = {"start:int3"}; }),
            Both(false, true));
  EXPECT_EQ(
      all_and_holders([](RecordOptions &options) { options.families = parse_families("irq"); }),
      Both(false, false));
}

TEST(DescribedCapture, HasTheNamesOfIdleStatesIfTheyAreRecorded) {
  RecordOptions options;
  options.families = parse_families("power");
  const auto cpus = uint32_t(sysconf(_SC_NPROCESSORS_CONF));
  EXPECT_EQ(describe(options, cpus, {}).idle_states, idle_state_names(describe_host(cpus)));
}

} // namespace
} // namespace ovnitrace
