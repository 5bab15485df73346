// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/stack_symbols.h"

#include "emulator/symbols/symbol_process.h"

#include <algorithm>
#include <utility>

namespace ovnitrace {

std::vector<FoundPlace> find_places(std::vector<UnknownPlace> places) {
  std::stable_sort(places.begin(), places.end(),
                   [](const UnknownPlace &a, const UnknownPlace &b) { return a.file < b.file; });
  std::vector<FoundPlace> found;
  SymbolProcess symbols;
  for (size_t first = 0, end = 0; first < places.size(); first = end) {
    const UnknownPlace &file = places[first];
    SymbolQuestion question{.path = file.path, .build_id = file.build_id, .places = {}};
    for (; end < places.size() && places[end].file == file.file; end++)
      question.places.push_back({places[end].offset, places[end].address});
    if (file.build_id.empty())
      continue;
    SymbolAnswer answer = symbols.ask(question);
    for (size_t n = first; n < end; n++) {
      std::vector<CodePlace> &functions = answer.places[n - first].places;
      if (!functions.empty() && (!functions.back().function.empty() || functions.back().line))
        found.push_back({places[n].frame, std::move(functions)});
    }
  }
  return found;
}

} // namespace ovnitrace
