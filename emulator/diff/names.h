// SPDX-License-Identifier: BSD-2-Clause
// Names threads so that the threads of two runs can be matched.
#pragma once

#include "emulator/input/source.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ovnitrace {

/// Returns a printable name with each run of digits replaced: "worker-12" becomes "worker-*".
std::string fold_digits(std::string_view name);

/// Names of the first runs, and what each is called in the second ones.
using Renames = std::vector<std::pair<std::string, std::string>>;

/// Parses "OLD=NEW". Throws Error (usage).
std::pair<std::string, std::string> parse_rename(const std::string &text);

/// Folds names and remembers what was folded. A group is the threads of one name in processes of
/// one name; its key is its process and its thread, which equal names make equal in all runs.
class Names {
public:
  /// Returns the folded name, or what `renames` (folded names) makes of it.
  std::string fold(const std::string &name, const Renames &renames);
  /// Returns the key of a group.
  std::string group(const std::string &process, const std::string &thread, const Renames &renames);

  /// Returns a folded name as it was, if it was the same everywhere: "kworker/1:2".
  std::string text(const std::string &folded) const;
  /// Returns "worker-*" for a group; "worker-* of app" if several groups have that name.
  std::string group_text(const std::string &key) const;
  /// Returns the folded names of a group: process, thread.
  static std::pair<std::string, std::string> parts(const std::string &key);

private:
  std::map<std::string, std::string> names_;            ///< by folded name; itself: several
  std::map<std::string, std::set<std::string>> groups_; ///< by thread name: processes
};

} // namespace ovnitrace
