// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/complete.h"

#include "emulator/base/printable.h"
#include "emulator/base/short_line.h"
#include "emulator/cli/app.h"
#include "emulator/cli/suggestions.h"

#include <algorithm>

namespace ovnitrace {

namespace {

/// Returns the first sentence, which fits beside a word.
std::string brief(const std::string &what) {
  constexpr size_t kColumns = 70;
  return short_line(what.substr(0, std::min(what.find(". "), what.find(" ("))), kColumns);
}

/// The answer, as far as it is known.
class Completions {
public:
  /// `word`: what is completed.
  explicit Completions(std::string word) : word_(std::move(word)) {}

  /// Adds a candidate that starts as the word does.
  void add(const std::string &candidate, const std::string &what) {
    if (candidate.starts_with(word_))
      lines_ += printable_line(candidate) + "\t" + brief(what) + "\n";
  }
  void names_follow(const char *kind) { kind_ = kind; }
  std::string text() const { return lines_ + ":" + kind_ + "\n"; }

private:
  const std::string word_;
  std::string lines_;
  const char *kind_ = "words";
};

/// Returns whether a value follows in the next word.
bool takes_next_word(const CLI::Option *option) {
  return option && option->get_type_size() > 0 && option->get_expected_min() > 0;
}

void add_commands(const CLI::App &program, Completions &answer) {
  for (const CLI::App *one : shown_commands(program))
    answer.add(one->get_name(), one->get_description());
}

/// Adds the names of options, "-o" only where nothing but a dash is there. Leaves out those that
/// were given and can be given only once.
void add_options(const CLI::App &command, const std::vector<std::string> &words,
                 Completions &answer) {
  for (const CLI::Option *option : command.get_options()) {
    if (!option->nonpositional() || option->get_group().empty())
      continue;
    const bool given = std::any_of(words.begin(), words.end() - 1, [&](const std::string &word) {
      return command.get_option_no_throw(word.substr(0, word.find('='))) == option;
    });
    if (given && option->get_expected_max() <= 1)
      continue;
    if (words.back() == "-")
      for (const std::string &name : option->get_snames())
        answer.add("-" + name, option->get_description());
    if (!option->get_lnames().empty()) // the others are older names
      answer.add("--" + option->get_lnames().front(), option->get_description());
  }
}

/// Adds values of an option. `typed`: the part of the word that is one, behind `before`. The part
/// before its last comma is kept, as is a sign.
void add_values(const CLI::Option &option, const std::string &before, std::string typed,
                const std::vector<std::string> &traces, Completions &answer) {
  const ValueKind kind = value_kind(option);
  if (kind == ValueKind::file || kind == ValueKind::directory)
    return answer.names_follow(kind == ValueKind::file ? "files" : "directories");
  size_t start = typed.rfind(',') + 1; // 0 without a comma
  if (start < typed.size() && (typed[start] == '+' || typed[start] == '-'))
    start++;
  const std::string kept = before + typed.substr(0, start);
  for (const std::string &word : value_words(option))
    answer.add(kept + word, "");
  for (const Suggestion &one : suggestions(kind, traces))
    answer.add(kept + one.word, one.what);
}

/// Splits the words before the last into what options take and the rest.
std::vector<std::string> positionals(const CLI::App &command, const std::vector<std::string> &words,
                                     size_t from) {
  std::vector<std::string> rest;
  for (size_t n = from; n + 1 < words.size(); n++)
    if (!words[n].starts_with('-') || words[n] == "-")
      rest.push_back(words[n]);
    else if (takes_next_word(command.get_option_no_throw(words[n])))
      n++;
  return rest;
}

/// Adds the values that the positional argument after `given` others can have.
void add_positional(const CLI::App &command, size_t given, Completions &answer) {
  const auto all =
      command.get_options([](const CLI::Option *one) { return one->get_positional(); });
  if (all.empty())
    return;
  // The last one takes all that follow, if it takes several.
  const bool many = all.back()->get_expected_max() > 1;
  if (given >= all.size() && !many)
    return;
  add_values(*all[std::min(given, all.size() - 1)], "", "", {}, answer);
}

} // namespace

std::string completions(const CLI::App &program, const std::vector<std::string> &words,
                        std::span<const std::string_view> program_commands) {
  const std::string word = words.empty() ? "" : words.back();
  Completions answer(word);
  if (words.size() == 2 && words[0] == "help") {
    add_commands(program, answer);
    return answer.text();
  }
  const CLI::App *named =
      words.size() > 1 ? find_command(shown_commands(program), words[0]) : nullptr;
  const CLI::App &command = named ? *named : program;
  const std::vector<std::string> rest = positionals(command, words, named ? 1 : 0);
  const size_t equals = word.find('=');
  const CLI::Option *own =
      equals == word.npos ? nullptr : command.get_option_no_throw(word.substr(0, equals));
  const CLI::Option *before =
      words.size() > 1 ? command.get_option_no_throw(words[words.size() - 2]) : nullptr;
  if (word.starts_with("--") && own)
    add_values(*own, word.substr(0, equals + 1), word.substr(equals + 1), rest, answer);
  else if (takes_next_word(before))
    add_values(*before, "", word, rest, answer);
  else if (word.starts_with('-')) {
    add_options(command, words, answer);
    if (std::count(program_commands.begin(), program_commands.end(),
                   named ? named->get_name() : ""))
      answer.add("--", "The program to trace follows");
  } else if (named)
    add_positional(command, rest.size(), answer);
  else if (words.size() < 2) {
    add_commands(program, answer);
    answer.add("help", "Print the help of a subcommand");
  }
  return answer.text();
}

} // namespace ovnitrace
