// SPDX-License-Identifier: BSD-2-Clause
// Names of functions as their programmers wrote them.
#pragma once

#include <string>

namespace ovnitrace {

/// A C++ or Rust symbol without its arguments and hash, "ns::Class::function"; any other name as it
/// is. Names above 4096 bytes are cut there.
std::string demangle(const std::string &symbol);

} // namespace ovnitrace
