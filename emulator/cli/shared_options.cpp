// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/shared_options.h"

#include "emulator/base/error.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace ovnitrace {

namespace {

namespace fs = std::filesystem;

bool would_be_replaced(const std::string &path) {
  std::error_code failed; // what cannot be looked at fails when it is written
  const fs::file_status status = fs::symlink_status(path, failed);
  if (path.starts_with("/dev/"))
    return false; // /dev/stdout can lead to a regular file
  if (fs::is_symlink(status) && !fs::is_directory(path, failed))
    return !fs::is_other(path, failed);
  if (fs::is_directory(path, failed))
    return !fs::is_empty(path, failed) && !failed;
  return fs::is_regular_file(status);
}

} // namespace

Option add_force(App command, bool &force) {
  return command.add_flag(kForce, force, "Replace an output that exists");
}

std::string wrong_number_of_lines(const std::string &text) {
  return text.find_first_not_of("0123456789") == text.npos
             ? ""
             : "'" + text + "' is no number of lines, 0 or more";
}

std::function<bool(const std::string &)> is_among(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string &word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
}

void require_free(const std::string &path, bool force, const std::string &in_place) {
  std::error_code failed;
  if (force || path.empty() || path == "-" || !would_be_replaced(path))
    return;
  if (!in_place.empty() && fs::equivalent(path, in_place, failed))
    return;
  const char *forced =
      fs::is_directory(path, failed) ? "replace an earlier output in it" : "let it be overwritten";
  throw Error("{} exists already; choose another with -o, or {} with -f", path, forced);
}

} // namespace ovnitrace
