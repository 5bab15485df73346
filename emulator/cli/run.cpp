// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/run.h"

#include "emulator/base/edit_distance.h"
#include "emulator/base/error.h"
#include "emulator/base/identity.h"
#include "emulator/base/messages.h"
#include "emulator/cli/complete.h"
#include "emulator/cli/man_page.h"

#include <CLI/App.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace ovnitrace {

namespace {

int fail(const std::string &message, int status) {
  print_text(message);
  return status;
}

/// Refuses options with an empty value: CLI11 takes `--compress=` for `--compress`, and `--output=
/// TRACE` for `--output TRACE`. An empty value, as of a variable that is not set, would be as none:
/// `--key ""` would switch encryption off.
void refuse_empty_values(int argc, char **argv) {
  for (int n = 1; n < argc; n++) {
    const std::string_view argument = argv[n], before = argv[n - 1];
    if (argument.empty() && n > 1 && before.starts_with('-') && before != "-" && before != "--")
      throw UsageError(std::string(before) + ": its value is empty");
    if (argument.starts_with("--") && argument.find('=') + 1 == argument.size())
      throw UsageError(std::string(argument) + ": there is nothing after the =");
  }
}

/// Returns the innermost subcommand that was named, whose --help is to be read.
std::string command_of(const CLI::App &app) {
  std::string name = app.get_name().empty() ? "ovnitrace" : app.get_name();
  for (const CLI::App *sub : app.get_subcommands())
    return name + " " + command_of(*sub);
  return name;
}

/// Returns which of the known words another is probably a misspelling of: the nearest. Empty: none.
std::string nearest(std::string_view word, const std::vector<std::string> &known) {
  std::string found;
  size_t least = SIZE_MAX;
  for (const std::string &one : known) {
    const size_t distance = edit_distance(word, one);
    if (distance <= std::clamp<size_t>(one.size() / 3, 1, 2) && distance < least) {
      found = one;
      least = distance;
    }
  }
  return found;
}

/// Returns the option that an unknown one probably means: it starts the same, as other tools
/// accept, or is spelt most nearly so.
std::string meant_by(const std::string &argument, const CLI::App &command) {
  const std::string name = argument.substr(0, argument.find('='));
  if (!name.starts_with("--"))
    return "";
  for (const CLI::Option *option : command.get_options())
    if (option->get_name().starts_with(name))
      return option->get_name();
  std::vector<std::string> known;
  for (const CLI::Option *option : command.get_options())
    if (option->get_name().starts_with("--"))
      known.push_back(option->get_name());
  return nearest(name, known);
}

/// Returns a hint about a word in the place of a subcommand; empty if it is like none.
std::string command_hint(const std::string &word, const CLI::App &app) {
  constexpr std::string_view kCapturing[] = {"record", "stat", "top", "collect", "control", "ctl"};
  if (app.get_name() == "ovnitrace-emu" &&
      std::find(std::begin(kCapturing), std::end(kCapturing), word) != std::end(kCapturing))
    return fmt::format("; {} is a command of ovnitrace; ovnitrace-emu only reads traces", word);
  std::vector<std::string> known;
  for (const CLI::App *command : all_commands(app))
    known.push_back(command->get_name());
  const std::string meant = nearest(word, known);
  return meant.empty() ? "" : fmt::format("; did you mean `{}`?", meant);
}

/// Returns the arguments that nothing takes. If there are options among them, returns only those:
/// what follows an option may be its value, and CLI11 has taken it for something else.
std::vector<std::string> not_expected(const CLI::App &app) {
  std::vector<std::string> extras = app.remaining(true), options;
  std::erase(extras, "--"); // which separates arguments
  std::copy_if(extras.begin(), extras.end(), std::back_inserter(options),
               [](const std::string &extra) { return extra.starts_with('-') && extra != "-"; });
  return options.empty() ? extras : options;
}

/// Tells if there are arguments that nothing takes. Where a subcommand is required, CLI11 reports
/// that none is there, and not the word in its place.
bool has_unexpected(const CLI::ParseError &error, const CLI::App &app) {
  if (dynamic_cast<const CLI::RequiredError *>(&error))
    return app.get_subcommands().empty() && !not_expected(app).empty();
  return dynamic_cast<const CLI::ExtrasError *>(&error);
}

/// Returns the only subcommand that has this option; empty if none has, or several.
std::string owner_of(const std::string &argument, const CLI::App &app) {
  const std::string name = argument.substr(0, argument.find('='));
  std::string owner;
  for (const CLI::App *one : all_commands(app)) {
    if (!name.starts_with("--") || !one->get_option_no_throw(name))
      continue;
    if (!owner.empty())
      return "";
    owner = one->get_name();
  }
  return owner;
}

/// Returns a hint about arguments that nothing takes: what could have been meant.
std::string hint_about(const CLI::App &app, int argc, char **argv,
                       std::span<const std::string_view> program_commands) {
  const auto named = app.get_subcommands();
  const CLI::App &command = named.empty() ? app : *named.front();
  std::string hint;
  for (int n = 1; n + 1 < argc; n++) {
    const std::string name = argv[n];
    const CLI::Option *option =
        name.starts_with("--") ? command.get_option_no_throw(name) : nullptr;
    const std::string value = option ? optional_value(*option) : "";
    if (!value.empty() && argv[n + 1][0] != '-')
      hint += fmt::format("; a value of {0} follows an =, as in {0}={1}", name, value);
  }
  for (const std::string &extra : app.remaining(true))
    if (const std::string meant = command_hint(extra, app); named.empty() && !meant.empty())
      return meant;
  bool word = false; // it is not an option
  for (const std::string &extra : not_expected(app)) {
    word |= !extra.starts_with('-');
    if (const std::string meant = meant_by(extra, command); !meant.empty())
      hint += fmt::format("; there is {}", meant);
    else if (const std::string owner = owner_of(extra, app); named.empty() && !owner.empty())
      hint += fmt::format("; `{} {}` has this option", app.get_name(), owner);
  }
  const std::string name = named.empty() ? "" : command.get_name();
  if (word && std::count(program_commands.begin(), program_commands.end(), name))
    hint += fmt::format("; the program to trace follows --, as in `{} -- ./app`", command_of(app));
  return hint;
}

/// Returns the message for a wrong command line. CLI11's "Could not convert: --cpu = x" does not
/// say what is wrong. CLI11 lists unexpected arguments in reverse.
std::string message_of(const CLI::ParseError &error, const CLI::App &app) {
  if (has_unexpected(error, app)) {
    std::string extras;
    for (const std::string &argument : not_expected(app))
      extras += " " + argument;
    return "not expected:" + extras;
  }
  constexpr std::string_view kConvert = "Could not convert: ", kIs = " = ";
  std::string message = error.what();
  if (message.ends_with(" missing")) // after a type name, which ends with the words of values()
    if (const size_t words = message.find(":{"); words != message.npos)
      message.replace(words, message.rfind('}') + 1 - words, "");
  const size_t is = message.find(kIs);
  if (!message.starts_with(kConvert) || is == message.npos)
    return message;
  const std::string option = message.substr(kConvert.size(), is - kConvert.size());
  return option + ": '" + message.substr(is + kIs.size()) + "' is not what it takes";
}

/// Returns the message for a failed system call. If a thread cannot start, the standard library
/// says neither that nor why.
std::string message_of(const std::system_error &error) {
  if (error.code() != std::errc::resource_unavailable_try_again)
    return error.what();
  return fmt::format("cannot start a thread: {}; the user or the cgroup has reached its limit of "
                     "processes and threads: raise it (`ulimit -u`, pids.max of the cgroup), or "
                     "end some of them",
                     error.code().message());
}

bool reads_as_caller = false; ///< a command that gives up root runs

/// Returns the message with what helps if a file is root's.
std::string with_sudo_hint(const std::string &message) {
  const bool refused = message.find(std::strerror(EACCES)) != message.npos;
  if (!refused || !reads_as_caller || !std::getenv("SUDO_UID"))
    return message;
  return message + "; commands that read traces run as the user who called sudo: to read as root, "
                   "sudo env -u SUDO_UID ovnitrace …";
}

/// Prints what --help or --version asks for.
int print_help(const CLI::App &app, const CLI::ParseError &error) {
  const int status = app.exit(error);
  if (!std::cout.flush())
    return fail(std::string("cannot write to standard output: ") + std::strerror(errno),
                kExitFailure);
  return status;
}

/// Runs `ovnitrace help COMMAND`.
int help_about(const CLI::App &app, const std::string &name) {
  const CLI::App *command = name.empty() ? &app : find_command(all_commands(app), name);
  if (!command) {
    return fail(fmt::format("there is no command {}{}\nTry '{} --help'.", name,
                            command_hint(name, app), app.get_name()),
                kExitUsage);
  }
  std::cout << command->help(name.empty() ? "" : app.get_name());
  if (!std::cout.flush())
    return fail(std::string("cannot write to standard output: ") + std::strerror(errno),
                kExitFailure);
  return 0;
}

/// Answers the completion of a shell, within two seconds or not at all.
int complete(const std::vector<std::string> &words, const CLI::App &app,
             std::span<const std::string_view> program_commands) {
  drop_privileges();
  alarm(2);
  std::cout << completions(app, words, program_commands) << std::flush;
  return 0;
}

} // namespace

std::vector<std::string> take_after_dashes(int &argc, char **argv) {
  if (argc > 1 && argv[1] == kCompleteCommand)
    return {};
  for (int n = 1; n < argc; n++) {
    if (std::strcmp(argv[n], "--") != 0)
      continue;
    std::vector<std::string> after(argv + n + 1, argv + argc);
    argc = n;
    return after;
  }
  return {};
}

int run_cli(App program, int argc, char **argv,
            std::span<const std::string_view> program_commands) noexcept {
  CLI::App &app = program.parser();
  try {
    set_program_name(app.get_name());
    if (argc > 1 && argv[1] == kCompleteCommand)
      return complete({argv + 2, argv + argc}, app, program_commands);
    refuse_empty_values(argc, argv);
    if (argc == 4 && argv[1] == std::string_view("help") && argv[2] == std::string_view("--man")) {
      write_man_pages(app, argv[3]); // for the Makefile
      return 0;
    }
    if (argc > 1 && std::string_view(argv[1]) == "help")
      return help_about(app, argc > 2 ? argv[2] : "");
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::RuntimeError &error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return print_help(app, error);
    std::string message = message_of(error, app);
    if (has_unexpected(error, app))
      message += hint_about(app, argc, argv, program_commands);
    return fail(message + "\nTry '" + command_of(app) + " --help'.", kExitUsage);
  } catch (const Error &error) {
    return fail(with_sudo_hint(error.what()), error.status());
  } catch (const std::bad_alloc &) {
    return fail("out of memory", kExitFailure);
  } catch (const std::system_error &error) {
    return fail(message_of(error), kExitFailure);
  } catch (const std::exception &error) {
    return fail(error.what(), kExitFailure);
  }
}

App add_unprivileged(App app, const std::string &name, const std::string &description) {
  const App command = app.add_subcommand(name, description);
  command.before_parsing([] {
    reads_as_caller = true;
    drop_privileges();
  });
  return command;
}

} // namespace ovnitrace
