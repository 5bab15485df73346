// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/help_formatter.h"

#include "emulator/base/short_line.h"
#include "emulator/cli/app.h"

namespace ovnitrace {

namespace {

constexpr size_t kIndent = 28, kWidth = 100; // columns: of the text beside the names, and of all

/// Returns "-o, --output"; long names without a short one are indented. An option with several long
/// names shows the first one. The others are older names, which still work.
std::string names_of(const CLI::Option &option) {
  std::string names = option.get_name(false, true);
  if (const size_t value = names.find('{'); value != names.npos) // of a flag given without one
    names.erase(value, names.find('}') - value + 1);
  if (const size_t older = names.find(",--", names.find("--")); older != names.npos)
    names.erase(older);
  if (const size_t comma = names.find(','); comma != names.npos)
    return names.insert(comma + 1, " ");
  return names.starts_with("--") ? "    " + names : names;
}

/// Returns " FILE", "[=LEVEL]", "[ADDRESS:]PORT", or nothing. CLI11 appends what a check says about
/// itself after a colon.
std::string value_of(const CLI::Option &option) {
  if (option.get_type_size() == 0)
    return "";
  const std::string type = option.get_type_name();
  const size_t optional_end = type.starts_with('[') ? type.find(']') : 0;
  const std::string word = type.substr(0, type.find(':', optional_end));
  return word.empty() || word.starts_with("[=") ? word : " " + word;
}

/// Returns `name` and, beside it, `text` in short lines.
std::string entry(const std::string &name, const std::string &text) {
  std::string all = "  " + name;
  const size_t column = columns_of(all);
  all +=
      column + 2 > kIndent ? '\n' + std::string(kIndent, ' ') : std::string(kIndent - column, ' ');
  return all + wrapped(text, kWidth, kIndent, kIndent) + '\n';
}

} // namespace

/// Prints subcommands before options, and one empty line between parts. CLI11 prints options first,
/// with two lines.
std::string HelpFormatter::make_help(const CLI::App *app, std::string name,
                                     CLI::AppFormatMode mode) const {
  std::string text = make_description(app) + make_usage(app, name) + make_subcommands(app, mode) +
                     make_positionals(app);
  for (const std::string &group : app->get_groups()) {
    const auto options = app->get_options([&group](const CLI::Option *option) {
      return option->get_group() == group && option->nonpositional();
    });
    if (!options.empty())
      text += make_group(group, false, options);
  }
  const std::string footer = make_footer(app); // may start in a line of its own
  const size_t start = footer.find_first_not_of('\n');
  return start == footer.npos ? text : text + '\n' + footer.substr(start);
}

std::string HelpFormatter::make_usage(const CLI::App *app, std::string name) const {
  return usage_.empty() ? CLI::Formatter::make_usage(app, name) : "Usage: " + usage_ + '\n';
}

std::string HelpFormatter::make_option(const CLI::Option *option, bool is_positional) const {
  return entry(is_positional ? make_option_usage(option) : shown_name(*option),
               option->get_description());
}

std::string HelpFormatter::make_subcommand(const CLI::App *command) const {
  return entry(command->get_name(), command->get_description());
}

std::string shown_name(const CLI::Option &option) {
  if (option.get_positional() && !option.nonpositional())
    return option.get_name() +
           (option.get_expected_max() >= CLI::detail::expected_max_vector_size ? "..." : "");
  return names_of(option) + value_of(option);
}

std::string optional_value(const CLI::Option &option) {
  const std::string value = value_of(option);
  return value.starts_with("[=") ? value.substr(2, value.size() - 3) : "";
}

} // namespace ovnitrace
