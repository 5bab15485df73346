// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace export --to pprof`: the samples, by the numbers of the fields in profile.proto.
#include "emulator/off_cpu/pprof.h"
#include "emulator/open/open_trace.h"
#include "emulator/slices/slicer.h"
#include "tests/support/proto.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace ovnitrace {
namespace {

using test::gunzip;
using test::Proto;
using test::TempDir;
using test::TraceBuilder;
using Texts = std::vector<std::string>;

constexpr const char *kStacks = R"json({"format": "ovnitrace", "version": 1, "begin_ns": 1000,
  "machine": "x86_64", "options": {"stacks": "kernel,user"},
  "stack_files": [{"path": "/usr/lib/libc.so.6", "build_id": "c0"},
                  {"path": "/opt/app", "build_id": "abcd"}],
  "stack_frames": [{"kernel": true, "function": "schedule"},
                   {"file": 0, "function": "read", "offset": 16},
                   {"file": 1, "function": "operator;\u001b", "offset": 32, "source": "/src/a.cpp",
                    "line": 7},
                   {"file": 1, "offset": 48}, {"missing": true}],
  "stacks": [{"kernel": [0], "user": [1, 2, 3]}, {"user": [1, 4]}]})json";

/// A profile as pprof understands it.
class Profile {
public:
  explicit Profile(std::string bytes) : bytes_(std::move(bytes)), all_(bytes_) {
    strings_ = all_.texts(6);
    for (const Proto &function : all_.messages(5))
      functions_[function.number(1)] = fmt::format("{}|{}", text(function, 2), text(function, 4));
    for (const Proto &mapping : all_.messages(3))
      mappings_[mapping.number(1)] = fmt::format("{}|{}", text(mapping, 5), text(mapping, 6));
    for (const Proto &location : all_.messages(4)) {
      const Proto line = location.message(4);
      locations_[location.number(1)] = functions_.at(line.number(1));
      if (line.number(2))
        locations_[location.number(1)] += fmt::format(":{}", line.number(2));
      places_.push_back(locations_[location.number(1)] +
                        (location.has(2) ? " in " + mappings_.at(location.number(2)) : "") +
                        (location.has(3) ? fmt::format(" at {:#x}", location.number(3)) : ""));
    }
  }

  Texts types() const {
    Texts all;
    for (const Proto &type : all_.messages(1))
      all.push_back(text(type, 1) + " " + text(type, 2));
    return all;
  }
  /// "cause=futex pid=11 …: read|/lib < main|: 1 20 0 20"
  Texts samples() const {
    Texts all;
    for (const Proto &sample : all_.messages(2)) {
      std::map<std::string, std::string> labels;
      for (const Proto &label : sample.messages(3))
        labels[text(label, 1)] = label.has(2) ? text(label, 2) : std::to_string(label.number(3));
      std::string line;
      for (const auto &[name, value] : labels)
        line += fmt::format("{}={} ", name, value);
      line += ":";
      for (const uint64_t location : sample.numbers(1))
        line += " " + locations_.at(location);
      line += " :";
      for (const uint64_t value : sample.numbers(2))
        line += fmt::format(" {}", value);
      all.push_back(line);
    }
    return all;
  }
  const std::map<uint64_t, std::string> &mappings() const { return mappings_; }
  /// "function|source:line in mapping at address", in the order of the file.
  const Texts &places() const { return places_; }
  const Proto &all() const { return all_; }

private:
  std::string text(const Proto &message, uint64_t id) const {
    return strings_.at(message.number(id));
  }

  std::string bytes_;
  Proto all_;
  Texts strings_, places_;
  std::map<uint64_t, std::string> functions_, mappings_, locations_;
};

class Pprof : public ::testing::Test {
protected:
  Profile exported(const PprofRange &range = {}, const std::vector<TraceInput> &more = {}) {
    std::vector<TraceInput> inputs = {{dir_.path()}};
    inputs.insert(inputs.end(), more.begin(), more.end());
    const auto source = open_trace(inputs, sink_);
    const Stacks stacks(source->catalog(), sink_);
    OffCpuTimes times(source->catalog(), stacks, {.per_thread = true});
    replay_slices(*source, {}, times);
    const std::string file = dir_ / "out.pb.gz";
    EXPECT_EQ(write_pprof(times, range, file), times.sums().size());
    return Profile(gunzip(file));
  }

  TempDir dir_;
  test::CollectingSink sink_;
};

TEST_F(Pprof, HasASampleForEachThreadStackAndCause) {
  TraceBuilder trace(dir_.path());
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "app").id(2, 12, 11, "worker");
  cpu.dispatch(1).at(1100).record(FTrace_EXT_stack, 1, 1).sleep(1, 12).dispatch(2);
  cpu.at(1200).record(FTrace_EXT_stack, 2, 2).sleep(2, 0).at(1230).activate(2, 0);
  cpu.at(1300).dispatch(2).at(1400).sleep(2, 0).at(1450).activate(1, 0).dispatch(1);
  cpu.at(1500).record(FTrace_EXT_stack, 1, 1).sleep(1, 0).at(1600).stop();
  trace.json(kStacks).write();
  const Profile profile = exported({.wall_ns = 5, .duration_ns = 600});
  EXPECT_EQ(profile.types(), (Texts{"times count", "blocked nanoseconds", "waiting nanoseconds",
                                    "off_cpu nanoseconds"}));
  const std::string app = "pid=11 process=app thread=app tid=11 : ",
                    worker = "pid=11 process=app thread=worker tid=12 : ",
                    read = "read|/usr/lib/libc.so.6";
  EXPECT_EQ(profile.samples(),
            (Texts{"cause=call not known " + worker + read + " [frames missing]| : 1 30 0 30",
                   "cause=call not known " + worker + "[blocked]| : 1 200 0 200",
                   "cause=after a wakeup " + worker + "[waiting for a CPU]| : 1 0 70 70",
                   "cause=call not known " + app + "schedule_[k]| " + read +
                       " operator;?|/src/a.cpp:7 app+0x30|/opt/app : 2 450 0 450"}));
  EXPECT_EQ(profile.mappings().at(1), "/opt/app|abcd") << "the program is first";
  EXPECT_EQ(profile.all().number(9), 5u);
  EXPECT_EQ(profile.all().number(10), 600u);
}

TEST_F(Pprof, NamesOfThreadsArePrintableAndThoseOfThatTime) {
  TraceBuilder trace(dir_.path());
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a\x1b;\xff").dispatch(1).at(1100);
  cpu.sleep(1, 0).at(1200).activate(1, 0).dispatch(1).at(1300).name(1, "b").sleep(1, 0);
  cpu.at(1400).stop();
  trace.json(kStacks).write();
  EXPECT_EQ(exported().samples(),
            (Texts{"cause=call not known pid=11 process=a?;? thread=a?;? tid=11 : [blocked]| : 1 "
                   "100 0 100",
                   "cause=call not known pid=11 process=b thread=b tid=11 : [blocked]| : 1 100 0 "
                   "100"}));
}

/// Lets a thread block once, with the first stack of the trace.
void block_once(TraceBuilder &trace, const std::string &stacks) {
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "app").dispatch(1).at(1100);
  cpu.record(FTrace_EXT_stack, 1, 1).sleep(1, 0).at(1300).activate(1, 0).dispatch(1);
  cpu.at(1400).stop();
  trace.json(R"({"format": "ovnitrace", "version": 1, "machine": "x86_64",
                 "options": {"stacks": "kernel,user"}, )" +
             stacks + "}");
  trace.write();
}

TEST_F(Pprof, ALocationHasTheFileAndTheOffsetOfItsCode) {
  TraceBuilder trace(dir_.path());
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "app").dispatch(1);
  uint64_t time = 1000;
  for (const uint32_t stack : {1, 2, 1}) {
    cpu.at(time += 100).record(FTrace_EXT_stack, 1, stack).sleep(1);
    cpu.at(time += 50).activate(1, 0).dispatch(1);
  }
  cpu.at(1600).stop();
  trace.json(kStacks).write();
  Texts places = exported().places();
  std::sort(places.begin(), places.end());
  const std::string libc = "/usr/lib/libc.so.6", app = "/opt/app|abcd at ";
  EXPECT_EQ(places, (Texts{"[frames missing]|", "app+0x30|/opt/app in " + app + "0x30",
                           "operator;?|/src/a.cpp:7 in " + app + "0x20",
                           "read|" + libc + " in " + libc + "|c0 at 0x10", "schedule_[k]|"}))
      << "each once";
}

TEST_F(Pprof, AMappingNeedsNoSymbolsOfPprof) {
  TraceBuilder trace(dir_.path());
  block_once(trace, R"("stack_files": [{"path": "/opt/app"}],
                       "stack_frames": [{"file": 0, "function": "main"}],
                       "stacks": [{"user": [0]}])");
  const Profile profile = exported();
  ASSERT_EQ(profile.all().messages(3).size(), 1u);
  const Proto mapping = profile.all().message(3);
  for (const uint64_t has : {7, 8, 9, 10}) // functions, filenames, line numbers, inline frames
    EXPECT_EQ(mapping.number(has), 1u) << has;
}

TEST_F(Pprof, TheProgramIsTheOutermostFileThatIsNotTheCLibrary) {
  TraceBuilder trace(dir_.path());
  block_once(trace, R"("stack_files": [{"path": "/lib/libm.so.6"}, {"path": "/opt/app"},
                                       {"path": "/lib/libc.so.6"}],
                       "stack_frames": [{"file": 0, "function": "sin"},
                                        {"file": 1, "function": "main"},
                                        {"file": 2, "function": "__libc_start_main"}],
                       "stacks": [{"user": [0, 1, 2]}])");
  const Profile profile = exported();
  EXPECT_EQ(profile.mappings().at(1), "/opt/app|");
  EXPECT_EQ(profile.mappings().size(), 3u);
  EXPECT_EQ(profile.places().size(), 3u);
}

TEST_F(Pprof, EachHostHasItsOwnFiles) {
  const TempDir other_dir;
  TraceBuilder trace(dir_.path()), other(other_dir.path());
  for (const auto &[builder, path, function] :
       {std::tuple(&trace, "/opt/one", "first"), std::tuple(&other, "/opt/two", "second")})
    block_once(*builder, fmt::format(R"("stack_files": [{{"path": "{}"}}],
                                        "stack_frames": [{{"file": 0, "function": "{}"}}],
                                        "stacks": [{{"user": [0]}}])",
                                     path, function));
  Texts places = exported({}, {{other_dir.path()}}).places();
  std::sort(places.begin(), places.end());
  EXPECT_EQ(places,
            (Texts{"first|/opt/one in /opt/one| at 0x0", "second|/opt/two in /opt/two| at 0x0"}));
}

TEST_F(Pprof, AnEmptyProfileIsValid) {
  TraceBuilder trace(dir_.path());
  trace.cpu(0).at(1000).start().at(1400).stop();
  trace.write();
  const Profile profile = exported();
  EXPECT_TRUE(profile.samples().empty());
  EXPECT_EQ(profile.types().size(), 4u);
}

} // namespace
} // namespace ovnitrace
