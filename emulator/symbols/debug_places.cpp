// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/symbols/debug_places.h"

#include <cstddef>

namespace ovnitrace {

bool is_build_id(const std::string &text) {
  constexpr size_t kLeast = 3, kMost = 128;
  return text.size() >= kLeast && text.size() <= kMost &&
         text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::string debug_file_of(const std::string &build_id) {
  if (!is_build_id(build_id))
    return "";
  return "/usr/lib/debug/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug";
}

std::vector<std::string> debug_places(const std::string &path, const std::string &build_id,
                                      const std::string &link) {
  std::vector<std::string> places;
  if (is_build_id(build_id))
    places.push_back(debug_file_of(build_id));
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  if (!link.empty() && link.find('/') == link.npos)
    for (const std::string &place : {folder, folder + ".debug/", "/usr/lib/debug" + folder})
      places.push_back(place + link);
  return places;
}

} // namespace ovnitrace
