// SPDX-License-Identifier: BSD-2-Clause
#include "user/probe/search_path.h"

#include <algorithm>
#include <climits>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kMostDirectories = 1024;

#if defined(__x86_64__)
constexpr const char *kPlatform = "x86_64", *kTriplet = "x86_64-linux-gnu";
// glibc, sysdeps/x86_64/dl-hwcaps_subdirs.c
constexpr const char *kKinds[] = {"", "/glibc-hwcaps/x86-64-v4", "/glibc-hwcaps/x86-64-v3",
                                  "/glibc-hwcaps/x86-64-v2"};
#else
constexpr const char *kPlatform = "aarch64", *kTriplet = "aarch64-linux-gnu";
constexpr const char *kKinds[] = {""};
#endif

/// What $LIB is differs between distributions.
std::vector<std::string> lib_names() {
  return {std::string("lib/") + kTriplet, "lib64", "lib"};
}

/// Replaces $NAME and ${NAME}, until it is too long for a path anyway.
std::string replaced(std::string text, const std::string &name, const std::string &by) {
  for (const std::string &spelling : {"${" + name + "}", "$" + name})
    for (size_t at = 0; text.size() < PATH_MAX && (at = text.find(spelling, at)) != text.npos;
         at += by.size())
      text.replace(at, spelling.size(), by);
  return text;
}

} // namespace

SearchPath::SearchPath(LibraryCache cache) : cache_(std::move(cache)) {
  for (const char *root : {"/", "/usr/"})
    for (const std::string &lib : lib_names())
      add_directory(root + lib);
}

void SearchPath::add_directory(const std::string &directory) {
  if (directories_.size() < kMostDirectories && directory.size() < PATH_MAX &&
      std::find(directories_.begin(), directories_.end(), directory) == directories_.end())
    directories_.push_back(directory);
}

void SearchPath::add(std::string_view list, const std::string &origin) {
  while (!list.empty()) {
    const size_t end = std::min(list.find_first_of(":;"), list.size());
    std::string directory(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    directory = replaced(replaced(directory, "ORIGIN", origin), "PLATFORM", kPlatform);
    if (directory.empty())
      directory = "."; // as the loader has it
    if (directory.find("LIB") == directory.npos)
      add_directory(directory);
    else
      for (const std::string &lib : lib_names())
        add_directory(replaced(directory, "LIB", lib));
  }
}

std::vector<std::string> SearchPath::candidates(const std::string &name) const {
  if (name.find('/') != name.npos)
    return {name};
  std::vector<std::string> paths = cache_.find(name);
  for (const std::string &directory : directories_)
    for (const char *kind : kKinds)
      paths.push_back(directory + kind + "/" + name);
  return paths;
}

} // namespace ovnitrace
