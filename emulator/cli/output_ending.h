// SPDX-License-Identifier: BSD-2-Clause
// Checks the name given with -o, for outputs of one format.
#pragma once

#include "emulator/base/error.h"
#include "emulator/cli/export_formats.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

namespace ovnitrace {

/// Endings of other formats, beside those of kExportFormats. A name may have any other ending, such
/// as run-1.5.
inline constexpr std::string_view kOtherEndings[] = {
    ".gif", ".htm", ".html", ".jpeg", ".jpg", ".json", ".md",   ".pcf", ".pdf",
    ".png", ".prv", ".ps",   ".row",  ".svg", ".txt",  ".webp", ".zst"};

/// Throws Error with `what_to_do` if the name given with -o has the ending of a format other
/// than `endings`.
inline void check_ending(const std::string &path, std::initializer_list<std::string_view> endings,
                         std::string_view what_to_do) {
  const std::string ending = std::filesystem::path(path).extension();
  const bool other =
      std::find(std::begin(kOtherEndings), std::end(kOtherEndings), ending) !=
          std::end(kOtherEndings) ||
      std::any_of(std::begin(kExportFormats), std::end(kExportFormats),
                  [&](const ExportFormat &format) { return ending == format.suffix; });
  if (other && std::find(endings.begin(), endings.end(), ending) == endings.end())
    throw UsageError("-o {}: {}", path, what_to_do);
}

/// Throws Error with `what_to_do` for -o -: the output cannot go to standard output.
inline void check_is_no_stdout(const std::string &path, std::string_view what_to_do) {
  if (path == "-")
    throw UsageError("-o -: {}", what_to_do);
}

} // namespace ovnitrace
