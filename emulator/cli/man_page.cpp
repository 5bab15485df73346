// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/man_page.h"

#include "emulator/base/error.h"
#include "emulator/cli/app.h"
#include "emulator/cli/help_formatter.h"
#include "emulator/output/atomic_file.h"
#include "emulator/output/output_place.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string_view>
#include <vector>

namespace ovnitrace {

namespace {

/// Returns text as roff prints it unchanged. Code between backquotes becomes bold.
std::string roff(std::string_view text) {
  std::string out;
  bool bold = false;
  for (const char c : text)
    if (c == '`')
      out += (bold = !bold) ? "\\fB" : "\\fR";
    else if (c == '-')
      out += "\\-";
    else if (c == '\\')
      out += "\\e";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '~')
      out += "\\(ti";
    else if (c == '^')
      out += "\\(ha";
    else
      out += c;
  return out.starts_with('.') ? "\\&" + out : out;
}

/// Returns a line without blanks at its ends. `between` replaces two or more blanks.
std::string squeezed(std::string_view text, const char *between = " ") {
  std::string out;
  size_t blanks = 0;
  for (const char c : text) {
    if (c == ' ') {
      blanks++;
      continue;
    }
    if (!out.empty() && blanks)
      out += blanks > 1 ? between : " ";
    blanks = 0;
    out += c;
  }
  return out;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string item(const std::string &name, const std::string &text) {
  return ".TP\n\\fB" + name + "\\fR\n" + (text.empty() ? "\\&" : text) + "\n";
}

/// Returns "comm  its meaning" as an item of a list. Two blanks are between both.
std::string list_item(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const size_t gap = std::min(line.find("  "), line.size());
  return item(roff(line.substr(0, gap)), roff(squeezed(line.substr(gap), ", ")));
}

/// The text of a help behind its options: paragraphs, and lists whose lines are indented. A line of
/// a list that is indented more continues the one before.
class Footer {
public:
  explicit Footer(std::string_view text) {
    for (const std::string_view line : lines_of(text))
      add(line);
    end_item();
  }
  std::string text;     ///< without the examples
  std::string examples; ///< a list

private:
  void add(std::string_view line) {
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (line == "Examples:" || line == "Example:") {
      end_item();
      in_examples_ = true;
    } else if (indent == line.size()) {
      end_item();
      in_examples_ = false;
      starts_ = !text.empty();
    } else if (indent == 2) {
      end_item();
      item_ = line;
    } else if (indent > 2 && !item_.empty()) {
      item_ += (item_.find("  ", 2) == item_.npos ? "  " : " ") + std::string(line.substr(indent));
    } else {
      end_item();
      in_examples_ = false;
      text += (starts_ ? ".PP\n" : "") + roff(line) + "\n";
      starts_ = false;
    }
  }
  void end_item() {
    if (item_.empty())
      return;
    (in_examples_ ? examples : text) += list_item(item_);
    item_.clear();
    starts_ = true;
  }

  std::string item_; ///< not yet ended
  bool in_examples_ = false, starts_ = false;
};

std::string page_name(const CLI::App &command, const CLI::App &program) {
  return program.get_name() + (&command == &program ? "" : "-" + command.get_name());
}

std::string synopsis(const CLI::App &command, const CLI::App &program) {
  const auto formatter = std::make_shared<HelpFormatter>();
  const auto *own = dynamic_cast<const HelpFormatter *>(command.get_formatter().get());
  const std::string name =
      program.get_name() + (&command == &program ? "" : " " + command.get_name());
  std::string usage = (own ? own : formatter.get())->make_usage(&command, name);
  usage.erase(0, usage.find(": ") + 2);
  std::string text;
  for (const std::string_view line : lines_of(usage))
    if (const std::string words = squeezed(line); !words.empty())
      text += (text.empty() ? "" : ".br\n") + roff(words) + "\n";
  return text;
}

std::string options(const CLI::App &command) {
  std::string text;
  const auto add = [&](const std::string &title, const auto &belongs) {
    std::string items;
    for (const CLI::Option *option : command.get_options())
      if (belongs(option))
        items += item(roff(squeezed(shown_name(*option))), roff(option->get_description()));
    if (!items.empty())
      text += (title.empty() ? "" : ".SS " + roff(title) + "\n") + items;
  };
  add("", [](const CLI::Option *option) { return option->get_positional(); });
  for (const std::string &group : command.get_groups())
    if (!group.empty())
      add(group == "Options" ? "" : group, [&](const CLI::Option *option) {
        return option->get_group() == group && option->nonpositional();
      });
  return text;
}

std::string section(const char *title, const std::string &text) {
  return text.empty() ? "" : std::string(".SH ") + title + "\n" + text;
}

/// Returns the day of the build, which a distribution sets so that every build has the same bytes.
std::string build_date() {
  const char *fixed = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t now = fixed ? std::time_t(std::atoll(fixed)) : std::time(nullptr);
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(now));
}

} // namespace

std::string man_page(const CLI::App &command, const CLI::App &program, const std::string &date) {
  const std::string name = page_name(command, program);
  const std::string what = command.get_description();
  const std::vector<std::string_view> lines = lines_of(what);
  std::string brief(lines.empty() ? "" : lines.front());
  if (&command != &program)
    brief.front() = char(std::tolower(brief.front()));
  if (brief.ends_with('.'))
    brief.pop_back();
  const Footer footer(command.get_footer());
  std::string description;
  for (size_t n = 1; n < lines.size(); n++)
    description += roff(lines[n]) + "\n";
  description += footer.text;
  std::string commands, others;
  for (const CLI::App *one : shown_commands(program)) {
    const std::string page = page_name(*one, program);
    commands += item(roff(page) + "\\fR(1)", roff(one->get_description()));
    if (one != &command)
      others += "\\fB" + roff(page) + "\\fR(1),\n";
  }
  const bool whole = &command == &program;
  return fmt::format(".TH \"{}\" 1 \"{}\" \"{}\" \"User Commands\"\n.nh\n.na\n", roff(name), date,
                     "ovnitrace " OVNITRACE_VERSION) +
         section("NAME", roff(name) + " \\- " + roff(brief) + "\n") +
         section("SYNOPSIS", synopsis(command, program)) + section("DESCRIPTION", description) +
         section("COMMANDS", whole ? commands : "") + section("OPTIONS", options(command)) +
         section("EXAMPLES", footer.examples) +
         section("SEE ALSO",
                 (whole ? "" : "\\fB" + roff(program.get_name()) + "\\fR(1),\n" + others) +
                     "\\fBovnitrace\\-format\\fR(5)\n.PP\nThe pages docs/*.md are in "
                     "share/doc/ovnitrace.\n");
}

void write_man_pages(const CLI::App &program, const std::string &directory) {
  const OutputDirectory place(directory, OutputDirectory::Link::follow);
  const std::string date = build_date();
  std::vector<const CLI::App *> all = shown_commands(program);
  all.push_back(&program);
  for (const CLI::App *one : all)
    write_text_file(place.file(page_name(*one, program) + ".1"), man_page(*one, program, date));
}

} // namespace ovnitrace
