// SPDX-License-Identifier: BSD-2-Clause
// --json of every subcommand that prints a table.
#include "tests/e2e/support/e2e.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <sstream>

namespace ovnitrace::test {

namespace {

struct JsonCommand {
  const char *name;
  std::vector<std::string> words; ///< after the subcommand; TRACE is a trace
  const char *member;             ///< of each object
};

const JsonCommand kCommands[] = {
    {"config", {}, "options"},
    {"control", {"--check", "start:enter_func:main,stop:exit_func:main"}, "chains"},
    {"diff", {"TRACE", "TRACE"}, "causes"},
    {"dump", {"TRACE"}, "event"},
    {"info", {"TRACE"}, "threads"},
    {"record", {"--dry-run", "--no-kthreads"}, "threads"},
    {"stat", {"--", "true"}, "threads"},
    {"stat", {"-r", "2", "--", "true"}, "runs"},
    {"top", {"--batch", "1"}, "threads"},
    {"why", {"TRACE"}, "threads"},
};

/// Subcommands whose tests of --json are elsewhere, since they need a capture that runs.
constexpr const char *kTestedElsewhere[] = {"ctl"};

} // namespace

class JsonOutput : public CaptureTest {
protected:
  std::string output_of(std::vector<std::string> words) const {
    words.insert(words.begin(), ovnitrace());
    const Outcome outcome = run({.argv = words});
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
    return outcome.out.empty() ? outcome.err : outcome.out; // stat uses stderr, as perf stat does
  }
};

TEST_F(JsonOutput, IsObjectsWithASchema) {
  record({"true"});
  for (const auto &[name, words, member] : kCommands) {
    std::vector<std::string> argv = {name, "--json"};
    for (const std::string &word : words)
      argv.push_back(word == "TRACE" ? trace() : word);
    const std::string text = output_of(argv);
    SCOPED_TRACE(name + (": " + text.substr(0, 1000)));
    // One object of several lines, or one in each line.
    std::vector<std::string> objects = {text};
    if (text.find("\n ") == text.npos) {
      objects.clear();
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);)
        objects.push_back(line);
    }
    EXPECT_FALSE(objects.empty());
    for (const std::string &object : objects) {
      const auto json = nlohmann::json::parse(object, nullptr, false);
      ASSERT_TRUE(json.is_object()) << object;
      EXPECT_EQ(json.value("schema", 0), 1);
      EXPECT_TRUE(json.contains(member)) << member;
    }
  }
}

TEST_F(JsonOutput, EverySubcommandWithJsonIsTested) {
  std::istringstream help(output_of({"--help"}));
  std::string line;
  while (std::getline(help, line) && line != "Subcommands:") {
  }
  size_t found = 0;
  while (std::getline(help, line) && !line.empty()) {
    std::string name;
    std::istringstream(line) >> name;
    if (output_of({name, "--help"}).find("--json ") == std::string::npos)
      continue;
    found++;
    EXPECT_TRUE(std::any_of(std::begin(kCommands), std::end(kCommands),
                            [&](const JsonCommand &command) { return command.name == name; }) ||
                std::count(std::begin(kTestedElsewhere), std::end(kTestedElsewhere), name))
        << name;
  }
  EXPECT_GE(found, 9u);
}

TEST_F(JsonOutput, RecordNeedsAListForJson) {
  const Outcome outcome = run({.argv = {ovnitrace(), "record", "--json", "-a", "-d", "1"}});
  EXPECT_EQ(outcome.status(), 2);
  EXPECT_NE(outcome.err.find("--json needs --dry-run"), std::string::npos);
}

} // namespace ovnitrace::test
