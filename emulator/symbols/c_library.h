// SPDX-License-Identifier: BSD-2-Clause
// Recognizes the libraries in which every program waits.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace ovnitrace {

/// Returns whether the name of the file at `path` starts with one of `starts`.
template <size_t N>
constexpr bool name_starts(std::string_view path, const std::array<std::string_view, N> &starts) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

/// Returns whether the file at `path` is the C library or its loader. Threads start in them, and
/// they are between every program and the kernel.
inline bool is_c_library(std::string_view path) {
  constexpr std::array<std::string_view, 5> starts = {"libc.", "libc-", "libpthread", "ld-linux",
                                                      "ld-musl"};
  return name_starts(path, starts);
}

/// Returns whether programs wait in the file at `path`, whatever they wait for. It is the C
/// library, or one in which programs of OpenMP and MPI wait for their own threads and processes.
inline bool is_runtime_library(std::string_view path) {
  constexpr std::array<std::string_view, 10> starts = {
      "libgomp.", "libomp.",     "libiomp5.", "libmpi",  "libopen-pal",
      "libprrte", "libopen-rte", "libpmix.",  "libucp.", "libucs."};
  return is_c_library(path) || name_starts(path, starts);
}

} // namespace ovnitrace
