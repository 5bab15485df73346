// SPDX-License-Identifier: BSD-2-Clause
#include "user/probe/command_words.h"

#include <algorithm>
#include <string_view>

namespace ovnitrace {

namespace {

constexpr size_t kMostWords = 4096;
constexpr std::string_view kBetweenWords = " \t\n;|&()<>'\"`";

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  while (!text.empty() && parts.size() < kMostWords) {
    const size_t end = std::min(text.find_first_of(separators), text.size());
    if (end)
      parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// Whether it was an assignment that the dynamic loader looks at.
bool take_assignment(const std::string &word, CommandWords &words) {
  static const std::string kLibraryPath = "LD_LIBRARY_PATH=", kPreload = "LD_PRELOAD=";
  if (word.starts_with(kLibraryPath)) {
    words.library_paths.push_back(word.substr(kLibraryPath.size()));
  } else if (word.starts_with(kPreload)) {
    for (std::string &library : preloads_of(word.substr(kPreload.size())))
      words.preloads.push_back(std::move(library));
  } else {
    return false;
  }
  return true;
}

void take(const std::string &word, CommandWords &words) {
  if (!take_assignment(word, words) && words.programs.size() < kMostWords &&
      std::find(words.programs.begin(), words.programs.end(), word) == words.programs.end())
    words.programs.push_back(word);
}

} // namespace

std::vector<std::string> preloads_of(const std::string &value) {
  return split(value, " :");
}

CommandWords command_words(const std::vector<std::string> &command) {
  CommandWords words;
  for (const std::string &argument : command) {
    if (argument.empty() || take_assignment(argument, words))
      continue;
    take(argument, words);
    if (argument.find_first_of(kBetweenWords) != argument.npos)
      for (const std::string &word : split(argument, kBetweenWords))
        take(word, words);
  }
  return words;
}

} // namespace ovnitrace
