// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/symbols/demangle.h"

#include "emulator/base/confined.h"

#define HAVE_DECL_BASENAME 1 // libiberty would declare another one
#include <libiberty/demangle.h>

#include <csetjmp>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kLongest = 4096; ///< bytes

/// The output of a demangler so far.
struct Output {
  std::string text;
  std::jmp_buf too_long;
};

/// Leaves the demangler when its output is too long: 300 bytes can expand to gigabytes. The skipped
/// frames are libiberty's, which is C.
void append(const char *text, size_t size, void *opaque) {
  Output &output = *static_cast<Output *>(opaque);
  if (size > kLongest - output.text.size())
    std::longjmp(output.too_long, 1);
  output.text.append(text, size); // there is room
}

using Demangler = int(const char *, int, demangle_callbackref, void *);

/// Returns false if it is not a name of this kind, or would be too long.
bool run(Demangler *demangler, const char *symbol, int options, Output &output) {
  output.text.clear();
  output.text.reserve(kLongest);
  return setjmp(output.too_long) == 0 && demangler(symbol, options, append, &output) != 0;
}

} // namespace

/// Returns the demangled name. Rust's first mangling looks like C++ with a hash at the end, so it
/// is tried first.
std::string demangle(const std::string &symbol, Demangled what) {
  Output output;
  const bool can_be = symbol.starts_with("_") && symbol.size() <= kLongest;
  if (what == Demangled::signature)
    return can_be && run(cplus_demangle_v3_callback, symbol.c_str(), DMGL_PARAMS, output)
               ? output.text
               : "";
  if (can_be && (run(rust_demangle_callback, symbol.c_str(), DMGL_NO_OPTS, output) ||
                 run(cplus_demangle_v3_callback, symbol.c_str(), DMGL_NO_OPTS, output)))
    return output.text;
  return symbol.substr(0, kLongest);
}

std::vector<std::string> demangle_all(const std::vector<std::string> &symbols, Demangled what) {
  std::vector<std::string> names(
      what == Demangled::name ? symbols : std::vector<std::string>(symbols.size()));
  const ConfinedLimits limits = {.memory = 64 << 20, .seconds = 2};
  ask_confined(
      symbols.size(), limits,
      [&](size_t n, ConfinedOutput &out) { out.text(demangle(symbols[n], what)); },
      [&](size_t n, ConfinedInput &in) {
        std::string text = in.text(kLongest);
        if (in.good())
          names[n] = std::move(text);
      },
      [](size_t) {});
  return names;
}

} // namespace ovnitrace
