// SPDX-License-Identifier: BSD-2-Clause
// Outputs that have one format: a name given with -o must not end as another format does.
#pragma once

#include "emulator/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

namespace ovnitrace {

/// Throws Error with `what_to_do` where the name given with -o has an ending that is none of
/// `endings`.
inline void check_ending(const std::string &path, std::initializer_list<std::string_view> endings,
                         std::string_view what_to_do) {
  const std::string ending = std::filesystem::path(path).extension();
  if (!ending.empty() && std::find(endings.begin(), endings.end(), ending) == endings.end())
    throw Error(fmt::format("-o {}: {}", path, what_to_do), kExitUsage);
}

} // namespace ovnitrace
