// SPDX-License-Identifier: BSD-2-Clause
// Where the dynamic loader may find a library.
#pragma once

#include "user/probe/library_cache.h"

#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

/// Lists like LD_LIBRARY_PATH and RPATH, the cache, and the directories that every loader knows. It
/// tells every place where a library of a name could be, and not which of them comes first: a file
/// too many that is looked at costs little, one that is missed is events missed.
class SearchPath {
public:
  explicit SearchPath(LibraryCache cache);

  /// Directories separated by `:` or `;`; $ORIGIN in them is `origin`, $LIB and $PLATFORM are this
  /// machine's.
  void add(std::string_view list, const std::string &origin);
  /// A name with a slash is a path by itself.
  std::vector<std::string> candidates(const std::string &name) const;

private:
  void add_directory(const std::string &directory);

  LibraryCache cache_;
  std::vector<std::string> directories_;
};

} // namespace ovnitrace
