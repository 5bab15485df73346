// SPDX-License-Identifier: BSD-2-Clause
// A subcommand and its options, with the names of CLI11, whose headers take longer to compile than
// most of our files: only app.cpp, run.cpp and help_formatter.cpp include them.
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

/// An option of a command, which owns it.
class Option {
public:
  explicit Option(CLI::Option *option) : option_(option) {}

  Option type_name(const std::string &name) const; ///< what --help calls a value
  Option group(const std::string &name) const;     ///< the part of --help in which it stands
  Option required() const;
  Option allow_extra_args(bool many) const; ///< whether it takes all values that follow it
  Option delimiter(char between) const;     ///< of the values in a list
  Option needs(Option other) const;
  Option needs(const std::string &other) const;
  Option remove_needs(Option other) const;
  Option excludes(Option other) const;
  Option range(uint64_t least, uint64_t most) const; ///< refuses other numbers
  Option one_of(const std::vector<std::string> &words) const;
  Option as_size() const; ///< reads 20M as bytes
  /// `wrong` returns what is wrong with a value, or nothing.
  Option check(const std::function<std::string(const std::string &)> &wrong) const;
  Option each(const std::function<void(std::string)> &take) const; ///< called with each value

private:
  CLI::Option *option_;
};

/// A subcommand, or the program itself, which outlives this. What is set through a reference must
/// live until the command line is parsed.
class App {
public:
  App(CLI::App &app) : app_(&app) {} // not explicit: it is the same thing

  App add_subcommand(const std::string &name, const std::string &what) const;
  /// For the types that app.cpp lists at its end.
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
  /// `set` is called where the flag is given.
  Option add_flag_callback(const std::string &names, const std::function<void()> &set,
                           const std::string &what) const;
  Option get_option(const std::string &name) const;

  /// `text` is what follows "Usage: " in --help; empty: it is made from the options. --help has our
  /// form then, also that of subcommands that are added afterwards.
  void usage(const std::string &text = {}) const;
  void footer(const std::string &text) const;
  void before_parsing(const std::function<void()> &run) const;
  void callback(const std::function<void()> &run) const; ///< when the command line is parsed
  void parse_complete_callback(const std::function<void()> &check) const; ///< before that

  std::string named_subcommand() const;   ///< after parsing; empty: none
  std::string first_given_option() const; ///< after parsing; empty: none

  CLI::App &parser() const { return *app_; }

private:
  CLI::App *app_;
};

/// A command line without any option yet. Owns all of it.
class RootApp : public App {
public:
  RootApp(const std::string &what, const std::string &name);
  ~RootApp();
  RootApp(const RootApp &) = delete;
  RootApp &operator=(const RootApp &) = delete;

  void add_version(const std::string &text) const;
  void require_subcommand(size_t least, size_t most) const;
};

/// What is added during its life stands together in --help.
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

/// Refuses the command line, where a value is taken.
[[noreturn]] void refuse_value(const std::string &why);

/// What an option whose value may be left out calls it: "LEVEL" of "[=LEVEL]"; empty: it is none.
std::string optional_value(const CLI::Option &option);

} // namespace ovnitrace
