// SPDX-License-Identifier: BSD-2-Clause
// Where a critical path ends: its thread and its range.
#include "emulator/critical/path.h"
#include "emulator/input/read_watcher.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/path_texts.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::path_of;
using Texts = std::vector<std::string>;

class PathRootTest : public ::testing::Test {
protected:
  PathRootTest() : trace(dir.path()) { trace.json(test::kHolders); }

  Texts path(const PathQuery &query, const Cut &cut = {}, const TraceInfo &info = {}) {
    trace.write();
    return path_of(dir.path(), query, cut, info);
  }
  std::string error(const PathQuery &query, const Cut &cut = {}) {
    return test::error_from([&] { path(query, cut); });
  }

  test::TempDir dir;
  test::TraceBuilder trace;
};

TEST_F(PathRootTest, ErrorsSayWhatIsMissing) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 2, 0).at(100).start();
  cpu.at(400).stop();
  EXPECT_EQ(error({}), "no thread ran in this part of the trace, so there is no critical path");
  EXPECT_EQ(error({99, {}}), "the trace has no thread 99: `ovnitrace info` lists the threads");
  EXPECT_EQ(error({{}, 7}), "no section 7 starts and ends in this part of the trace");
  Cut cut;
  cut.from = 301;
  EXPECT_EQ(error({11, {}}, cut),
            "the cut starts at 301 ns, after the end of the trace, which lasts 300 ns");
}

TEST_F(PathRootTest, AThreadThatTheCutDoesNotKeepCanBeNamed) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 1, 0).at(100).start();
  cpu.at(400).stop();
  Cut cut;
  cut.comms = {"nobody"};
  EXPECT_EQ(path({11, {}}, cut), Texts{"11 running 100-400"});
  EXPECT_EQ(error({}, cut).substr(0, 23), "the trace has no thread");
}

TEST_F(PathRootTest, AMainThreadOutsideTheCutIsNotTheDefault) {
  trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 1, 0).at(100).start().at(400).stop();
  trace.cpu(1).at(50).id(1, 22, 22, "b").snapshot(1, 1, 1).at(100).start().at(400).stop();
  TraceInfo attached;
  attached.attached_pids = {11};
  EXPECT_EQ(path({}, {}, attached), Texts{"11 running 100-400"});
  Cut cut;
  cut.comms = {"b"};
  EXPECT_EQ(path({}, cut, attached), Texts{"22 running 100-400"});
}

TEST_F(PathRootTest, AThreadThatEndedAtTheStartOfTheRangeHasAPathAfterIt) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 1, 0).at(100).start();
  cpu.at(200).end(1, 11).at(500).stop();
  Cut cut;
  cut.from = 99;
  EXPECT_EQ(path({11, {}}, cut), Texts{"11 running 199-200"});
  cut.from = 100;
  EXPECT_EQ(path({11, {}}, cut), Texts{"11 ended 200-500"});
}

/// Notes the progress of the walks.
struct Progress : ReadWatcher {
  Progress() { current = this; }
  ~Progress() override { current = nullptr; }
  void reads(const Catalog &, uint64_t, uint64_t) override {}
  void walks(double part) override { parts.push_back(part); }
  void ends() override { parts.push_back(-1); }

  std::vector<double> parts;
};

TEST_F(PathRootTest, ProgressIsThePartOfAllWalks) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b");
  cpu.snapshot(1, 1, 0).snapshot(2, 4, 0).at(100).start().at(200).epilogue(1, 22).dispatch(2);
  cpu.at(250).epilogue(2, 11).dispatch(1).at(400).stop();
  trace.write();
  test::CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  Progress progress;
  critical_paths(*source, {}, {}, {}, 1);
  std::vector<double> walks = progress.parts;
  ASSERT_FALSE(walks.empty());
  EXPECT_EQ(walks.back(), -1);
  std::erase(walks, -1);
  EXPECT_EQ(walks, (std::vector<double>{0.5, 1}));
}

TraceInfo started(const std::string &program) {
  TraceInfo info;
  info.command = {program};
  return info;
}

TEST(NamedMainThread, IsAMainThreadThatWasBornFirst) {
  Catalog catalog;
  catalog.threads = {{.tid = 5, .pid = 5, .parent = 1, .birth = 1, .name = "other"},
                     {.tid = 6, .pid = 7, .parent = 7, .birth = 5, .name = "app"},
                     {.tid = 7, .pid = 7, .parent = 2, .birth = 10, .name = "app"},
                     {.tid = 8, .pid = 8, .parent = 2, .birth = 20, .name = "app"},
                     {.tid = 9, .pid = 9, .parent = 2, .birth = 10, .name = "app"}};
  EXPECT_EQ(main_thread(catalog, started("/bin/app")), 2u);
}

TEST(NamedMainThread, HasTheFirst15LettersOfTheFileName) {
  Catalog catalog;
  catalog.threads = {{.tid = 5, .pid = 5, .parent = 1, .name = "abcdefghijklmno"},
                     {.tid = 6, .pid = 6, .parent = 1, .name = "abcdefghijklmnop"}};
  EXPECT_EQ(main_thread(catalog, started("/x/abcdefghijklmnop")), 0u);
  EXPECT_EQ(main_thread(catalog, started("abcdefghijklmno")), 0u);
  EXPECT_EQ(main_thread(catalog, started("x")), kNone);
}

TEST(NamedMainThread, IsElseTheOnlyProcessThatNoTracedThreadMade) {
  Catalog catalog;
  catalog.threads = {{.tid = 6, .pid = 5, .parent = 1, .name = "x"},
                     {.tid = 7, .pid = 7, .parent = 5, .name = "x"},
                     {.tid = 8, .pid = 8, .parent = 7, .name = "x"}};
  EXPECT_EQ(main_thread(catalog, started("app")), 1u) << "the only one with an untraced maker";
}

} // namespace
} // namespace ovnitrace
