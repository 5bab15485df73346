// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/diff/names.h"

#include "emulator/base/error.h"
#include "emulator/base/printable.h"

namespace ovnitrace {

namespace {

constexpr char kBetween = '\n'; // in a key: in no printable name

} // namespace

std::string fold_digits(std::string_view name) {
  std::string folded;
  for (const char c : printable_line(name)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit || !folded.ends_with('*'))
      folded += digit ? '*' : c;
  }
  return folded;
}

std::pair<std::string, std::string> parse_rename(const std::string &text) {
  const size_t is = text.find('=');
  if (is == text.npos || is == 0 || is + 1 == text.size())
    throw UsageError("--match takes OLD=NEW, two names of threads or processes, not '" + text +
                     "'");
  return {fold_digits(text.substr(0, is)), fold_digits(text.substr(is + 1))};
}

std::string Names::fold(const std::string &name, const Renames &renames) {
  std::string folded = fold_digits(name);
  for (const auto &[old, now] : renames)
    if (folded == old) {
      names_.try_emplace(now, now);
      return now;
    }
  const std::string plain = printable_line(name);
  const auto [at, is_new] = names_.try_emplace(folded, plain);
  if (!is_new && at->second != plain)
    at->second = folded;
  return folded;
}

std::string Names::group(const std::string &process, const std::string &thread,
                         const Renames &renames) {
  const std::string of = fold(process, renames), name = fold(thread, renames);
  groups_[name].insert(of);
  return of + kBetween + name;
}

std::string Names::text(const std::string &folded) const {
  const auto at = names_.find(folded);
  const std::string &name = at == names_.end() ? folded : at->second;
  return name.empty() ? "threads without a name" : name;
}

std::string Names::group_text(const std::string &key) const {
  const auto [process, thread] = parts(key);
  const auto at = groups_.find(thread);
  const bool several = at != groups_.end() && at->second.size() > 1;
  return several && process != thread ? text(thread) + " of " + text(process) : text(thread);
}

std::pair<std::string, std::string> Names::parts(const std::string &key) {
  const size_t at = key.find(kBetween);
  return {key.substr(0, at), key.substr(at + 1)};
}

} // namespace ovnitrace
