// SPDX-License-Identifier: BSD-2-Clause
// Functions by the names that people give them.
#include "emulator/base/edit_distance.h"
#include "user/control/image.h"

#include "emulator/symbols/demangle.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace ovnitrace::control {

namespace {

std::string without_blanks(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c != ' ')
      out += c;
  return out;
}

/// `a::f<int>(b::c)` is `a::f`; and `a::f`, `f`.
struct CppName {
  std::string qualified, bare;
};

CppName split(std::string_view text) {
  size_t depth = 0, end = text.size(), start = 0, last = 0;
  const bool is_operator = text.find("operator") != text.npos;
  for (size_t n = 0; n < text.size(); n++) {
    const char c = text[n];
    if (text.substr(n).starts_with("operator()")) {
      n += std::string_view("operator(").size(); // its own brackets are not those of parameters
      continue;
    }
    if (c == '(' && depth == 0 && n > 0 && !text.substr(n).starts_with("(anonymous")) {
      end = n;
      break;
    }
    if (!is_operator)
      depth += c == '<', depth -= c == '>' && depth > 0;
    if (text.substr(n).starts_with("(anonymous namespace)"))
      n += 20;
    else if (c == ' ' && depth == 0 && !is_operator)
      start = last = n + 1; // what is before it is the type of the result
    else if (c == ':' && depth == 0 && n + 1 < text.size() && text[n + 1] == ':')
      last = n + 2, n++;
  }
  const auto without_arguments = [&](std::string_view name) {
    const size_t open = is_operator ? name.npos : name.find('<');
    return std::string(name.substr(0, open));
  };
  return {std::string(text.substr(start, end - start)),
          without_arguments(text.substr(last, end - last))};
}

/// Returns the name of a function without the compiler's suffix: foo.constprop.0 and foo.isra.0 are
/// foo; foo.cold and foo.part.0 are pieces of it.
std::string_view without_clone(std::string_view name) {
  const size_t dot = name.find('.', 1);
  if (dot == name.npos)
    return name;
  const std::string_view suffix = name.substr(dot);
  return suffix.starts_with(".constprop.") || suffix.starts_with(".isra.") ? name.substr(0, dot)
                                                                           : name;
}

/// What the linker's name alone says of whether it is the function that a user means.
enum class Match { yes, no, perhaps };

Match match(std::string_view linker_name, std::string_view wanted, const std::string &bare) {
  const std::string_view name = without_clone(linker_name);
  if (name == wanted || linker_name == wanted)
    return Match::yes;
  if (name.size() == wanted.size() + 1 && name.starts_with(wanted) && name.back() == '_')
    return Match::yes; // Fortran
  if (const size_t module = name.find("_MOD_");
      name.starts_with("__") && module != name.npos && name.substr(module + 5) == wanted)
    return Match::yes; // of a Fortran module
  // The mangled name contains the last part of a C++ name unchanged.
  const bool can_be = bare.find("operator") != bare.npos || name.find(bare) != name.npos;
  return name.starts_with("_Z") && can_be ? Match::perhaps : Match::no;
}

bool has_signature(const std::string &signature, std::string_view wanted, Naming naming) {
  if (signature.empty())
    return false;
  const CppName has = split(signature);
  return has.bare == wanted ||
         (naming == Naming::any && (without_blanks(signature) == without_blanks(wanted) ||
                                    without_blanks(has.qualified) == without_blanks(wanted)));
}

/// Returns the functions that have the name. All C++ names are demangled in one call, because each
/// call starts a process.
std::vector<const Function *> with_name(const std::vector<Function> &functions,
                                        std::string_view name, Naming naming) {
  std::vector<const Function *> found, candidates; ///< `candidates` may have it
  std::vector<std::string> symbols;                ///< of the candidates
  const std::string bare = split(name).bare;
  for (const Function &function : functions) {
    const Match matches = match(function.name, name, bare);
    if (matches == Match::yes)
      found.push_back(&function);
    if (matches != Match::perhaps)
      continue;
    symbols.emplace_back(without_clone(function.name));
    candidates.push_back(&function);
  }
  const std::vector<std::string> signatures = demangle_all(symbols, Demangled::signature);
  for (size_t n = 0; n < signatures.size(); n++)
    if (has_signature(signatures[n], name, naming))
      found.push_back(candidates[n]);
  return found;
}

} // namespace

std::vector<uint64_t> find_functions(const Image &image, std::string_view name, Naming naming) {
  std::set<uint64_t> addresses;
  for (const Function *function : with_name(image.functions, name, naming))
    if (image.offset_of(function->address))
      addresses.insert(function->address);
  return {addresses.begin(), addresses.end()};
}

bool is_indirect(const Image &image, std::string_view name, Naming naming) {
  return !with_name(image.indirect, name, naming).empty() &&
         find_functions(image, name, naming).empty();
}

std::vector<std::string> implementations(const Image &image, std::string_view name, size_t most) {
  std::set<std::string> names;
  std::set<uint64_t> choosers;
  for (const Function &one : image.indirect)
    choosers.insert(one.address);
  for (const Function &function : image.functions)
    if (names.size() < most && function.name.find(name) != std::string::npos &&
        image.offset_of(function.address) && !choosers.contains(function.address))
      names.emplace(without_clone(function.name));
  return {names.begin(), names.end()};
}

std::vector<std::string> nearest_names(const Image &image, std::string_view name, size_t most) {
  constexpr size_t kMostLooked = 200'000;
  std::vector<std::string> symbols;
  for (size_t n = 0; n < std::min(image.functions.size(), kMostLooked); n++)
    symbols.emplace_back(without_clone(image.functions[n].name));
  std::vector<std::string> signatures = demangle_all(symbols, Demangled::signature);
  std::set<std::pair<size_t, std::string>> near;
  const std::string wanted = split(name).bare;
  const size_t far = std::max<size_t>(wanted.size() / 3, 1);
  for (size_t n = 0; n < symbols.size(); n++) {
    const std::string bare = signatures[n].empty() ? symbols[n] : split(signatures[n]).bare;
    if (bare.size() > wanted.size() + far || wanted.size() > bare.size() + far)
      continue;
    if (const size_t away = edit_distance(bare, wanted); away <= far)
      near.insert({away, bare});
  }
  std::vector<std::string> names;
  for (const auto &[away, text] : near)
    if (names.size() < most)
      names.push_back(text);
  return names;
}

} // namespace ovnitrace::control
