// SPDX-License-Identifier: BSD-2-Clause
// Which programs `ovnitrace diff` and `stat` take as partners.
#include "emulator/cli/measure_runs.h"
#include "tests/unit/support/diff_rig.h"
#include "tests/unit/support/why_rig.h"

namespace ovnitrace {
namespace {

using test::kMs;
using test::TraceBuilder;

using DiffPrograms = test::DiffRig;

/// A program `main`, with a second thread of the same name and a child.
std::function<void(TraceBuilder &)> program(const std::string &main, const std::string &child) {
  return [=](TraceBuilder &trace) {
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, main).id(2, 12, 11, main);
    cpu.id(3, 30, 30, child).parent(3, 11);
    for (uint16_t context = 1; context <= 3; context++)
      cpu.dispatch(context).at(context * kMs).end(context, 10);
    cpu.stop();
  };
}

TEST_F(DiffPrograms, TheProgramsAreMatchedWhateverTheirNames) {
  test::CollectingSink sink;
  const std::string a = trace(program("app-old", "tool"), "", R"(["./app-old"])"),
                    b = trace(program("app-new", "tool"), "", R"(["/x/app-new", "7"])");
  runs = measure_runs({{a, a}, {b}, {}}, {}, sink);
  const Comparison all = compare(runs);
  EXPECT_EQ(all.groups.size(), 2u);
  EXPECT_TRUE(all.only_a.empty());
  EXPECT_TRUE(all.only_b.empty());
  EXPECT_EQ(text().find("thread of the critical path"), std::string::npos) << text();
  EXPECT_NE(text().find("  program (the name in B stands for both): app-old in A, app-new in B\n"),
            std::string::npos)
      << text();
  EXPECT_EQ(text().find("--match"), std::string::npos) << text();
  EXPECT_EQ(renames_of({{a}, {b}, {"tool=x"}}), (Renames{{"tool", "x"}, {"app-old", "app-new"}}))
      << "after those of --match";
}

/// `taskset -c 0 ./app-old` executes ./app-old in the same process.
TEST_F(DiffPrograms, TheProgramsThatAnotherProgramExecutedAreMatched) {
  const auto pinned = [&](const std::string &name) {
    return trace(program(name, "tool"),
                 R"(, "command_lines": [{"pid": 11, "since_ns": 1, "text": "taskset -c 0 ./)" +
                     name + R"("}, {"pid": 11, "since_ns": 2, "text": "./)" + name +
                     R"( -x"}, {"pid": 30, "since_ns": 3, "text": "tool"}])",
                 R"(["taskset", "-c", "0", "./)" + name + R"("])");
  };
  const std::string a = pinned("app-old"), b = pinned("app-new");
  EXPECT_EQ(renames_of({{a, a}, {b}, {}}), (Renames{{"app-old", "app-new"}}));
  EXPECT_EQ(renames_of({{a, b}, {b}, {}}).size(), 0u);
  EXPECT_EQ(renames_of({{a}, {a}, {}}).size(), 0u);
}

TEST_F(DiffPrograms, ProgramsAreNotMatchedIfOneSideHasBothNamesOrSeveralPrograms) {
  const std::string a = trace(program("app-old", "tool"), "", R"(["./app-old"])"),
                    b = trace(program("app-new", "tool"), "", R"(["./app-new"])"),
                    both = trace(program("app-new", "app-old"), "", R"(["./app-new"])"),
                    attached = trace(program("app-new", "tool"), "", R"([])");
  EXPECT_EQ(renames_of({{a}, {b}, {}}).size(), 1u);
  EXPECT_EQ(renames_of({{a}, {both}, {}}).size(), 0u);
  EXPECT_EQ(renames_of({{both}, {a}, {}}).size(), 0u);
  EXPECT_EQ(renames_of({{a}, {a, b}, {}}).size(), 0u);
  EXPECT_EQ(renames_of({{a}, {attached}, {}}).size(), 0u);
  EXPECT_EQ(renames_of({{a}, {a}, {}}).size(), 0u);
}

} // namespace
} // namespace ovnitrace
