// SPDX-License-Identifier: BSD-2-Clause
// Demangles names of functions.
#pragma once

#include <string>
#include <vector>

namespace ovnitrace {

/// Which part of a function's name to return.
enum class Demangled {
  name,      ///< "ns::Class::function"; a plain name stays as it is
  signature, ///< "ns::Class::function(int)", only of C++; empty for other names
};

/// Returns the name of a C++ or Rust symbol, without Rust's hash. A name above 4096 bytes stays
/// mangled and is cut there. A hostile symbol can take any time: use a child process (confined.h)
/// for such symbols, or demangle_all().
std::string demangle(const std::string &symbol, Demangled what = Demangled::name);

/// Demangles all symbols, in a child process without privileges and within 2 s of CPU time. A
/// symbol for which that fails stays as it is (`name`) or becomes empty (`signature`).
std::vector<std::string> demangle_all(const std::vector<std::string> &symbols, Demangled what);

} // namespace ovnitrace
