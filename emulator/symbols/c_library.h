// SPDX-License-Identifier: BSD-2-Clause
// Recognizes the files of the C library and its loader.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace ovnitrace {

/// Returns whether the file at `path` is one of them, by its name. Threads start in them, and they
/// are between every program and the kernel.
inline bool is_c_library(std::string_view path) {
  constexpr std::array<std::string_view, 5> starts = {"libc.", "libc-", "libpthread", "ld-linux",
                                                      "ld-musl"};
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

} // namespace ovnitrace
