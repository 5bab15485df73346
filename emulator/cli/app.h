// SPDX-License-Identifier: BSD-2-Clause
// Wraps CLI11, whose headers take longer to compile than most of our files, with the same names.
// Only app.cpp, run.cpp and help_formatter.cpp include CLI11.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace ovnitrace {

/// Placeholders for Option::values(): completion offers the pids, tids or names of the trace.
inline constexpr const char *kTracePids = "<pid>", *kTraceTids = "<tid>", *kTraceComms = "<comm>",
                            *kTraceCpus = "<cpu>", *kTraceMarks = "<mark>",
                            *kProcesses = "<process>", *kUsers = "<user>";

/// An option. Its command owns it.
class Option {
public:
  explicit Option(CLI::Option *option) : option_(option) {}

  Option type_name(const std::string &name) const; ///< the value's name in --help
  Option group(const std::string &name) const;     ///< its part of --help
  Option required() const;
  Option allow_extra_args(bool many) const; ///< whether it takes all values that follow it
  Option delimiter(char between) const;     ///< between the values of a list
  Option needs(Option other) const;
  Option needs(const std::string &other) const;
  Option excludes(Option other) const;
  /// Ignores a default of the configuration unless `has_effect` returns true. It is called when the
  /// command line is parsed. Replaces an earlier condition.
  Option default_if(const std::function<bool()> &has_effect) const;
  /// Does the same with a condition that depends on the default.
  Option default_if(const std::function<bool(const std::string &)> &has_effect) const;
  Option range(uint64_t least, uint64_t most) const; ///< refuses other numbers
  Option one_of(const std::vector<std::string> &words) const;
  /// Sets the words that the completion of the shell offers, with commas between them, or one of
  /// the kinds above. Other values are allowed.
  Option values(const std::string &words) const;
  Option as_size() const; ///< reads 20M as bytes
  /// Refuses values for which `wrong` returns a reason.
  Option check(const std::function<std::string(const std::string &)> &wrong) const;
  Option each(const std::function<void(std::string)> &take) const; ///< called with each value

private:
  CLI::Option *option_;
};

/// A subcommand or the whole program. Does not own it. What is set through a reference must live
/// until the command line is parsed.
class App {
public:
  App(CLI::App &app) : app_(&app) {} // not explicit: it is the same thing

  App add_subcommand(const std::string &name, const std::string &what) const;
  /// Adds an option of one of the types at the end of app.cpp.
  template <class Value>
  Option add_option(const std::string &names, Value &value, const std::string &what) const;
  template <class Value>
  Option add_option_function(const std::string &names,
                             const std::function<void(const Value &)> &take,
                             const std::string &what) const;
  Option add_flag(const std::string &names, bool &flag, const std::string &what) const;
  Option add_flag(const std::string &names, std::string &value, const std::string &what) const;
  Option add_flag(const std::string &names, const std::function<void(int64_t)> &take,
                  const std::string &what) const;
  /// Calls `set` if the flag is given.
  Option add_flag_callback(const std::string &names, const std::function<void()> &set,
                           const std::string &what) const;
  Option get_option(const std::string &name) const;

  /// Sets what follows "Usage: " in --help; empty: made from the options. Gives --help our form,
  /// also for subcommands that are added later.
  void usage(const std::string &text = {}) const;
  void footer(const std::string &text) const;
  void before_parsing(const std::function<void()> &run) const;
  /// Calls `run` when the command line is parsed. Its result is the exit status.
  void callback(const std::function<int()> &run) const;
  void
  parse_complete_callback(const std::function<void()> &check) const; ///< called before callback()

  std::string named_subcommand() const;   ///< after parsing; empty: none was named
  std::string first_given_option() const; ///< after parsing; empty: none was given

  CLI::App &parser() const { return *app_; }

private:
  CLI::App *app_;
};

/// A command line, without options at first. Owns everything.
class RootApp : public App {
public:
  RootApp(const std::string &what, const std::string &name);
  ~RootApp();
  RootApp(const RootApp &) = delete;
  RootApp &operator=(const RootApp &) = delete;

  void add_version(const std::string &text) const;
  void require_subcommand(size_t least, size_t most) const;
};

/// Groups in --help the options that are added while it lives.
class OptionGroup {
public:
  OptionGroup(App command, const char *name);
  ~OptionGroup();
  OptionGroup(const OptionGroup &) = delete;
  OptionGroup &operator=(const OptionGroup &) = delete;

private:
  App command_;
  std::string outer_;
};

/// Refuses the command line because of a value.
[[noreturn]] void refuse_value(const std::string &why);

/// Returns how --help calls a value that may be left out: "LEVEL" of "[=LEVEL]". Empty for other
/// options.
std::string optional_value(const CLI::Option &option);

/// Returns the subcommands that --help lists.
std::vector<const CLI::App *> shown_commands(const CLI::App &program);
/// Returns all subcommands.
std::vector<const CLI::App *> all_commands(const CLI::App &program);
/// Returns the command of this name; null if no command has it.
const CLI::App *find_command(const std::vector<const CLI::App *> &commands,
                             const std::string &name);

} // namespace ovnitrace
