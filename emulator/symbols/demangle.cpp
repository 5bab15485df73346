// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/symbols/demangle.h"

#define HAVE_DECL_BASENAME 1 // libiberty would declare another one
#include <libiberty/demangle.h>

#include <cstdlib>
#include <memory>

namespace ovnitrace {

namespace {

constexpr size_t kLongest = 4096; ///< bytes

struct Free {
  void operator()(char *text) const { std::free(text); }
};

} // namespace

/// Rust's first mangling looks like C++ with a hash at the end, so it is tried first.
std::string demangle(const std::string &symbol) {
  std::string name = symbol.substr(0, kLongest);
  if (!symbol.starts_with("_") || symbol.size() > kLongest)
    return name;
  std::unique_ptr<char, Free> text(rust_demangle(symbol.c_str(), DMGL_NO_OPTS));
  if (!text)
    text.reset(cplus_demangle_v3(symbol.c_str(), DMGL_NO_OPTS));
  if (text)
    name = std::string(text.get()).substr(0, kLongest);
  return name;
}

} // namespace ovnitrace
