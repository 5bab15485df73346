// SPDX-License-Identifier: BSD-2-Clause
// What --help prints of each command, and what a command line that is wrong is answered.
#include "emulator/base/error.h"
#include "emulator/cli/app.h"
#include "emulator/cli/run.h"
#include "tests/unit/support/all_commands.h"
#include "tests/unit/support/project_file.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {
namespace {

class Help : public test::AllCommands {
protected:
  /// What a command line that is wrong is answered, without the line that names --help.
  std::string answer(std::vector<std::string> arguments, int status = kExitUsage) {
    arguments.insert(arguments.begin(), "ovnitrace");
    std::vector<char *> argv;
    for (std::string &argument : arguments)
      argv.push_back(argument.data());
    CLI::App fresh{"", "ovnitrace"}; // without the options of an earlier answer
    prepare(fresh);
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_cli(fresh, int(argv.size()), argv.data(), kProgramCommands), status);
    const std::string text = testing::internal::GetCapturedStderr();
    return text.substr(0, text.find('\n'));
  }
};

size_t characters(const std::string &line) {
  return size_t(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

TEST_F(Help, StartsWithTheUsage) {
  const std::map<std::string, std::string> usages = {
      {"record", "ovnitrace record [OPTIONS] -- PROGRAM [ARGUMENTS]\n"
                 "       ovnitrace record [OPTIONS] -a [-- PROGRAM]\n"
                 "       ovnitrace record [OPTIONS] -p PID\n"
                 "       ovnitrace record [OPTIONS] FILTER    threads of the whole machine that "
                 "pass the filter"},
      {"convert", "ovnitrace convert [OPTIONS] TRACE..."},
      {"report", "ovnitrace report [OPTIONS] TRACE"},
      {"why", "ovnitrace why [OPTIONS] TRACE"},
      {"info", "ovnitrace info [OPTIONS] TRACE..."},
      {"stat", "ovnitrace stat [OPTIONS] -- PROGRAM [ARGUMENTS]\n"
               "       ovnitrace stat [OPTIONS] -a|-p PID"},
      {"top", "ovnitrace top [OPTIONS] [-a|-p PID]"},
      {"plot", "ovnitrace plot [OPTIONS] TRACE"},
      {"diff", "ovnitrace diff [OPTIONS] A B\n"
               "       ovnitrace diff [OPTIONS] A1 A2... -- B1 B2..."},
      {"dump", "ovnitrace dump [OPTIONS] TRACE..."},
      {"export", "ovnitrace export --to FORMAT [OPTIONS] TRACE..."},
      {"ctl", "ovnitrace ctl [OPTIONS] TRACE COMMAND [WORDS...]"},
      {"collect", "ovnitrace collect [OPTIONS]"},
      {"control", "ovnitrace control --check CHAIN [--check CHAIN]... [-- PROGRAM]"},
      {"compress", "ovnitrace compress [OPTIONS] TRACE..."},
      {"config", "ovnitrace config [OPTIONS]"},
  };
  for (const CLI::App *one : app.get_subcommands({})) {
    ASSERT_TRUE(usages.contains(one->get_name())) << one->get_name();
    const std::string help = one->help("ovnitrace");
    EXPECT_NE(help.find("\nUsage: " + usages.at(one->get_name()) + "\n\n"), help.npos) << help;
  }
}

/// Returns the words in a text, in lower case.
std::set<std::string> words_of(const std::string &text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : text + ' ')
    if (isalpha(uint8_t(c)))
      word += char(tolower(c));
    else if (!word.empty())
      words.insert(std::exchange(word, {}));
  return words;
}

TEST_F(Help, HasWordsOfTheDocsOnly) {
  std::set<std::string> known = {
      "accessible", "alu",          "awk",         "box",       "categories", "chmod",
      "clocks",     "decompressed", "defines",     "details",   "due",        "environments",
      "examples",   "fa",           "fetch",       "future",    "hex",        "matches",
      "maximum",    "positionals",  "replacement", "required",  "roi",        "separated",
      "serve",      "ssl",          "treat",       "unchanged", "url",        "verbose",
      "waiting"};
  known.merge(words_of(test::project_file("README.md")));
  for (const std::string &name : test::project_files("docs"))
    if (name.ends_with(".md"))
      known.merge(words_of(test::project_file("docs/" + name)));
  for (const CLI::App *one : commands())
    for (const std::string &word : words_of(one->help("ovnitrace")))
      EXPECT_TRUE(known.contains(word)) << one->get_name() << " has " << word;
}

TEST_F(Help, HasAnEndToEachBracket) {
  const std::map<char, char> pairs = {{')', '('}, {']', '['}};
  for (const CLI::App *one : commands())
    for (const CLI::Option *option : one->get_options()) {
      std::string open;
      for (const char c : option->get_type_name() + option->get_description())
        if (c == '(' || c == '[')
          open += c;
        else if (pairs.contains(c)) {
          EXPECT_TRUE(open.ends_with(pairs.at(c))) << option->get_name();
          open = open.substr(0, open.size() - 1);
        }
      EXPECT_EQ(open, "") << one->get_name() << " " << option->get_name();
    }
}

TEST_F(Help, FitsIntoAHundredColumns) {
  for (CLI::App *one : commands()) {
    std::istringstream lines(one->help());
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(characters(line), 100u) << one->get_name() << ": " << line;
  }
}

TEST_F(Help, HasEachOptionAndNoneOfTheParsersOwnWords) {
  for (CLI::App *one : commands()) {
    const std::string help = one->help();
    for (const CLI::Option *option : one->get_options()) {
      EXPECT_NE(help.find(option->get_name()), help.npos) << option->get_name();
      EXPECT_NE(option->get_description(), "") << option->get_name();
    }
    const std::string options = help.substr(0, help.size() - one->get_footer().size());
    for (const char *word : {"TEXT", "UINT", "INT", "REQUIRED", "Needs:", "Excludes:", "{"})
      EXPECT_EQ(options.find(word), help.npos) << one->get_name() << " has " << word;
  }
}

TEST_F(Help, EndsWithExamples) {
  for (CLI::App *one : commands()) {
    const bool is_root = one->get_name() == "ovnitrace"; // its footer is in main.cpp
    EXPECT_TRUE(is_root || one->get_footer().find("Example") != std::string::npos)
        << one->get_name();
  }
}

TEST_F(Help, AnOptionThatFollowsAGroupIsOutsideIt) {
  const RootApp root("What it does.", "program");
  bool flag = false;
  {
    const OptionGroup outer(root, "Outer");
    {
      const OptionGroup inner(root, "Inner");
      root.add_flag("--inner", flag, "One");
    }
    root.add_flag("--outer", flag, "Two");
  }
  root.add_flag("--outside", flag, "Three");
  const auto group = [&](const char *name) { return root.parser().get_option(name)->get_group(); };
  EXPECT_EQ(group("--inner"), "Inner");
  EXPECT_EQ(group("--outer"), "Outer");
  EXPECT_EQ(group("--outside"), group("--help"));
}

TEST_F(Help, MarksOptionalValues) {
  EXPECT_NE(app.help().find("      --compress[=LEVEL]"), std::string::npos) << app.help();
  EXPECT_NE(app.help().find("\n  -o, --output DIR "), std::string::npos);
  EXPECT_EQ(optional_value(*app.get_option("--stacks")), "LIST");
  EXPECT_EQ(optional_value(*app.get_option("--output")), "");
  EXPECT_EQ(optional_value(*app.get_option("--gzip")), "");
}

TEST_F(Help, ShowsAValueWithAColonWhole) {
  EXPECT_NE(app.get_subcommand("top")->help().find("--metrics [ADDRESS:]PORT"), std::string::npos);
}

TEST_F(Help, SaysWhatAStrayArgumentCouldHaveMeant) {
  const std::string not_expected = "ovnitrace: not expected: ";
  EXPECT_EQ(answer({"record", "--compress", "0"}),
            not_expected + "0; a value of --compress follows an =, as in --compress=LEVEL; the "
                           "program to trace follows --, as in `ovnitrace record -- ./app`");
  EXPECT_EQ(answer({"why", "--critical-path", "12", "run1"}),
            not_expected + "run1; a value of --critical-path follows an =, as in "
                           "--critical-path=TID");
  EXPECT_EQ(answer({"stat", "./app"}),
            not_expected + "./app; the program to trace follows --, as in `ovnitrace stat -- "
                           "./app`");
  EXPECT_EQ(answer({"why", "run1", "run2"}), not_expected + "run2");
  EXPECT_EQ(answer({"record", "--stack"}), not_expected + "--stack; there is --stacks");
  EXPECT_EQ(answer({"record", "--outp=x", "-x"}), not_expected + "--outp=x -x; there is --output");
}

TEST_F(Help, SaysWhatAMisspeltCommandCouldHaveMeant) {
  const std::string not_expected = "ovnitrace: not expected: ";
  EXPECT_EQ(answer({"wyh", "run1"}), not_expected + "wyh run1; did you mean `why`?");
  EXPECT_EQ(answer({"recrod"}), not_expected + "recrod; did you mean `record`?");
  EXPECT_EQ(answer({"./app"}), not_expected + "./app; the program to trace follows --, as in "
                                              "`ovnitrace -- ./app`");
  EXPECT_EQ(answer({"help", "wyh"}), "ovnitrace: there is no command wyh; did you mean `why`?");
  EXPECT_EQ(answer({"record", "--filtr=irq"}), not_expected + "--filtr=irq; there is --filter");
}

TEST_F(Help, NamesTheOptionThatDoesNotExistAndNotWhatFollowsIt) {
  EXPECT_EQ(answer({"dump", "--cpu", "1", "run1"}), "ovnitrace: not expected: --cpu");
  EXPECT_EQ(answer({"-E", "1"}), "ovnitrace: not expected: -E");
}

TEST_F(Help, NamesTheOnlyCommandThatHasAnOption) {
  EXPECT_EQ(answer({"--brief"}),
            "ovnitrace: not expected: --brief; `ovnitrace why` has this option");
}

TEST_F(Help, AWrongWordIsAnsweredWithTheRightOnes) {
  EXPECT_EQ(answer({"why", "--by", "colour", "run1"}),
            "ovnitrace: --by: 'colour' is not one of thread, process, name, cgroup");
}

TEST_F(Help, OutputsDoNotGoWithSend) {
  const std::string refused = "ovnitrace: --gzip, --model, --draw, --report, --open and "
                              "--no-convert do not go with --send";
  for (const char *option :
       {"--gzip", "--model=a.json", "--draw=worker", "--report", "--open", "--no-convert"})
    EXPECT_EQ(answer({"-a", "-d", "1ms", "--send", "tcp://127.0.0.1:1", option})
                  .substr(0, refused.size()),
              refused)
        << option;
  const std::string useless = "ovnitrace: --gzip, --model and --draw are for the files of Paraver";
  for (const char *option : {"--gzip", "--model=a.json", "--draw=worker"})
    EXPECT_EQ(answer({"-a", "-d", "1ms", "--no-convert", option}).substr(0, useless.size()),
              useless)
        << option;
}

TEST_F(Help, HelpOfACommandNeedsNoTrace) {
  testing::internal::CaptureStdout();
  answer({"help", "why"}, 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), app.get_subcommand("why")->help("ovnitrace"));
}

TEST_F(Help, WhyRefusesOptionsThatTheCriticalPathHasNoUseFor) {
  EXPECT_EQ(answer({"why", "--critical-path", "--brief", "run1"}),
            "ovnitrace: --brief excludes --critical-path");
  EXPECT_EQ(answer({"why", "--critical-path", "--sort", "running", "run1"}),
            "ovnitrace: --sort excludes --critical-path");
  EXPECT_EQ(answer({"why", "--critical-path", "--by", "process", "run1"}),
            "ovnitrace: --critical-path takes --by thread or --by name");
  for (const char *option : {"--sort=running", "--top=3", "--by=name", "--brief"})
    EXPECT_NE(
        answer({"why", "--slowest=1", "--section=7", option, "run1"}).find(" excludes --slowest"),
        std::string::npos)
        << option;
}

TEST_F(Help, ToIsTheEndOfARangeInEveryCommand) {
  for (CLI::App *one : commands())
    if (one->get_option_no_throw("--from")) {
      EXPECT_NE(one->get_option_no_throw("--to"), nullptr) << one->get_name();
      EXPECT_NE(one->get_option_no_throw("--until"), nullptr) << "older name, " << one->get_name();
      EXPECT_EQ(one->help().find("--until"), std::string::npos) << one->get_name();
    }
}

TEST_F(Help, ExportTakesAFormatAndATimeForTo) {
  EXPECT_EQ(
      answer({"export", "--to", "later", "run1"}),
      "ovnitrace: --to: 'later' is neither a format nor a time: formats are ovni, sqlite, csv, "
      "perfetto, folded, pprof, speedscope");
  EXPECT_EQ(answer({"export", "--to", "1s", "run1"}),
            "ovnitrace: --to FORMAT is required: `ovnitrace export --help` lists the formats");
}

TEST_F(Help, ExportTakesOneFormat) {
  EXPECT_EQ(answer({"export", "--to", "sqlite", "--to", "csv", "run1"}),
            "ovnitrace: --to: 'csv' is one format too many");
}

TEST_F(Help, NothingThatIsADirectoryGoesToStandardOutput) {
  for (const char *command : {"convert", "report", "collect"}) {
    std::vector<std::string> arguments = {command, "-o", "-"};
    if (command != std::string("collect"))
      arguments.push_back("run1");
    EXPECT_EQ(answer(arguments).find("ovnitrace: -o -: "), 0u) << command;
  }
}

TEST_F(Help, RefusesAMalformedTime) {
  EXPECT_EQ(answer({"info", "--from", "later", "run1"}),
            "ovnitrace: --from: 'later' is no time: write 1.5s, 200ms, 30us, 100ns, 2m or 1h, "
            "counted from the start of the trace, a time by the clock, as 14:03:07.5 or "
            "@1732345678, or a mark, such as mark:ready or mark:ready-5ms");
}

TEST_F(Help, AFigureIsSvg) {
  const std::string refused = answer({"plot", "run1", "-o", "run1.png"});
  EXPECT_NE(refused.find("-o run1.png: a figure is SVG"), std::string::npos) << refused;
}

TEST_F(Help, AReportIsAlignedWithAnotherRunOnly) {
  EXPECT_EQ(answer({"report", "run1", "--align", "start"}),
            "ovnitrace: --align needs --against TRACE");
}

TEST_F(Help, AReportOfTwoRunsHasThePathsOfBoth) {
  EXPECT_EQ(answer({"report", "run1", "--against", "run2", "--critical-path=7"}),
            "ovnitrace: --against shows the critical paths of both programs: leave out the TID of "
            "--critical-path");
}

TEST_F(Help, AReportComparesTraceDirectories) {
  EXPECT_EQ(answer({"report", "no/such/trace", "--against", "run2", "-o", "new.html"}),
            "ovnitrace: --against compares two trace directories, but no/such/trace is not one");
}

TEST_F(Help, AReportIsHtml) {
  const std::string refused = answer({"report", "run1", "-o", "run1.pdf"});
  EXPECT_NE(refused.find("-o run1.pdf: a report is HTML"), std::string::npos) << refused;
  for (const char *name : {"run1.html", "run1.htm", "run1", "run-1.5"})
    EXPECT_EQ(answer({"report", "no/such/trace", "-o", name}, 1).find("HTML"), std::string::npos);
}

} // namespace
} // namespace ovnitrace
