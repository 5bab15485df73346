// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/terminal_options.h"

#include "emulator/cli/pager.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

namespace ovnitrace {

namespace {

enum class ColorChoice { automatic, always, never };
ColorChoice color = ColorChoice::automatic;

std::string_view environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// Returns whether a line is one of column names, or says what follows.
bool is_heading(std::string_view line) {
  const size_t start = line.find_first_not_of(' ');
  if (start == line.npos)
    return false;
  std::string words(line); // percentiles are the only columns in small letters
  for (const char *percentile : {"p50", "p90", "p99"})
    if (const size_t at = words.find(percentile); at != words.npos)
      words.erase(at, 3);
  const auto count = [&](char first, char last) {
    return std::count_if(words.begin(), words.end(),
                         [=](char c) { return c >= first && c <= last; });
  };
  const bool capitals = count('A', 'Z') > 2 && count('a', 'z') == 0 && count('0', '9') == 0;
  return capitals || (start == 0 && line.ends_with(':'));
}

} // namespace

void add_terminal_options(App command) {
  command
      .add_option_function<std::string>(
          "--color",
          [](const std::string &when) {
            color = when == "always"  ? ColorChoice::always
                    : when == "never" ? ColorChoice::never
                                      : ColorChoice::automatic;
          },
          "Use colours: auto (default: on a terminal, and not if NO_COLOR is set), always, never")
      .type_name("WHEN")
      .one_of({"auto", "always", "never"});
  command
      .add_option_function<std::string>("--pager", configure_pager,
                                        "Show long output on a terminal in this pager (default: "
                                        "$OVNITRACE_PAGER, $PAGER or less)")
      .type_name("COMMAND");
  command.add_flag(
      "--no-pager", [](int64_t) { use_pager(false); },
      "Show long output on a terminal without a pager");
}

bool wants_colors() {
  if (color != ColorChoice::automatic)
    return color == ColorChoice::always;
  return isatty(STDOUT_FILENO) && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

std::string with_headings(const std::string &report) {
  if (!wants_colors())
    return report;
  std::string out;
  for (size_t at = 0; at < report.size();) {
    const size_t end = std::min(report.find('\n', at), report.size());
    const std::string line = report.substr(at, end - at);
    out += is_heading(line) ? "\x1b[1m" + line + "\x1b[m" : line;
    if (end < report.size())
      out += '\n';
    at = end + 1;
  }
  return out;
}

} // namespace ovnitrace
