// SPDX-License-Identifier: BSD-2-Clause
// What the completion of a shell offers.
#include "emulator/cli/app.h"
#include "emulator/cli/complete.h"
#include "emulator/cli/suggestions.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <CLI/App.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <unistd.h>
#include <vector>

namespace ovnitrace {
namespace {

class Completion : public testing::Test {
protected:
  Completion() {
    App(app).add_flag("-a,--all", all, "Take all. Not a part");
    App run = App(app).add_subcommand("run", "Run it (with a note). More");
    run.add_option("-c,--color,--colour", color, "When").one_of({"never", "always"});
    run.add_option("-l,--list", list, "Some words").values("cpu, irq,,idle, ipi");
    run.add_option("--several", several, "Many").allow_extra_args(false);
    run.add_option("-o,--output", output, "Where").type_name("FILE");
    run.add_option("--dir", output, "Which").type_name("DIR");
    run.add_option("--time", output, "When").type_name("TIME");
    run.add_flag("--fast", all, "Quick");
    run.add_option("--hidden", output, "Not shown").group("");
    for (const auto &[name, kind] : {std::pair("--pid", kTracePids),
                                     {"--tid", kTraceTids},
                                     {"--comm", kTraceComms},
                                     {"--cpu", kTraceCpus},
                                     {"--from", kTraceMarks}})
      run.add_option(name, output, "").values(kind);
    run.add_option("TRACE", output, "The trace");
    App(app).add_subcommand("report", "Report. Of what");
    app.add_subcommand("secret", "Not shown")->group("");
    App two = App(app).add_subcommand("two", "Take two");
    two.add_option("FIRST", output, "").one_of({"one", "eins"});
    two.add_option("SECOND", list, "").one_of({"three", "drei"});
    App many = App(app).add_subcommand("many", "Take many");
    many.add_option("FIRST", output, "").one_of({"one"});
    many.add_option("OTHERS", several, "").values("rest");
  }
  std::string of(const std::vector<std::string> &words) {
    static constexpr std::array<std::string_view, 2> kTakers = {"", "run"};
    return completions(app, words, kTakers);
  }
  std::string color, list, output;
  std::vector<std::string> several;
  bool all = false;
  CLI::App app{"", "tool"};
};

TEST_F(Completion, OfTheFirstWordIsACommand) {
  const std::string commands = "run\tRun it\nreport\tReport\ntwo\tTake two\nmany\tTake many\n"
                               "help\tPrint the help of a subcommand\n:words\n";
  EXPECT_EQ(of({}), commands);
  EXPECT_EQ(of({""}), commands);
  EXPECT_EQ(of({"re"}), "report\tReport\n:words\n");
  EXPECT_EQ(of({"h"}), "help\tPrint the help of a subcommand\n:words\n");
  EXPECT_EQ(of({"none", ""}), ":words\n");
  EXPECT_EQ(of({"secret", "-"}), "-h\tPrint this help message and exit\n"
                                 "--help\tPrint this help message and exit\n-a\tTake all\n"
                                 "--all\tTake all\n--\tThe program to trace follows\n:words\n")
      << "those of the program";
}

TEST_F(Completion, OfHelpIsACommand) {
  EXPECT_EQ(of({"help", "r"}), "run\tRun it\nreport\tReport\n:words\n");
  EXPECT_EQ(of({"help", "run", "r"}), ":words\n");
}

TEST_F(Completion, OfADashIsEachOptionByBothNames) {
  EXPECT_EQ(of({"run", "-"}),
            "-h\tPrint this help message and exit\n--help\tPrint this help message and exit\n"
            "-c\tWhen\n--color\tWhen\n-l\tSome words\n--list\tSome words\n--several\tMany\n"
            "-o\tWhere\n--output\tWhere\n--dir\tWhich\n--time\tWhen\n--fast\tQuick\n--pid\t\n"
            "--tid\t\n--comm\t\n--cpu\t\n--from\t\n--\tThe program to trace follows\n:words\n");
  EXPECT_EQ(of({"run", "--f"}), "--fast\tQuick\n--from\t\n:words\n");
  EXPECT_EQ(of({"two", "--"}), "--help\tPrint this help message and exit\n:words\n")
      << "it traces no program";
}

TEST_F(Completion, LeavesOutAnOptionThatWasGivenUnlessItCanBeRepeated) {
  EXPECT_EQ(of({"run", "--fast", "--f"}), "--from\t\n:words\n");
  EXPECT_EQ(of({"run", "--from=1s", "--f"}), "--fast\tQuick\n:words\n");
  EXPECT_EQ(of({"run", "--fast"}), "--fast\tQuick\n:words\n") << "it is the word itself";
  EXPECT_EQ(of({"run", "--several", "x", "--s"}), "--several\tMany\n:words\n");
}

TEST_F(Completion, OfAValueIsOneOfItsWords) {
  EXPECT_EQ(of({"run", "--color", ""}), "never\t\nalways\t\n:words\n");
  EXPECT_EQ(of({"run", "-c", "a"}), "always\t\n:words\n");
  EXPECT_EQ(of({"run", "--color=n"}), "--color=never\t\n:words\n");
  EXPECT_EQ(of({"run", "--fast", "--c"}), "--color\tWhen\n--comm\t\n--cpu\t\n:words\n")
      << "a flag takes no value";
  EXPECT_EQ(of({"run", "--none=n"}), ":words\n");
}

TEST_F(Completion, OfAListKeepsWhatIsBeforeTheLastCommaAndASign) {
  EXPECT_EQ(of({"run", "--list", "i"}), "irq\t\nidle\t\nipi\t\n:words\n");
  EXPECT_EQ(of({"run", "--list=cpu,-ip"}), "--list=cpu,-ipi\t\n:words\n");
  EXPECT_EQ(of({"run", "-l", "+c"}), "+cpu\t\n:words\n");
  EXPECT_EQ(of({"run", "-l", "irq,"}), "irq,cpu\t\nirq,irq\t\nirq,idle\t\nirq,ipi\t\n:words\n");
}

TEST_F(Completion, LeavesNamesOfFilesToTheShell) {
  EXPECT_EQ(of({"run", "--output", "x"}), ":files\n");
  EXPECT_EQ(of({"run", "--output=x"}), ":files\n");
  EXPECT_EQ(of({"run", "--dir", ""}), ":directories\n");
  EXPECT_EQ(of({"run", "--time", ""}), ":words\n");
  EXPECT_EQ(of({"run", ""}), ":files\n") << "a trace";
  EXPECT_EQ(of({"run", "trace", ""}), ":words\n") << "it has one";
}

TEST_F(Completion, OfAnArgumentCountsThoseBefore) {
  EXPECT_EQ(of({"two", ""}), "one\t\neins\t\n:words\n");
  EXPECT_EQ(of({"two", "x", ""}), "three\t\ndrei\t\n:words\n");
  EXPECT_EQ(of({"two", "x", "y", ""}), ":words\n");
  EXPECT_EQ(of({"many", ""}), "one\t\n:words\n");
  EXPECT_EQ(of({"many", "x", "y", "z", ""}), "rest\t\n:words\n");
  EXPECT_EQ(of({"run", "--fast", ""}), ":files\n") << "an option has no files";
  EXPECT_EQ(of({"run", "--time", "1s", ""}), ":files\n") << "nor is its value";
  EXPECT_EQ(of({"run", "-", ""}), ":words\n") << "a dash is one";
  EXPECT_EQ(of({"report", ""}), ":words\n");
}

TEST_F(Completion, OfAThreadIsOneOfTheTrace) {
  test::TempDir dir;
  test::TraceBuilder trace(dir.path());
  trace.json(R"({"version": 1, "machine": "x86_64"})");
  trace.cpu(3).at(1000).start().id(1, 40, 40, "app").id(2, 41, 40, "worker").id(3, 50, 50, "app");
  trace.cpu(3).dispatch(1).at(2000).epilogue(1).dispatch(2).at(3000).epilogue(2).dispatch(3);
  trace.cpu(3).at(4000).epilogue(3).stop();
  trace.write();
  const std::string &path = dir.path();
  EXPECT_EQ(of({"run", path, "--tid", ""}), "40\tapp\n41\tworker\n50\tapp\n:words\n");
  EXPECT_EQ(of({"run", path, "--pid", ""}), "40\tapp\n50\tapp\n:words\n");
  EXPECT_EQ(of({"run", path, "--comm", ""}), "app\t\nworker\t\n:words\n");
  EXPECT_EQ(of({"run", path, "--cpu", ""}), "3\t\n:words\n");
  EXPECT_EQ(of({"run", path, "--from", ""}), ":words\n") << "no capture, no mark";
  EXPECT_EQ(of({"run", path, "--tid=40,4"}), "--tid=40,40\tapp\n--tid=40,41\tworker\n:words\n");
  EXPECT_EQ(of({"run", path + "/none", "--tid", "4"}), ":words\n");
  EXPECT_EQ(suggestions(ValueKind::trace_tid, {path + "/none", path}).size(), 3u)
      << "the others are read all the same";
  EXPECT_EQ(suggestions(ValueKind::file, {path}).size(), 0u);
}

TEST_F(Completion, OfATimeIsAMarkOfTheTrace) {
  test::TempDir dir;
  test::TraceBuilder trace(dir.path());
  trace.json(R"({"format": "ovnitrace", "version": 1, "marks": [{"time_ns": 1500, "text": "hit 1"},
      {"time_ns": 1600, "text": "by hand"}, {"time_ns": 1700, "text": "hit 1"}]})");
  trace.cpu(0).at(1000).start().id(1, 40, 40, "app").at(2000).stop();
  trace.write();
  EXPECT_EQ(of({"run", dir.path(), "--from", ""}), "mark:hit 1\t\nmark:by hand\t\n:words\n");
}

TEST(Suggestions, HaveEachProcessByNumberAndByName) {
  const std::vector<Suggestion> all = suggestions(ValueKind::process, {});
  const std::string pid = std::to_string(getpid());
  const auto own =
      std::find_if(all.begin(), all.end(), [&](const Suggestion &one) { return one.word == pid; });
  ASSERT_NE(own, all.end());
  EXPECT_EQ(own->what, "unit_tests");
  ASSERT_NE(own + 1, all.end());
  EXPECT_EQ(own[1].word, "unit_tests");
  EXPECT_EQ(own[1].what, pid);
  EXPECT_TRUE(std::none_of(all.begin(), all.end(),
                           [](const Suggestion &one) { return one.word == "self"; }));
}

TEST(Suggestions, HaveEachUser) {
  const std::vector<Suggestion> all = suggestions(ValueKind::user, {});
  EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                          [](const Suggestion &one) { return one.word == "root"; }));
}

} // namespace
} // namespace ovnitrace
