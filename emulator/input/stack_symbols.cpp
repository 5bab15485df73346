// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/stack_symbols.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace ovnitrace {

/// One file after another, so that one is open at a time.
std::vector<FoundPlace> find_places(std::vector<UnknownPlace> places) {
  std::stable_sort(places.begin(), places.end(),
                   [](const UnknownPlace &a, const UnknownPlace &b) { return a.file < b.file; });
  std::vector<FoundPlace> found;
  std::unique_ptr<ElfSymbols> symbols;
  const UnknownPlace *opened = nullptr;
  for (const UnknownPlace &place : places) {
    if (place.build_id.empty())
      continue;
    if (!opened || opened->file != place.file) {
      opened = &place;
      symbols = ElfSymbols::open(place.path, place.build_id);
    }
    if (!symbols)
      continue;
    const std::optional<uint64_t> address =
        place.address ? place.address : symbols->address_of(place.offset);
    if (!address)
      continue;
    std::vector<CodePlace> functions = symbols->at(*address);
    if (!functions.back().function.empty() || functions.back().line)
      found.push_back({place.frame, std::move(functions)});
  }
  return found;
}

} // namespace ovnitrace
