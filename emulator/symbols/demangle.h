// SPDX-License-Identifier: BSD-2-Clause
// Names of functions as their programmers wrote them.
#pragma once

#include <string>
#include <vector>

namespace ovnitrace {

/// What of a function a name shows.
enum class Demangled {
  name,      ///< "ns::Class::function"; a name that is not mangled stays as it is
  signature, ///< "ns::Class::function(int)"; of C++ only, empty for any other name
};

/// Demangles a C++ or Rust symbol, without the hash. A name that would have more than 4096 bytes
/// stays mangled, and is cut there. A hostile symbol can take any time: call it for such symbols
/// only in a child process (confined.h), or call demangle_all().
std::string demangle(const std::string &symbol, Demangled what = Demangled::name);

/// Demangles them all, in a child process without privileges and within 2 s of CPU time. A symbol
/// for which that fails stays as it is (`name`) or is empty (`signature`).
std::vector<std::string> demangle_all(const std::vector<std::string> &symbols, Demangled what);

} // namespace ovnitrace
