// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/stack_symbols.h"

#include "emulator/symbols/file_symbols.h"

#include <algorithm>
#include <utility>

namespace ovnitrace {

std::vector<FoundPlace> find_places(std::vector<UnknownPlace> places,
                                    const std::function<void(const std::string &)> &warn) {
  std::erase_if(places, [](const UnknownPlace &place) { return place.build_id.empty(); });
  std::stable_sort(places.begin(), places.end(),
                   [](const UnknownPlace &a, const UnknownPlace &b) { return a.file < b.file; });
  std::vector<PlacesOfFile> files;
  for (size_t n = 0; n < places.size(); n++) {
    if (n == 0 || places[n].file != places[n - 1].file)
      files.push_back({.path = places[n].path, .build_id = places[n].build_id, .places = {}});
    files.back().places.push_back({places[n].offset, places[n].address});
  }
  std::vector<FoundPlace> found;
  size_t n = 0;
  for (NamesOfFile &file : name_places(files, warn))
    for (NamedPlace &place : file.places) {
      if (const CodePlace &called = place.functions.back(); !called.function.empty() || called.line)
        found.push_back({places[n].frame, std::move(place.functions)});
      n++;
    }
  return found;
}

} // namespace ovnitrace
