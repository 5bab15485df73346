// SPDX-License-Identifier: BSD-2-Clause
// The cache of the dynamic loader: where ldconfig found each library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

/// The contents of an ld.so.cache of glibc's format "1.1".
class LibraryCache {
public:
  /// What cannot be read, or is of another format, is an empty cache: the default directories
  /// remain.
  explicit LibraryCache(std::string bytes) : bytes_(std::move(bytes)) {}

  /// Every path of the library of that name, for any kind of processor.
  std::vector<std::string> find(std::string_view name) const;

private:
  std::string bytes_;
};

} // namespace ovnitrace
