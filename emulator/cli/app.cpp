// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/app.h"

#include "emulator/cli/config.h"
#include "emulator/cli/help_formatter.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace ovnitrace {

namespace {

/// Reads the configuration when the command line is parsed and no command has run yet.
class ConfiguredApp final : public CLI::App {
public:
  using CLI::App::App;

private:
  void pre_callback() override {
    const std::vector<Setting> settings = read_config(config_files());
    check_config(*this, settings);
    const auto named = get_subcommands();
    apply_config(named.empty() ? *this : *named.front(), settings);
  }
};

} // namespace

Option Option::type_name(const std::string &name) const {
  return Option(option_->type_name(name));
}

Option Option::group(const std::string &name) const {
  return Option(option_->group(name));
}

Option Option::required() const {
  return Option(option_->required());
}

Option Option::allow_extra_args(bool many) const {
  return Option(option_->allow_extra_args(many));
}

Option Option::delimiter(char between) const {
  return Option(option_->delimiter(between));
}

Option Option::needs(Option other) const {
  return Option(option_->needs(other.option_));
}

Option Option::needs(const std::string &other) const {
  return Option(option_->needs(other));
}

Option Option::excludes(Option other) const {
  return Option(option_->excludes(other.option_));
}

Option Option::default_if(const std::function<bool()> &has_effect) const {
  return default_if([has_effect](const std::string &) { return has_effect(); });
}

/// CLI11 has no place for it. A check that is not active checks no value.
Option Option::default_if(const std::function<bool(const std::string &)> &has_effect) const {
  CLI::Validator effect(
      [has_effect](const std::string &value) { return has_effect(value) ? "" : "none"; }, "",
      kDefaultIf);
  effect.active(false);
  try {
    *option_->get_validator(kDefaultIf) = effect;
    return *this;
  } catch (const CLI::OptionNotFound &) {
    return Option(option_->check(effect));
  }
}

Option Option::range(uint64_t least, uint64_t most) const {
  return Option(option_->check(CLI::Range(least, most)));
}

Option Option::one_of(const std::vector<std::string> &words) const {
  const auto wrong = [words](const std::string &word) {
    return std::find(words.begin(), words.end(), word) != words.end()
               ? std::string()
               : fmt::format("'{}' is not one of {}", word, fmt::join(words, ", "));
  };
  return Option(option_->check(wrong, fmt::format("{{{}}}", fmt::join(words, ","))));
}

/// CLI11 makes a check's description a part of the type name, after a colon.
Option Option::values(const std::string &words) const {
  return Option(option_->check(
      CLI::Validator([](std::string &) { return std::string(); }, "{" + words + "}")));
}

Option Option::as_size() const {
  return Option(option_->transform(CLI::AsSizeValue(false)));
}

Option Option::check(const std::function<std::string(const std::string &)> &wrong) const {
  return Option(option_->check(wrong));
}

Option Option::each(const std::function<void(std::string)> &take) const {
  return Option(option_->each(take));
}

App App::add_subcommand(const std::string &name, const std::string &what) const {
  return *app_->add_subcommand(name, what);
}

template <class Value>
Option App::add_option(const std::string &names, Value &value, const std::string &what) const {
  return Option(app_->add_option(names, value, what));
}

template <class Value>
Option App::add_option_function(const std::string &names,
                                const std::function<void(const Value &)> &take,
                                const std::string &what) const {
  return Option(app_->add_option_function<Value>(names, take, what));
}

Option App::add_flag(const std::string &names, bool &flag, const std::string &what) const {
  return Option(app_->add_flag(names, flag, what));
}

Option App::add_flag(const std::string &names, std::string &value, const std::string &what) const {
  return Option(app_->add_flag(names, value, what));
}

Option App::add_flag(const std::string &names, const std::function<void(int64_t)> &take,
                     const std::string &what) const {
  return Option(app_->add_flag_function(names, take, what));
}

Option App::add_flag_callback(const std::string &names, const std::function<void()> &set,
                              const std::string &what) const {
  return Option(app_->add_flag_callback(names, set, what));
}

Option App::get_option(const std::string &name) const {
  return Option(app_->get_option(name));
}

void App::usage(const std::string &text) const {
  app_->formatter(std::make_shared<HelpFormatter>(text));
}

void App::footer(const std::string &text) const {
  app_->footer(text);
}

void App::before_parsing(const std::function<void()> &run) const {
  app_->preparse_callback([run](size_t) { run(); });
}

void App::callback(const std::function<int()> &run) const {
  app_->callback([run] {
    if (const int status = run())
      throw CLI::RuntimeError(status);
  });
}

void App::parse_complete_callback(const std::function<void()> &check) const {
  app_->parse_complete_callback(check);
}

std::string App::named_subcommand() const {
  const auto named = app_->get_subcommands();
  return named.empty() ? "" : named.front()->get_name();
}

std::string App::first_given_option() const {
  const auto given =
      app_->get_options([](const CLI::Option *option) { return option->count() > 0; });
  return given.empty() ? "" : given.front()->get_name();
}

RootApp::RootApp(const std::string &what, const std::string &name)
    : App(*new ConfiguredApp(what, name)) {}

RootApp::~RootApp() {
  delete &parser();
}

void RootApp::add_version(const std::string &text) const {
  parser().set_version_flag("--version", text, "Print the version and exit");
}

void RootApp::require_subcommand(size_t least, size_t most) const {
  parser().require_subcommand(least, most);
}

OptionGroup::OptionGroup(App command, const char *name)
    : command_(command), outer_(command.parser().option_defaults()->get_group()) {
  command_.parser().option_defaults()->group(name);
}

OptionGroup::~OptionGroup() {
  command_.parser().option_defaults()->group(outer_);
}

std::vector<const CLI::App *> shown_commands(const CLI::App &program) {
  return program.get_subcommands([](const CLI::App *one) { return !one->get_group().empty(); });
}

std::vector<const CLI::App *> all_commands(const CLI::App &program) {
  return program.get_subcommands([](const CLI::App *) { return true; });
}

const CLI::App *find_command(const std::vector<const CLI::App *> &commands,
                             const std::string &name) {
  for (const CLI::App *one : commands)
    if (one->get_name() == name)
      return one;
  return nullptr;
}

void refuse_value(const std::string &why) {
  throw CLI::ValidationError(why);
}

using Words = std::vector<std::string>;
template Option App::add_option(const std::string &, std::string &, const std::string &) const;
template Option App::add_option(const std::string &, Words &, const std::string &) const;
template Option App::add_option(const std::string &, int &, const std::string &) const;
template Option App::add_option(const std::string &, uint32_t &, const std::string &) const;
template Option App::add_option(const std::string &, uint64_t &, const std::string &) const;
template Option App::add_option(const std::string &, std::vector<uint32_t> &,
                                const std::string &) const;
template Option App::add_option(const std::string &, std::optional<uint32_t> &,
                                const std::string &) const;
template Option App::add_option(const std::string &, std::optional<uint64_t> &,
                                const std::string &) const;
template Option App::add_option_function(const std::string &,
                                         const std::function<void(const std::string &)> &,
                                         const std::string &) const;
template Option App::add_option_function(const std::string &,
                                         const std::function<void(const Words &)> &,
                                         const std::string &) const;

} // namespace ovnitrace
