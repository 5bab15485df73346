// SPDX-License-Identifier: BSD-2-Clause
// The configurations beside a converted trace: what they show, in which colours, and which of an
// earlier conversion are left.
#include "emulator/convert/views.h"

#include "emulator/models/registry.h"
#include "tests/support/convert_directory.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/project_file.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace fs = std::filesystem;

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::TempDir;
using test::TraceBuilder;

/// Returns what follows a tag on its line; "-" if the tag is missing.
std::string value_of(const std::string &text, const std::string &tag) {
  const size_t at = text.find("\n" + tag + " ");
  if (at == std::string::npos)
    return "-";
  const size_t begin = at + tag.size() + 2;
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// "1 green" of a palette "{1:0,175,125},{2:…}": the colour of a value.
std::string color_in(const std::string &text, int64_t value) {
  const std::string palette = value_of(text, "window_custom_color_palette");
  const std::string start = fmt::format("{{{}:", value);
  const size_t at = palette.find(start);
  if (at == std::string::npos)
    return "none";
  return palette.substr(at + start.size(), palette.find('}', at) - at - start.size());
}

const PcfValue *find(const PcfType &type, int64_t value) {
  for (const PcfValue &one : type.values)
    if (one.value == value)
      return &one;
  return nullptr;
}

class Labels : public ::testing::Test {
protected:
  Labels() {
    for (const Model &model : builtin_models())
      for (const ChannelDef &def : model.channels)
        defs_[def.name] = def;
  }
  PcfType type(const std::string &name, TraceKind kind) {
    return pcf_type(system_, defs_.at(name), kind);
  }
  std::string zero(const std::string &name, TraceKind kind) {
    return find(type(name, kind), 0)->label;
  }

  Catalog catalog_;
  System system_{catalog_, {}};
  std::map<std::string, ChannelDef> defs_;
};

TEST_F(Labels, ZeroHasOneInEveryView) {
  for (const auto &[name, def] : defs_)
    for (TraceKind kind : {TraceKind::thread, TraceKind::cpu}) {
      const PcfType type = pcf_type(system_, def, kind);
      const PcfValue *zero = find(type, 0);
      ASSERT_TRUE(zero) << name;
      EXPECT_FALSE(zero->label.empty()) << name;
    }
  EXPECT_EQ(zero("state", TraceKind::thread), "Unknown");
  EXPECT_EQ(zero("tid", TraceKind::thread), "Not running");
  EXPECT_EQ(zero("tid", TraceKind::cpu), "Idle");
  EXPECT_EQ(zero("process", TraceKind::cpu), "Idle");
  EXPECT_EQ(zero("running threads", TraceKind::cpu), "Idle");
  EXPECT_EQ(zero("off-CPU reason", TraceKind::thread), "On a CPU, woken, or not known");
  EXPECT_EQ(zero("priority", TraceKind::cpu), "Idle, or not known");
  EXPECT_EQ(zero("wakeup latency", TraceKind::cpu), "Idle | No wakeup");
  EXPECT_EQ(zero("interrupt", TraceKind::cpu), "No interrupt");
}

TEST_F(Labels, ACpuIsIdleOnlyIfAllThreadsWereCaptured) {
  catalog_.hosts = {{.name = "a", .all_threads = true}, {.name = "b"}};
  for (const char *name : {"pid", "tid", "process", "running threads"})
    EXPECT_EQ(zero(name, TraceKind::cpu), "No traced thread") << name;
  EXPECT_EQ(zero("wakeup latency", TraceKind::cpu), "No traced thread | No wakeup");
  EXPECT_EQ(zero("interrupt", TraceKind::cpu), "No interrupt");
  catalog_.hosts[1].all_threads = true;
  EXPECT_EQ(zero("tid", TraceKind::cpu), "Idle");
}

TEST_F(Labels, AThreadOffItsCpuHasTheColourOfItsState) {
  const PcfType reasons = type("off-CPU reason", TraceKind::thread),
                states = type("state", TraceKind::thread);
  EXPECT_EQ(find(reasons, 2)->label, "Preempted");
  EXPECT_EQ(find(states, 4)->label, "Cooling");
  EXPECT_EQ(find(reasons, 2)->color, find(states, 4)->color);
  EXPECT_EQ(find(reasons, 3)->label, "Sleeping");
  EXPECT_EQ(find(states, 2)->label, "Paused");
  EXPECT_EQ(find(reasons, 3)->color, find(states, 2)->color);
}

TEST_F(Labels, NoTwoOfAFewValuesLookAlike) {
  for (const auto &[name, def] : defs_) {
    const PcfType of = pcf_type(system_, def, TraceKind::thread);
    std::map<std::tuple<int, int, int>, std::string> seen;
    if (of.values.size() <= 1 + palette::kSeries.size())
      for (const PcfValue &value : of.values)
        if (value.value > 0) {
          ASSERT_TRUE(value.color) << name << ": " << value.label;
          const Color c = *value.color;
          EXPECT_TRUE(seen.emplace(std::tuple(c.red, c.green, c.blue), value.label).second)
              << name << ": " << value.label << " as " << seen[{c.red, c.green, c.blue}];
        }
  }
}

TEST_F(Labels, NothingAndErrorsKeepTheColoursOfEveryWindow) {
  const PcfType of = type("tid", TraceKind::cpu);
  for (int64_t value : {0, 666, 777}) {
    ASSERT_TRUE(find(of, value)) << value;
    EXPECT_FALSE(find(of, value)->color) << value;
  }
  EXPECT_EQ(find(of, 666)->label, "Error: disabled in its thread");
  EXPECT_EQ(find(of, 777)->label, "Error: more than one thread");
  EXPECT_FALSE(find(type("tid", TraceKind::thread), 666)) << "only CPUs copy";
  EXPECT_FALSE(find(type("interrupt", TraceKind::cpu), 666)) << "it is their own";
}

class Views : public ::testing::Test {
protected:
  /// Two threads that wake each other `wakeups` times, after 2 µs each and the last after 1 ms.
  void trace_of_wakeups(int wakeups, uint64_t length) {
    TraceBuilder trace(dir.path());
    auto &cpu = trace.cpu(0).at(1000).start().id(1, 10, 10, "app").id(2, 11, 10, "worker");
    cpu.at(1000).snapshot(2, 2, 0).dispatch(1);
    uint64_t time = 2000;
    for (int n = 1; n <= wakeups; n++, time += 10000) {
      cpu.at(time).activate(2, 10);
      time += n == wakeups ? 1'000'000 : 2000;
      cpu.at(time).sleep(1, 11).dispatch(2);
      cpu.at(time + 1000).sleep(2, 10).activate(1, 11).dispatch(1);
    }
    cpu.at(1000 + length).stop();
    trace.write();
  }
  void convert(ConvertOptions options = {}) {
    options.directory = dir / "out";
    convert_directory(dir.path(), options, sink);
  }
  std::string thread_view(const std::string &name) {
    return test::text_of(dir / ("out/cfg/thread/" + name + ".cfg"));
  }
  std::string cpu_view(const std::string &name) {
    return test::text_of(dir / ("out/cfg/cpu/" + name + ".cfg"));
  }
  std::set<std::string> names(const std::string &folder) {
    std::set<std::string> found;
    for (const auto &entry : fs::directory_iterator(dir / ("out/cfg/" + folder)))
      found.insert(entry.path().filename());
    return found;
  }

  TempDir dir;
  CollectingSink sink;
};

TEST_F(Views, OnlyTheViewOfTheArrowsDrawsThem) {
  trace_of_wakeups(3, 5'000'000);
  convert();
  for (const char *folder : {"thread", "cpu"})
    for (const std::string &name : names(folder))
      EXPECT_EQ(value_of(test::text_of(dir / ("out/cfg/" + (folder + ("/" + name)))),
                         "window_comm_lines_enabled"),
                name == "arrows.cfg" ? "true" : "false")
          << name;
  EXPECT_EQ(value_of(thread_view("arrows"), "window_filter_module"), "evt_type 1 4");
}

TEST_F(Views, ATraceWithoutArrowsHasNoViewOfThem) {
  trace_of_wakeups(0, 5'000'000);
  convert();
  EXPECT_EQ(names("thread").count("state.cfg"), 1u);
  EXPECT_EQ(names("thread").count("arrows.cfg"), 0u);
  EXPECT_EQ(names("thread").count("wakeup-latency-distribution.cfg"), 0u);
}

TEST_F(Views, AGradientEndsAtARoundNumberThatHoldsTheCommonValues) {
  trace_of_wakeups(40, 5'000'000);
  convert();
  for (const std::string &view : {thread_view("wakeup-latency"), cpu_view("wakeup-latency")}) {
    EXPECT_EQ(value_of(view, "window_color_mode"), "window_in_null_gradient_mode");
    EXPECT_EQ(value_of(view, "window_compute_y_max"), "false");
    EXPECT_EQ(value_of(view, "window_minimum_y"), "0.000000");
    EXPECT_EQ(value_of(view, "window_maximum_y"), "2000.000000") << "not the worst, 1 ms";
  }
}

TEST_F(Views, TimesAreInAUnitThatFitsTheTrace) {
  const std::pair<uint64_t, const char *> lengths[] = {{90'000, "Nanoseconds"},
                                                       {90'000'000, "Microseconds"},
                                                       {90'000'000'000, "Milliseconds"},
                                                       {110'000'000'000, "Seconds"}};
  for (const auto &[length, unit] : lengths) {
    trace_of_wakeups(0, length);
    convert();
    EXPECT_EQ(value_of(thread_view("state"), "window_units"), unit);
    EXPECT_EQ(value_of(thread_view("time-per-state"), "window_units"), unit);
    EXPECT_EQ(value_of(cpu_view("tid"), "window_units"), unit);
  }
}

TEST_F(Views, HistogramsCountTimeByStateLatenciesAndTimeByProcess) {
  trace_of_wakeups(40, 5'000'000);
  convert();
  std::string view = thread_view("time-per-state");
  EXPECT_EQ(value_of(view, "window_filter_module"), "evt_type 1 4");
  EXPECT_EQ(value_of(view, "Analyzer2D.Statistic:"), "Time");
  EXPECT_EQ(value_of(view, "Analyzer2D.Minimum:"), "0.000000");
  EXPECT_EQ(value_of(view, "Analyzer2D.Maximum:"), "5.000000");
  EXPECT_EQ(value_of(view, "Analyzer2D.Delta:"), "1.000000");
  view = thread_view("wakeup-latency-distribution");
  EXPECT_EQ(value_of(view, "window_filter_module"), "evt_type 1 222");
  EXPECT_EQ(value_of(view, "Analyzer2D.Statistic:"), "# Bursts");
  EXPECT_EQ(value_of(view, "Analyzer2D.Minimum:"), "1.000000");
  EXPECT_EQ(value_of(view, "Analyzer2D.Maximum:"), "1000001.000000") << "all are in a column";
  EXPECT_EQ(value_of(view, "Analyzer2D.Delta:"), "500.000000") << "1 ms in 2000 columns";
  view = cpu_view("time-per-process");
  EXPECT_EQ(value_of(view, "window_filter_module"), "evt_type 1 5");
  EXPECT_EQ(value_of(view, "Analyzer2D.Statistic:"), "Time");
  EXPECT_EQ(value_of(view, "Analyzer2D.Maximum:"), "1.000000") << "one process";
}

TEST_F(Views, NumbersWithoutLabelsDoNotLookLikeStates) {
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(1).start().id(1, 10, 10, "app").dispatch(1);
  trace.cpu(0).at(2).record(FTrace_EVT_user_event_0, 0, 1).at(9).stop();
  trace.write();
  convert();
  EXPECT_EQ(color_in(thread_view("state"), 1), "0,175,125");
  EXPECT_EQ(color_in(thread_view("user-event-0"), 1), "86,180,233");
  EXPECT_EQ(color_in(thread_view("user-event-0"), 32), "144,255,108");
  EXPECT_EQ(color_in(thread_view("user-event-0"), 33), "none");
}

TEST_F(Views, TheReadmeHasALineForEachViewAndForNothingElse) {
  trace_of_wakeups(3, 5'000'000);
  convert();
  std::set<std::string> listed, written;
  std::istringstream in(test::text_of(dir / "out/cfg/README"));
  for (std::string line; std::getline(in, line);)
    if (const size_t end = line.find(".cfg "); end != std::string::npos) {
      EXPECT_GT(line.size(), end + 10) << line;
      listed.insert(line.substr(0, end + 4));
    }
  for (const char *folder : {"thread", "cpu"})
    for (const std::string &name : names(folder))
      written.insert(std::string(folder) + "/" + name);
  EXPECT_EQ(listed, written);
  EXPECT_EQ(listed.count("thread/state.cfg"), 1u);
}

/// The views that are not the timeline of a channel, as "thread/arrows.cfg".
class OwnViews : public Views {
protected:
  OwnViews() {
    for (const Model &model : builtin_models())
      for (const ChannelDef &def : model.channels)
        for (const char *folder : {"thread/", "cpu/"})
          timelines.insert(folder + file_of(def.name));
    trace_of_wakeups(40, 5'000'000);
    convert();
    for (const std::string folder : {"thread", "cpu"})
      for (const std::string &name : names(folder))
        if (const std::string view = folder + "/" + name; !timelines.contains(view))
          own.insert(view);
  }
  static std::string file_of(std::string name) {
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return !isalnum(c); }, '-');
    return name + ".cfg";
  }

  std::set<std::string> timelines, own;
};

TEST_F(OwnViews, AreInTheDocuments) {
  EXPECT_GE(own.size(), 4u);
  EXPECT_EQ(test::first_cells("docs/models.md", "| view | shows |"), own);
}

TEST_F(OwnViews, KeepTheirNamesBesideAChannelOfThatName) {
  std::string channels, events;
  uint32_t number = 0;
  TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(1).start().id(1, 10, 10, "app").dispatch(1).at(2);
  for (const std::string &view : own) {
    const std::string name = fs::path(view).stem();
    channels +=
        fmt::format(R"({}{{"name": "{}", "type": {}}})", number ? "," : "", name, 1000 + number);
    events += fmt::format(R"({}{{"event": {}, "action": "set", "channel": "{}", "value": "par2"}})",
                          number ? "," : "", number, name);
    cpu.record(uint16_t(FTrace_EVT_user_event_0 | number++ << 4), 0, 7);
  }
  cpu.at(9).stop();
  trace.write();
  std::ofstream(dir / "model.json")
      << fmt::format(R"({{"name": "mine", "channels": [{}], "events": [{}]}})", channels, events);
  ConvertOptions options;
  options.model_files = {dir / "model.json"};
  convert(options);
  for (const std::string &view : own) {
    const std::string stem = fs::path(view).stem();
    EXPECT_NE(value_of(test::text_of(dir / ("out/cfg/" + view)), "window_name"), "Thread: " + stem);
  }
  size_t of_channels = 0;
  for (const std::string &name : names("thread"))
    of_channels += name.find("-100") != name.npos;
  EXPECT_EQ(of_channels, own.size());
}

/// A second conversion into the same directory.
class Again : public Views {
protected:
  void trace(bool user_event) {
    TraceBuilder trace(dir.path());
    auto &cpu = trace.cpu(0).at(1).start().id(1, 10, 10, "app").dispatch(1).at(2);
    if (user_event)
      cpu.record(FTrace_EVT_user_event_0, 0, 7);
    cpu.at(9).stop();
    trace.write();
  }
};

TEST_F(Again, RemovesViewsOfTheEarlierTrace) {
  trace(true);
  convert();
  EXPECT_EQ(names("thread").count("user-event-0.cfg"), 1u);
  EXPECT_EQ(names("cpu").count("user-event-0.cfg"), 1u);
  trace(false);
  convert();
  EXPECT_EQ(names("thread").count("user-event-0.cfg"), 0u);
  EXPECT_EQ(names("cpu").count("user-event-0.cfg"), 0u);
  EXPECT_EQ(names("thread").count("state.cfg"), 1u);
}

TEST_F(Again, ViewsThatAModelReplacesAreRemoved) {
  trace(true);
  convert();
  std::ofstream(dir / "model.json") << R"({"name": "mine",
    "channels": [{"name": "phase", "type": 1000}],
    "events": [{"event": 0, "action": "set", "channel": "phase", "value": "par2"}]})";
  ConvertOptions options;
  options.model_files = {dir / "model.json"};
  convert(options);
  EXPECT_EQ(names("thread").count("phase.cfg"), 1u);
  EXPECT_EQ(names("thread").count("user-event-0.cfg"), 0u);
  convert();
  EXPECT_EQ(names("thread").count("phase.cfg"), 0u);
  EXPECT_EQ(names("thread").count("user-event-0.cfg"), 1u);
}

TEST_F(Again, ViewsThatTheUserSavedStay) {
  trace(true);
  convert();
  std::ofstream(dir / "out/cfg/thread/mine.cfg") << "#ParaverCFG\nwindow_name mine\n";
  std::ofstream(dir / "out/cfg/thread/notes.txt") << "\nWritten by ovnitrace.\n";
  fs::copy_file(dir / "out/cfg/thread/user-event-0.cfg", dir / "out/cfg/thread/copy.cfg");
  std::ofstream(dir / "out/cfg/cpu/user-event-0.cfg") << "#ParaverCFG\nwindow_name saved\n";
  fs::create_symlink(dir / "out/cfg/thread/state.cfg", dir / "out/cfg/thread/link.cfg");
  fs::create_directory(dir / "out/cfg/thread/folder.cfg");
  trace(false);
  convert();
  EXPECT_EQ(test::text_of(dir / "out/cfg/thread/mine.cfg"), "#ParaverCFG\nwindow_name mine\n");
  EXPECT_EQ(test::text_of(dir / "out/cfg/cpu/user-event-0.cfg"),
            "#ParaverCFG\nwindow_name saved\n");
  for (const char *name : {"copy.cfg", "notes.txt", "link.cfg", "folder.cfg"})
    EXPECT_EQ(names("thread").count(name), 1u) << name;
}

TEST_F(Again, OneTraceIsPlainOrCompressedAndNotBoth) {
  trace(true);
  ConvertOptions gzip;
  gzip.gzip = true;
  convert();
  convert(gzip);
  EXPECT_FALSE(fs::exists(dir / "out/thread.prv"));
  EXPECT_FALSE(fs::exists(dir / "out/cpu.prv"));
  EXPECT_TRUE(fs::exists(dir / "out/thread.prv.gz"));
  convert();
  EXPECT_TRUE(fs::exists(dir / "out/thread.prv"));
  EXPECT_FALSE(fs::exists(dir / "out/thread.prv.gz"));
  EXPECT_FALSE(fs::exists(dir / "out/cpu.prv.gz"));
}

} // namespace
} // namespace ovnitrace
