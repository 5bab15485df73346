// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/symbols/file_symbols.h"

#include "emulator/base/confined.h"
#include "emulator/base/printable.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kLongestText = 4096;     ///< bytes
constexpr size_t kMostFunctions = 128;    ///< at one place
constexpr size_t kMostBytes = 256u << 20; ///< approximately, of all names
constexpr uint64_t kMostMemory = 1u << 30;
constexpr unsigned kMostSeconds = 30;

/// Runs in the child.
void answer(const PlacesOfFile &file, ConfinedOutput &out) {
  std::unique_ptr<ElfSymbols> symbols = ElfSymbols::open(file.path, file.build_id, file.files);
  out.text(symbols ? symbols->build_id().substr(0, kLongestText) : "");
  for (const PlaceInFile &place : file.places) {
    std::optional<uint64_t> address;
    if (symbols)
      address = place.address ? place.address : symbols->address_of(place.offset);
    const std::vector<CodePlace> functions =
        address ? symbols->at(*address) : std::vector<CodePlace>(1);
    out.number(address.has_value());
    out.number(address.value_or(0));
    out.number(functions.size());
    for (const CodePlace &function : functions) {
      out.text(function.function.substr(0, kLongestText));
      out.text(function.source.substr(0, kLongestText));
      out.number(function.line);
    }
  }
}

NamedPlace read_place(ConfinedInput &in) {
  NamedPlace place;
  const bool known = in.number(1);
  const uint64_t address = in.number();
  if (known)
    place.address = address;
  place.functions.resize(std::max<size_t>(in.number(kMostFunctions), 1));
  for (CodePlace &function : place.functions) {
    function.function = in.text(kLongestText);
    function.source = in.text(kLongestText);
    function.line = uint32_t(in.number(UINT32_MAX));
  }
  return place;
}

size_t size_of(const NamedPlace &place) {
  size_t bytes = place.functions.size() * sizeof(CodePlace);
  for (const CodePlace &function : place.functions)
    bytes += function.function.size() + function.source.size();
  return bytes;
}

NamesOfFile unknown(const PlacesOfFile &file) {
  return {"", std::vector<NamedPlace>(file.places.size())};
}

} // namespace

std::vector<NamesOfFile> name_places(const std::vector<PlacesOfFile> &files,
                                     const std::function<void(const std::string &)> &warn) {
  std::vector<NamesOfFile> names;
  for (const PlacesOfFile &file : files)
    names.push_back(unknown(file));
  std::vector<int> open;
  for (const PlacesOfFile &file : files)
    for (const int fd : {file.files.file, file.files.debug})
      if (fd >= 0)
        open.push_back(fd);
  const ConfinedLimits limits = {.memory = kMostMemory, .seconds = kMostSeconds, .files = open};
  size_t bytes = 0;
  const auto take = [&](size_t n, ConfinedInput &in) {
    NamesOfFile read = unknown(files[n]);
    read.build_id = in.text(kLongestText);
    for (size_t at = 0; at < read.places.size() && in.good(); at++) {
      read.places[at] = read_place(in);
      bytes += size_of(read.places[at]);
      if (bytes > kMostBytes)
        read.places[at] = {};
    }
    names[n] = std::move(read);
  };
  const auto failed = [&](size_t n) {
    warn("cannot read the symbols of " + printable_line(files[n].path) +
         ": its debug data is damaged, or takes more than 1 GiB of memory or 30 s; its functions "
         "have no names");
  };
  const size_t asked = ask_confined(
      files.size(), limits, [&](size_t n, ConfinedOutput &out) { answer(files[n], out); }, take,
      failed);
  if (asked < files.size())
    warn("ovnitrace reads the symbols of no further files (" +
         std::to_string(files.size() - asked) + " left): too many could not be read");
  if (bytes > kMostBytes)
    warn("the names of functions take more than 256 MiB: the rest of them is not known");
  return names;
}

} // namespace ovnitrace
