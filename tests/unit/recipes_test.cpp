// SPDX-License-Identifier: BSD-2-Clause
// What CONTRIBUTING.md says of adding something: what a table of the code lists is in the
// documents, and the documents list nothing else.
#include "emulator/base/error.h"
#include "emulator/cli/cut_options.h"
#include "emulator/cli/export_formats.h"
#include "emulator/format/alarm_types.h"
#include "emulator/format/code_table.h"
#include "emulator/format/codec.h"
#include "emulator/format/state_table.h"
#include "emulator/open/open_trace.h"
#include "emulator/summary/counters.h"
#include "emulator/summary/names.h"
#include "tests/unit/support/all_commands.h"
#include "tests/unit/support/project_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <regex.h>

#include <filesystem>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace ovnitrace {
namespace {

using test::first_cells;
using Names = std::set<std::string>;

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != text.npos;
}

/// Returns the texts of the pages in docs/, by file name.
std::map<std::string, std::string> pages() {
  std::map<std::string, std::string> all;
  for (const std::string &name : test::project_files("docs"))
    if (name.ends_with(".md"))
      all[name] = test::project_file("docs/" + name);
  return all;
}

/// Returns whether a page, other than usage.md, has this text.
bool some_page_has(const std::string &text) {
  for (const auto &[name, page] : pages())
    if (name != "usage.md" && has(page, text))
      return true;
  return false;
}

class Commands : public test::AllCommands {};

/// Returns the names that the sources of a folder define with lines that start like `line`, in
/// which the name is a group.
Names defined_in(const std::string &folder, const std::string &line) {
  const std::regex definition(line);
  Names names;
  for (const std::string &file : test::project_files(folder))
    if (file.ends_with(".cpp")) {
      std::istringstream in(test::project_file(folder + "/" + file));
      for (std::string text; std::getline(in, text);)
        if (std::smatch found;
            std::regex_search(text, found, definition, std::regex_constants::match_continuous))
          names.insert(found[1]);
    }
  EXPECT_FALSE(names.empty()) << folder;
  return names;
}

/// Expects a header to declare each name, and to list it.
void expect_listed(const std::string &header, const Names &names) {
  const std::string text = test::project_file(header);
  for (const std::string &name : names) {
    const std::regex word("\\b" + name + "\\b");
    EXPECT_GE(std::distance(std::sregex_iterator(text.begin(), text.end(), word), {}), 2)
        << header << " does not declare and list " << name;
  }
}

TEST(Recipes, EachListHasAllItsDefinitions) {
  const std::string model = R"(Model (\w+)\(\) \{)",
                    command = R"(void (add_\w+)\(App app(, const .* &command)?\))",
                    format = R"(int (export_\w+)\()";
  expect_listed("emulator/models/registry.h", defined_in("emulator/models", model));
  expect_listed("emulator/models/registry.h", defined_in("emulator/models/ovni", model));
  expect_listed("emulator/cli/commands.h", defined_in("emulator/cli", command));
  expect_listed("user/cli/commands.h", defined_in("user/cli", command));
  expect_listed("emulator/cli/export_formats.h", defined_in("emulator/cli", format));
}

TEST(Recipes, EveryFileOfBpfFamiliesIsIncluded) {
  const std::string object = test::project_file("bpf/families.bpf.c");
  for (const std::string &file : test::project_files("bpf/families"))
    EXPECT_TRUE(has(object, "#include \"families/" + file + "\"")) << file;
}

TEST(Recipes, TheReadmeLinksEveryPage) {
  const std::string readme = test::project_file("README.md");
  EXPECT_GT(pages().size(), 20u);
  for (const auto &[name, page] : pages())
    EXPECT_TRUE(has(readme, "(docs/" + name + ")")) << name;
}

TEST_F(Commands, EachHasAPageAndAnExampleInUsage) {
  const std::string usage = test::project_file("docs/usage.md");
  for (const CLI::App *one : app.get_subcommands({})) {
    EXPECT_TRUE(has(usage, "ovnitrace " + one->get_name() + " ")) << one->get_name();
    EXPECT_TRUE(some_page_has("ovnitrace " + one->get_name())) << one->get_name();
  }
}

TEST_F(Commands, EachOptionOfAPartIsInItsTable) {
  Names options;
  for (const CLI::App *one : app.get_subcommands({}))
    for (const CLI::Option *option : one->get_options())
      if (option->get_group() == kCutGroup)
        options.insert("--" + option->get_lnames().front());
  EXPECT_EQ(first_cells("docs/info.md", "| option | shows only |"), options);
}

/// A part must never replace the whole timeline: Cut::cuts() knows every condition.
TEST(Recipes, EachFilterOptionMakesAPart) {
  CLI::App all;
  CutArguments unused;
  add_cut_options(all, unused);
  size_t options = 0;
  for (const CLI::Option *option : all.get_options()) {
    if (option->get_group() != kCutGroup)
      continue;
    CLI::App app;
    CutArguments arguments;
    add_cut_options(app, arguments);
    EXPECT_FALSE(arguments.cuts());
    app.parse("--" + option->get_lnames().front() + " 1");
    EXPECT_TRUE(arguments.cuts()) << option->get_name();
    options++;
  }
  EXPECT_GT(options, 4u);
}

TEST(Recipes, EachExportFormatHasAPageAndAnExampleInUsage) {
  const std::string usage = test::project_file("docs/usage.md");
  for (const ExportFormat &format : kExportFormats) {
    const std::string option = fmt::format("--to {} ", format.word);
    EXPECT_TRUE(has(usage, "export " + option)) << format.word;
    EXPECT_TRUE(some_page_has("export " + option)) << format.word;
  }
}

TEST(Recipes, EachFamilyIsInUsageAndInCapture) {
  Names chosen, tracepoints;
  for (const FamilyInfo &family : kFamilies)
    if (!family.option.empty()) {
      chosen.emplace(family.option);
      if (family.option != "sched" && family.option != "user")
        tracepoints.emplace(family.option);
    }
  EXPECT_EQ(first_cells("docs/usage.md", "| family | records |"), chosen);
  EXPECT_EQ(first_cells("docs/capture.md", "| `--filter` | tracepoints |"), tracepoints);
}

TEST(Recipes, EachAlarmTypeIsInTheTableOfControl) {
  Names types;
  for (const control::AlarmType &type : control::kAlarmTypes)
    types.emplace(type.name);
  EXPECT_EQ(first_cells("docs/control.md", "| type | value | fires when |"), types);
}

TEST(Recipes, EachStateIsInTheDocumentsOfTheOutputs) {
  Names names;
  const auto page_has = [](const char *name, const std::string &text) {
    EXPECT_TRUE(has(test::project_file(name), text)) << name << " lacks " << text;
  };
  for (const StateInfo &state : kStateTable) {
    page_has("docs/plot.md", std::string(state.label));

    if (size_t(state.state) >= OVNI_THREAD_STATES)
      continue;
    names.emplace(state.name);
    page_has("docs/perfetto.md", fmt::format("\n| {} | ", state.label));
    page_has("docs/models.md", fmt::format("{} {}", int(state.state), state.label));
  }
  EXPECT_EQ(first_cells("docs/sql.md", "| `state` | the thread |"), names);
}

TEST(Recipes, EachCounterIsInTheTableOfInfo) {
  std::set<std::string> rows, documented;
  for (const CounterInfo &counter : kCounters)
    rows.insert(fmt::format("| {} | `{}{}` | {} |", upper_case(counter.name),
                            counter.is_switch ? "switches." : "", counter.name, counter.meaning));
  std::istringstream in(test::project_file("docs/info.md"));
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (inside && line.starts_with("| "))
      documented.insert(line);
    inside = line.starts_with("| column | member") || (inside && line.starts_with("|"));
  }
  EXPECT_EQ(documented, rows);
}

TEST(Recipes, TheFormatNamesTheFilesOfTheCodec) {
  for (const char *page : {"docs/format.md", "docs/usage.md"})
    EXPECT_TRUE(
        has(test::project_file(page), fmt::format("`cpu0000.ftr{}`", suffix_of(Codec::zstd))))
        << page;
}

/// Returns the part of CONTRIBUTING.md from a bold heading to the next one.
std::string recipe(const std::string &heading) {
  const std::string text = test::project_file("CONTRIBUTING.md");
  const size_t start = text.find("\n**" + heading + "**");
  EXPECT_NE(start, text.npos) << heading;
  return text.substr(start, text.find("\n**", start + 1) - start);
}

/// Expects recipes to name each file that has what the extended expression finds. The C library
/// searches: std::regex takes ten times as long for all sources.
void expect_named(const std::string &recipes, const std::string &finds,
                  const std::vector<std::string> &folders) {
  regex_t expression;
  ASSERT_EQ(regcomp(&expression, finds.c_str(), REG_EXTENDED | REG_NOSUB), 0) << finds;
  size_t count = 0;
  for (const std::string &folder : folders)
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(test::project_path(folder))) {
      const std::string name = entry.path().filename();
      if (!entry.is_regular_file())
        continue;
      const std::string text =
          test::project_file(folder / relative(entry.path(), test::project_path(folder)));
      if (regexec(&expression, text.c_str(), 0, nullptr, 0) != 0)
        continue;
      // A recipe may name the header, the source or both.
      EXPECT_TRUE(has(recipes, name) || has(recipes, entry.path().stem().string() + ".") ||
                  has(recipes, "`" + entry.path().stem().string() + "`"))
          << entry.path() << " has " << finds << "; no recipe names it";
      count++;
    }
  regfree(&expression);
  EXPECT_GT(count, 2u) << finds;
}

TEST(Recipes, EveryFileThatAsksIsNamed) {
  const std::string states = recipe("A state that outputs show, but no record has") +
                             recipe("A state that records have"),
                    codec =
                        recipe("A codec of chunk files beside zstd") + "user/libovnitrace/zstd.";
  expect_named(states, R"(ThreadState::(Paused|Cooling|Warming)\b|ShownState::throttled\b)",
               {"emulator", "user"});
  expect_named(states, R"(\bOVNI_THREAD_)", {"bpf"});
  expect_named(states, R"(\bWaitKind::)", {"emulator", "user"});
  expect_named(states, R"(\bCause::)", {"emulator", "user"});
  expect_named(states, R"(\b(PAUSED|COOLING|WARMING|THROTTLED)\b|'cooling')",
               {"emulator/report/page"});
  expect_named(codec, R"(Codec::|FrameReader|FrameCompressor|ZSTD_)", {"emulator", "user"});
  expect_named(codec, R"(\bcompress_level\b)", {"user"});
  expect_named(
      recipe("An alarm type of `--control`"),
      "CONTROL_(ICOUNT|ADDRESS|SSC|INT3|MAGIC|CPUID|PCONTROL|(ENTER|EXIT)_FUNC|TIMEOUT)\\b",
      {"bpf", "user", "emulator"});
  expect_named(recipe("A 32-bit family, with a payload"), "kind <= UINT8_MAX|kind < 256",
               {"emulator"});
}

} // namespace
} // namespace ovnitrace
