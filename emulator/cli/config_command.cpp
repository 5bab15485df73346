// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace config: says which options are configured, and where.
#include "emulator/base/printable.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/config.h"
#include "emulator/cli/run.h"
#include "emulator/cli/shared_options.h"
#include "emulator/cli/stdout_writer.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace ovnitrace {

namespace {

struct Row {
  std::string command;
  const Setting *setting;
};

/// Returns what applies to each command.
std::vector<Row> rows_of(const CLI::App &program, const std::vector<Setting> &settings) {
  std::vector<Row> rows;
  std::vector<const CLI::App *> commands = all_commands(program);
  commands.insert(commands.begin(), &program);
  for (const CLI::App *command : commands)
    for (const Setting *setting : settings_of(*command, settings))
      rows.push_back({command->get_name(), setting});
  return rows;
}

std::string json_of(const std::vector<std::string> &files, const std::vector<Row> &rows) {
  nlohmann::ordered_json root = {{"schema", 1},
                                 {"files", nlohmann::ordered_json::array()},
                                 {"options", nlohmann::ordered_json::array()}};
  for (const std::string &file : files)
    root["files"].push_back(
        {{"path", printable_line(file)}, {"read", access(file.c_str(), R_OK) == 0}});
  for (const auto &[command, setting] : rows)
    root["options"].push_back({{"command", command},
                               {"option", setting->name},
                               {"value", printable_line(setting->value)},
                               {"file", printable_line(setting->file)},
                               {"line", setting->line}});
  return root.dump(1) + "\n";
}

std::string text_of(const std::vector<std::string> &files, const std::vector<Row> &rows) {
  std::string text = "FILES, the last one overrides the others:\n";
  for (const std::string &file : files)
    text += fmt::format("  {}{}\n", file,
                        access(file.c_str(), R_OK) == 0 ? "" : "  (not there, or not readable)");
  size_t commands = 7, options = 6, values = 5;
  for (const auto &[command, setting] : rows) {
    commands = std::max(commands, command.size());
    options = std::max(options, setting->name.size());
    values = std::max(values, setting->value.size());
  }
  text += rows.empty() ? "\nNo option is configured.\n"
                       : fmt::format("\n{:<{}}  {:<{}}  {:<{}}  FROM\n", "COMMAND", commands,
                                     "OPTION", options, "VALUE", values);
  for (const auto &[command, setting] : rows)
    text += fmt::format("{:<{}}  {:<{}}  {:<{}}  {}:{}\n", command, commands, setting->name,
                        options, printable_line(setting->value), values,
                        printable_line(setting->file), setting->line);
  return text;
}

} // namespace

void add_config(App app) {
  const auto json = std::make_shared<bool>(false);
  const App command =
      add_unprivileged(app, "config", "Print which options are configured, and in which file");
  command.add_flag(kJson, *json, "Print an object of JSON");
  command.footer(R"(
Defaults of options are read from /etc/ovnitrace/config, then from ~/.config/ovnitrace/config (or
$XDG_CONFIG_HOME/ovnitrace/config), which overrides it. The command line overrides both. Under sudo,
commands that record read only /etc/ovnitrace/config. docs/config.md explains the files.

Examples:
  ovnitrace config
  ovnitrace config --json | jq -r '.options[] | .command + " " + .option')");
  command.callback([app, json] {
    const std::vector<std::string> files = config_files();
    const std::vector<Setting> settings = read_config(files);
    const std::vector<Row> rows = rows_of(app.parser(), settings);
    StdoutWriter out;
    out.write(*json ? json_of(files, rows) : text_of(files, rows));
    out.flush();
    return 0;
  });
}

} // namespace ovnitrace
