// SPDX-License-Identifier: BSD-2-Clause
// Live sources: what is found out about threads while they are read, against the same from files.
#include "emulator/core/replay.h"
#include "emulator/dump/dump_events.h"
#include "emulator/models/registry.h"
#include "emulator/ovni_export/export_trace.h"
#include "emulator/slices/slicer.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/collecting_rows.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/live_script.h"
#include "tests/unit/support/temp_dir.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ovnitrace {
namespace {

using test::CollectingRows;
using test::CollectingSink;
using test::LiveScript;
using test::ScriptSource;
using test::TempDir;
using Texts = std::vector<std::string>;

/// Indices of threads differ between the two sources: this does not.
std::string key(const Catalog &catalog, uint32_t thread) {
  if (thread == kNone)
    return "-";
  const ThreadInfo &info = catalog.threads[thread];
  return fmt::format("{}/{}@{}", info.host, info.tid, info.birth);
}

/// The slices, spans and events of a source as text, and what it says of threads.
class Teller final : public SliceSink {
public:
  explicit Teller(const Catalog &catalog) : catalog_(catalog) {}

  void on_event(const Event &event, const System &system) override {
    if (event.kind == FTrace_EVT_trace_start || event.kind == FTrace_EVT_trace_stop)
      return; // the live source has none
    events.push_back(fmt::format("{} {:#x} {} {}", event.time, event.kind,
                                 key(catalog_, event.thread), key(catalog_, event.peer)));
    EXPECT_EQ(system.threads().size(), catalog_.threads.size());
    if (catalog_.live) {
      EXPECT_EQ(born, catalog_.threads.size()) << "the catalog knows more than was said";
    }
  }
  void on_slice(const Slice &s) override {
    slices.push_back(
        fmt::format("{} {} cpu={} {}-{} {}{} then={} reason={} context={} next={},{} waker={},{}",
                    key(catalog_, s.thread), name(s.state), s.cpu, s.start, s.end, s.starts, s.ends,
                    name(s.then), s.reason, s.context, s.next.tid, key(catalog_, s.next.thread),
                    s.waker.tid, key(catalog_, s.waker.thread)));
  }
  void on_cpu(const CpuSpan &s) override {
    slices.push_back(fmt::format("cpu {} {}-{} {}", s.cpu, s.start, s.end, int(s.what)));
  }
  void on_born(uint32_t thread) override {
    EXPECT_EQ(thread, born++);
    said.push_back("born " + catalog_.threads[thread].name);
  }
  void on_named(uint32_t thread) override {
    said.push_back("named " + catalog_.threads[thread].name);
  }
  void on_ended(uint32_t thread) override {
    said.push_back("ended " + catalog_.threads[thread].name);
  }

  Texts events, slices, said;
  uint32_t born = 0;

private:
  const Catalog &catalog_;
};

Teller tell(EventSource &source, const Cut &cut = {}) {
  Teller teller(source.catalog());
  replay_slices(source, cut, teller);
  std::sort(teller.slices.begin(), teller.slices.end()); // the last ones end together, by index
  return teller;
}

/// The lines of both traces, as the writer of the .prv gets them, without the numbers of processes:
/// those follow the order of the catalog.
Texts lines_of(EventSource &source) {
  class Lines final : public ReplayPart {
  public:
    explicit Lines(Replay &replay) : replay_(replay) {}
    bool before(const Event &event) {
      if (event.time != now_)
        emit();
      now_ = event.time;
      return true;
    }
    void emit() { replay_.emit(now_, threads, cpus); }
    CollectingRows threads, cpus;

  private:
    Replay &replay_;
    uint64_t now_ = 0;
  };
  CollectingSink faults;
  Replay replay(source.catalog(), builtin_models(), {}, faults, FaultLog::kUnlimited);
  Lines lines(replay);
  ReadAhead reader(source);
  replay.play(reader, lines);
  lines.emit();
  Texts all;
  for (const auto &line : lines.threads.lines)
    all.push_back(fmt::format("{} {} {}={}", line.time, key(source.catalog(), line.row), line.type,
                              line.value));
  constexpr uint32_t kProcess = 5;
  for (const auto &line : lines.cpus.lines)
    if (line.type != kProcess)
      all.push_back(fmt::format("{} CPU {} {}={}", line.time, line.row, line.type, line.value));
  for (const auto &arrow : lines.threads.arrows)
    all.push_back(fmt::format("{} {} to {}", arrow.time, key(source.catalog(), arrow.from),
                              key(source.catalog(), arrow.to)));
  for (const Diagnostic &fault : faults.reported)
    all.push_back(fmt::format("{} {}", fault.time.value_or(0), fault.what));
  std::sort(all.begin(), all.end());
  return all;
}

Texts dump_of(EventSource &source, const Cut &cut = {}) {
  Texts lines;
  dump_events(source, cut, 0, [&](const DumpLine &line, const Event &event) {
    char buffer[DumpLine::kMaxBytes];
    std::string text(buffer, line.put(buffer, event));
    if (text.find("trace_st") == text.npos)
      lines.push_back(std::move(text));
    return true;
  });
  return lines;
}

/// The streams of an export: path and bytes.
std::map<std::string, std::string> streams_of(EventSource &source, const std::string &path) {
  CollectingSink sink;
  ovni::export_trace(source, path, sink, 0);
  std::map<std::string, std::string> streams;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(path))
    if (entry.path().extension() == ".obs")
      streams[entry.path().lexically_relative(path)] = test::text_of(entry.path());
  return streams;
}

TEST(LiveSource, NamesAThreadAsItIsNamedThen) {
  LiveScript script(1);
  script.at(110).born(11, 11, "sh").dispatch(0, 11);
  script.at(200).named(11, "app").preempted(0, 11);
  CollectingSink sink;
  ScriptSource live(script, sink);
  const Texts lines = dump_of(live);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("sh(11)"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("app(11)"), std::string::npos) << lines[1];
}

// Files give the whole life of a thread its last name. A live source cannot.
TEST(LiveSource, CutsByNameFromTheRenameOn) {
  LiveScript script(1);
  script.at(110).born(11, 11, "sh").dispatch(0, 11);
  script.at(200).preempted(0, 11).at(220).dispatch(0, 11);
  script.at(300).named(11, "app").woken(0, 11, 0).at(400).sleep(0, 11);
  script.at(450).named(11, "sh").woken(0, 11, 0);
  Cut cut;
  cut.comms = {"app"};
  CollectingSink sink;
  ScriptSource live(script, sink);
  const Teller told = tell(live, cut);
  const auto starts_with = [&](const std::string &text) {
    return std::count_if(told.slices.begin(), told.slices.end(),
                         [&](const std::string &slice) { return slice.starts_with(text); });
  };
  EXPECT_EQ(starts_with("0/11@110 Running cpu=0 220-400 falsetrue"), 1);
  EXPECT_EQ(starts_with("cpu 0 220-400"), 1);
  EXPECT_EQ(told.events.size(), 2u);
}

/// The slices of a live source, each with its thread, its ends that were not seen, and its stack.
Texts slices_of(const LiveScript &script, const Cut &cut) {
  class Slices final : public SliceSink {
  public:
    explicit Slices(const Catalog &catalog) : catalog_(catalog) {}
    void on_slice(const Slice &s) override {
      texts.push_back(fmt::format("{} {} {}{}-{}{}{}", catalog_.threads[s.thread].tid,
                                  name(s.state), s.starts ? "" : "(", s.start, s.end,
                                  s.ends ? "" : ")",
                                  s.stack == kNone ? "" : fmt::format(" stack={}", s.stack)));
    }
    void on_cpu(const CpuSpan &s) override {
      texts.push_back(fmt::format("busy {}-{}", s.start, s.end));
    }
    Texts texts;

  private:
    const Catalog &catalog_;
  };
  CollectingSink sink;
  ScriptSource live(script, sink);
  Slices slices(live.catalog());
  replay_slices(live, cut, slices);
  return slices.texts;
}

TEST(LiveSource, AThreadIsShownOnlyWhileItHasTheName) {
  LiveScript script(1);
  script.at(110).born(11, 11, "app").dispatch(0, 11).at(200).woken(1, 11, 0);
  script.at(250).named(11, "sh").at(300).sleep(0, 11).at(350).woken(0, 11, 0);
  script.at(400).named(11, "app").dispatch(0, 11).at(500).sleep(0, 11);
  Cut cut;
  cut.comms = {"app"};
  EXPECT_EQ(slices_of(script, cut),
            (Texts{"11 Running 110-200)", "busy 110-200", "11 Warming (350-400", "busy 400-500",
                   "11 Running 400-500", "11 Paused 500-600)"}))
      << "a name counts from the last event before it on";
}

TEST(LiveSource, AThreadThatIsFoundLaterHasItsOwnStacks) {
  LiveScript script(1);
  script.at(110).born(11, 11, "a").dispatch(0, 11).at(200).event(0, FTrace_EXT_stack, 11, 5);
  script.sleep(0, 11).at(300).born(12, 12, "b").dispatch(0, 12).at(400);
  script.event(0, FTrace_EXT_stack, 12, 6).sleep(0, 12).at(500).woken(0, 12, 0);
  EXPECT_EQ(slices_of(script, {}),
            (Texts{"busy 110-200", "11 Running 110-200 stack=5", "busy 300-400",
                   "12 Running 300-400 stack=6", "12 Paused 400-500 stack=6",
                   "11 Paused 200-600) stack=5", "12 Warming 500-600)"}));
}

TEST(LiveSource, MayEndBeforeTheRangeOfACut) {
  LiveScript script(1);
  script.at(110).born(11, 11, "app").dispatch(0, 11);
  CollectingSink sink;
  for (const uint64_t to : {50, 5000}) {
    ScriptSource live(script, sink);
    Cut cut;
    cut.to = to;
    cut.tids = {11}; // not found yet when the replay starts
    const uint64_t end = std::min<uint64_t>(LiveScript::kBegin + to, script.end_time());
    EXPECT_NE(tell(live, cut).slices.back().find(fmt::format("110-{} ", end)), std::string::npos);
  }
}

/// Random lives of threads on two hosts, with few tids.
LiveScript random_script(std::mt19937 &random) {
  LiveScript script(2);
  uint64_t time = LiveScript::kBegin;
  std::set<std::pair<uint32_t, uint32_t>> alive; // host and tid
  for (int step = 0; step < 150; step++) {
    const uint32_t host = random() % 2, tid = 10 + random() % 5, other = 10 + random() % 5;
    const uint32_t cpu = random() % LiveScript::kCpus;
    script.at(time += 1 + random() % 20, host);
    if (alive.emplace(host, tid).second) {
      script.born(tid, 10, "t").woken(cpu, tid, 0);
      continue;
    }
    const uint32_t peer = alive.contains({host, other}) ? other : 0;
    switch (random() % 6) {
    case 0:
    case 1:
      script.dispatch(cpu, tid);
      break;
    case 2:
      script.sleep(cpu, tid, peer);
      break;
    case 3:
      script.preempted(cpu, tid, peer);
      break;
    case 4:
      script.woken(cpu, tid, peer);
      break;
    case 5:
      script.end(cpu, tid).ended(tid);
      alive.erase({host, tid});
      break;
    }
  }
  return script;
}

TEST(LiveSourceProperty, GivesWhatFilesGive) {
  std::mt19937 random(7);
  for (int round = 0; round < int(test::cases(12)); round++) {
    TempDir dir;
    CollectingSink sink;
    const LiveScript script = random_script(random);
    const auto open = [&] { return script.open_files(dir.path(), sink); };
    const auto live = [&] { return ScriptSource(script, sink); };
    ScriptSource slices = live(), lines = live(), streams = live(), dump = live();
    const Teller of_live = tell(slices), of_files = tell(*open());
    ASSERT_EQ(of_live.slices, of_files.slices) << "round " << round;
    ASSERT_EQ(of_live.events, of_files.events) << "round " << round;
    Texts said;
    for (const LiveScript::Step &step : script.steps())
      if (step.what != LiveScript::Step::What::event)
        said.push_back(step.what == LiveScript::Step::What::born ? "born t" : "ended t");
    ASSERT_EQ(of_live.said, said) << "round " << round;
    ASSERT_TRUE(of_files.said.empty());
    ASSERT_EQ(lines_of(lines), lines_of(*open())) << "round " << round;
    ASSERT_EQ(streams_of(streams, dir / "live"), streams_of(*open(), dir / "files"));
    ASSERT_EQ(dump_of(dump), dump_of(*open())) << "round " << round;
  }
}

} // namespace
} // namespace ovnitrace
