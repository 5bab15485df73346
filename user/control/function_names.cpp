// SPDX-License-Identifier: BSD-2-Clause
// Functions by the names that people give them.
#include "user/control/image.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <set>

namespace ovnitrace::control {

namespace {

std::string demangled(const std::string &name) {
  struct Free {
    void operator()(char *text) const { std::free(text); }
  };
  int status = 0;
  const std::unique_ptr<char, Free> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status));
  return status == 0 && text ? text.get() : "";
}

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

/// foo.constprop.0 and foo.isra.0 are foo; foo.cold and foo.part.0 are pieces of it.
std::string_view without_clone(std::string_view name) {
  const size_t dot = name.find('.', 1);
  if (dot == name.npos)
    return name;
  const std::string_view suffix = name.substr(dot);
  return suffix.starts_with(".constprop.") || suffix.starts_with(".isra.") ? name.substr(0, dot)
                                                                           : name;
}

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t n = 0; n <= b.size(); n++)
    row[n] = n;
  for (size_t i = 1; i <= a.size(); i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); j++) {
      const size_t above = row[j];
      row[j] = std::min(
          {above + 1, row[j - 1] + 1, diagonal + (tolower(a[i - 1]) != tolower(b[j - 1]))});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string bare_name(const std::string &linker_name) {
  const std::string text = linker_name.starts_with("_Z") ? demangled(linker_name) : "";
  return text.empty() ? std::string(without_clone(linker_name)) : split(text).bare;
}

} // namespace

bool has_name(const std::string &linker_name, std::string_view wanted, Naming naming) {
  const std::string_view name = without_clone(linker_name);
  if (name == wanted || linker_name == wanted)
    return true;
  if (name.size() == wanted.size() + 1 && name.starts_with(wanted) && name.back() == '_')
    return true; // Fortran
  if (const size_t module = name.find("_MOD_");
      name.starts_with("__") && module != name.npos && name.substr(module + 5) == wanted)
    return true; // of a Fortran module
  if (!name.starts_with("_Z"))
    return false;
  // Its last part stands in the mangled name as it is: that is quick to see.
  const CppName parts = split(wanted);
  if (parts.bare.find("operator") == parts.bare.npos && name.find(parts.bare) == name.npos)
    return false;
  const std::string text = demangled(std::string(name));
  if (text.empty())
    return false;
  const CppName has = split(text);
  if (has.bare == wanted)
    return true;
  return naming == Naming::any && (without_blanks(text) == without_blanks(wanted) ||
                                   without_blanks(has.qualified) == without_blanks(wanted));
}

std::vector<uint64_t> find_functions(const Image &image, std::string_view name, Naming naming) {
  std::set<uint64_t> addresses;
  for (const Function &function : image.functions)
    if (has_name(function.name, name, naming) && image.offset_of(function.address))
      addresses.insert(function.address);
  return {addresses.begin(), addresses.end()};
}

std::vector<std::string> nearest_names(const Image &image, std::string_view name, size_t most) {
  constexpr size_t kMostLooked = 200'000;
  std::set<std::pair<size_t, std::string>> near;
  const std::string wanted = split(name).bare;
  const size_t far = std::max<size_t>(wanted.size() / 3, 1);
  for (size_t n = 0; n < std::min(image.functions.size(), kMostLooked); n++) {
    const std::string bare = bare_name(image.functions[n].name);
    if (bare.size() > wanted.size() + far || wanted.size() > bare.size() + far)
      continue;
    if (const size_t away = distance(bare, wanted); away <= far)
      near.insert({away, bare});
  }
  std::vector<std::string> names;
  for (const auto &[away, text] : near)
    if (names.size() < most)
      names.push_back(text);
  return names;
}

} // namespace ovnitrace::control
