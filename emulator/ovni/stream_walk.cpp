// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/ovni/stream_walk.h"

#include "emulator/base/to_number.h"

#include <algorithm>
#include <filesystem>
#include <map>

namespace ovnitrace::ovni {

namespace fs = std::filesystem;

namespace {

constexpr int kDepthMax = 16; ///< directories below the root; libovni makes 3

bool take_prefix(std::string_view &name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.size() == prefix.size())
    return false;
  name.remove_prefix(prefix.size());
  return true;
}

int32_t number(std::string_view text) {
  return std::max(to_number<int32_t>(text).value_or(0), 0);
}

} // namespace

std::vector<StreamPlace> find_streams(const std::string &root,
                                      std::vector<std::string> &unreadable) {
  std::map<std::string, StreamPlace> found;
  std::vector<std::pair<fs::path, int>> open{{fs::path(root), 0}};
  while (!open.empty()) {
    const auto [directory, depth] = open.back();
    open.pop_back();
    std::error_code error;
    fs::directory_iterator entry(directory, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      std::error_code ignored;
      if (name == "stream.json" || name == "stream.obs") {
        const std::string shown = directory.lexically_relative(root).string();
        StreamPlace &place = found
                                 .try_emplace(directory.string(),
                                              StreamPlace{directory.string(), shown, false, false})
                                 .first->second;
        (name == "stream.json" ? place.has_meta : place.has_events) = true;
      } else if (depth < kDepthMax &&
                 entry->symlink_status(ignored).type() == fs::file_type::directory) {
        open.emplace_back(entry->path(), depth + 1);
      }
    }
    if (error)
      unreadable.push_back(directory.string() + ": " + error.message());
  }
  std::vector<StreamPlace> places;
  for (auto &[path, place] : found)
    places.push_back(std::move(place));
  return places;
}

PlaceIdentity identity_of(const std::string &path) {
  PlaceIdentity identity;
  std::error_code error;
  for (const fs::path &part : fs::absolute(path, error).lexically_normal()) {
    const std::string text = part.string();
    std::string_view name = text;
    if (take_prefix(name, "loom."))
      identity = {std::string(name), 0, 0};
    else if (take_prefix(name, "proc."))
      identity.pid = number(name), identity.tid = 0;
    else if (take_prefix(name, "thread."))
      identity.tid = number(name);
  }
  return identity;
}

} // namespace ovnitrace::ovni
