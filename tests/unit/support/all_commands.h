// SPDX-License-Identifier: BSD-2-Clause
// The whole command line, as ovnitrace has it.
#pragma once

#include "emulator/cli/help_formatter.h"
#include "user/cli/commands.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace ovnitrace::test {

class AllCommands : public testing::Test {
protected:
  AllCommands() { prepare(app); }
  void prepare(CLI::App &one) const {
    one.formatter(std::make_shared<HelpFormatter>());
    add_commands(one, command);
  }
  /// All commands, the one without a name first.
  std::vector<CLI::App *> commands() {
    std::vector<CLI::App *> all = app.get_subcommands({});
    all.insert(all.begin(), &app);
    return all;
  }
  const std::vector<std::string> command;
  CLI::App app{"What it does.\n", "ovnitrace"};
};

} // namespace ovnitrace::test
