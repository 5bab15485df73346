// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/config.h"

#include "emulator/base/error.h"
#include "emulator/base/identity.h"
#include "emulator/base/messages.h"
#include "emulator/base/printable.h"
#include "emulator/base/small_file.h"
#include "emulator/cli/app.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace ovnitrace {

namespace {

constexpr const char *kSystemFile = "/etc/ovnitrace/config";
constexpr size_t kMostBytes = 64 << 10;
constexpr std::string_view kBlank = " \t\r";

[[noreturn]] void fail(const Setting &at, const std::string &why) {
  throw UsageError("{}:{}:{}: {}", at.file, at.line, at.column, why);
}

/// A part of a line, and where it starts.
struct Word {
  std::string_view text;
  size_t column = 1;
};

Word trimmed(std::string_view line, size_t from, size_t to) {
  while (from < to && kBlank.find(line[from]) != kBlank.npos)
    from++;
  while (to > from && kBlank.find(line[to - 1]) != kBlank.npos)
    to--;
  return {line.substr(from, to - from), from + 1};
}

/// Parses NAME = VALUE. A value between double quotes keeps its blanks.
Setting parse_setting(Setting at, std::string_view line) {
  const size_t equals = line.find('=');
  const Word name = trimmed(line, 0, std::min(equals, line.size()));
  at.column = name.column;
  if (equals == line.npos)
    fail(at, fmt::format("'{}' has no value: write NAME = VALUE", printable_line(name.text)));
  at.name = name.text;
  if (at.name.empty())
    fail(at, "there is no name before the =");
  Word value = trimmed(line, equals + 1, line.size());
  at.column = value.column;
  if (value.text.starts_with('"')) {
    if (value.text.size() < 2 || !value.text.ends_with('"'))
      fail(at, "the quote does not end in this line");
    value.text = value.text.substr(1, value.text.size() - 2);
  } else if (const size_t comment = value.text.find(" #"); comment != value.text.npos) {
    value.text = trimmed(value.text, 0, comment).text;
  }
  at.value = value.text;
  if (at.value.empty())
    fail(at, "there is no value after the =");
  return at;
}

CLI::Option *find_option(const CLI::App &command, const std::string &name) {
  for (const CLI::Option *option : command.get_options())
    if (option->get_configurable() && option->check_lname(name))
      return const_cast<CLI::App &>(command).get_option("--" + name);
  return nullptr;
}

/// Returns whether another option of the command line leaves no place for this one.
bool has_no_place(const CLI::Option &option) {
  const auto given = [](const CLI::Option *other) { return other->count() > 0; };
  const auto &excluded = option.get_excludes();
  const auto &needed = option.get_needs();
  return std::any_of(excluded.begin(), excluded.end(), given) ||
         !std::all_of(needed.begin(), needed.end(), given);
}

/// Returns what the check kDefaultIf of an option says of a default; true if it has none.
bool has_effect(CLI::Option &option, const std::string &value) {
  try {
    CLI::Validator check = *option.get_validator(kDefaultIf);
    check.active(true);
    return check(value).empty();
  } catch (const CLI::OptionNotFound &) {
    return true;
  }
}

/// Gives an option its default. Returns whether it did.
bool apply(CLI::Option &option, const Setting &setting) {
  const bool flag = option.get_expected_min() == 0;
  if (option.count() > 0 || has_no_place(option) || (flag && setting.value == "false"))
    return false;
  try {
    if (!has_effect(option, setting.value))
      return false;
    const bool takes_value = option.get_type_name().starts_with("[=");
    if (flag && !takes_value && setting.value != "true")
      throw Error("write true or false");
    const std::string given =
        flag && setting.value == "true" ? "" : setting.value; // without a value
    option.add_result(flag ? option.get_flag_value(setting.name, given) : given);
    option.run_callback();
  } catch (const CLI::ParseError &error) {
    fail(setting, error.what());
  } catch (const Error &error) {
    fail(setting, fmt::format("{}: {}", setting.name, error.what()));
  }
  return true;
}

} // namespace

std::vector<Setting> parse_config(const std::string &file, std::string_view text) {
  std::vector<Setting> settings;
  Setting at{.file = file};
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    at.line++;
    const Word whole = trimmed(line, 0, line.size());
    at.column = whole.column;
    if (whole.text.empty() || whole.text.starts_with('#'))
      continue;
    if (const auto wrong =
            std::find_if(line.begin(), line.end(),
                         [](char c) { return uint8_t(c) < ' ' && c != '\t' && c != '\r'; });
        wrong != line.end()) {
      at.column = size_t(wrong - line.begin()) + 1;
      fail(at, "there is a control character: the file must be text");
    }
    if (whole.text.starts_with('[')) {
      if (!whole.text.ends_with(']'))
        fail(at, "the name of the section does not end with ]");
      at.command = trimmed(whole.text, 1, whole.text.size() - 1).text;
      if (at.command.empty())
        fail(at, "the section has no name: write [SUBCOMMAND]");
      settings.push_back(at); // its name is checked, too
    } else {
      settings.push_back(parse_setting(at, line));
    }
  }
  return settings;
}

void check_config(const CLI::App &program, const std::vector<Setting> &settings) {
  std::vector<const CLI::App *> all = all_commands(program);
  all.push_back(&program);
  for (const Setting &setting : settings) {
    const CLI::App *command = find_command(all, setting.command);
    if (!setting.command.empty() && !command)
      fail(setting, fmt::format("there is no subcommand {}", printable_line(setting.command)));
    if (setting.name.empty())
      continue;
    const bool known = command ? find_option(*command, setting.name) != nullptr
                               : std::any_of(all.begin(), all.end(), [&](const CLI::App *one) {
                                   return find_option(*one, setting.name) != nullptr;
                                 });
    if (!known)
      fail(setting,
           fmt::format("{} no option --{}", command ? command->get_name() + " has" : "there is",
                       printable_line(setting.name)));
  }
}

std::vector<const Setting *> settings_of(const CLI::App &command,
                                         const std::vector<Setting> &settings) {
  std::map<const CLI::Option *, const Setting *> chosen;
  for (const Setting &setting : settings) {
    const CLI::Option *option = setting.command.empty() || setting.command == command.get_name()
                                    ? find_option(command, setting.name)
                                    : nullptr;
    if (!option)
      continue;
    const Setting *&now = chosen[option];
    if (!now || now->file != setting.file || now->command.empty() || !setting.command.empty())
      now = &setting;
  }
  std::vector<const Setting *> all;
  for (const auto &[option, setting] : chosen)
    all.push_back(setting);
  std::sort(all.rbegin(), all.rend()); // the most important first, which others must not contradict
  return all;
}

void apply_config(CLI::App &command, const std::vector<Setting> &settings) {
  const std::vector<const Setting *> chosen = settings_of(command, settings);
  for (bool again = true; again;) { // an option may need one that follows
    again = false;
    for (const Setting *setting : chosen)
      again |= apply(*find_option(command, setting->name), *setting);
  }
}

std::vector<std::string> config_files() {
  std::vector<std::string> files = {kSystemFile};
  const bool sudo = std::getenv("SUDO_UID") != nullptr;
  if (sudo && geteuid() == 0)
    return files;
  const char *base = std::getenv("XDG_CONFIG_HOME"), *home = std::getenv("HOME");
  std::string directory;
  if (!sudo && base && base[0] == '/') // sudo's environment is of root
    directory = base;
  else if (!sudo && home && home[0] == '/')
    directory = std::string(home) + "/.config";
  else if (const passwd *user = getpwuid(geteuid())) // who called sudo: root was given up
    directory = std::string(user->pw_dir) + "/.config";
  if (!directory.empty())
    files.push_back(directory + "/ovnitrace/config");
  return files;
}

std::vector<Setting> read_config(const std::vector<std::string> &files) {
  std::vector<Setting> all;
  for (const std::string &file : files) {
    struct stat info;
    if (stat(file.c_str(), &info) != 0)
      continue;
    if (info.st_uid != 0 && info.st_uid != geteuid()) {
      print("warning: {} belongs to another user: it is not read", file);
      continue;
    }
    std::string why;
    const std::optional<std::string> text = read_small_file(file, kMostBytes, why);
    if (!text)
      throw Error("cannot read the configuration {}: {}", file, why);
    for (Setting &setting : parse_config(file, *text))
      all.push_back(std::move(setting));
  }
  return all;
}

} // namespace ovnitrace
