// SPDX-License-Identifier: BSD-2-Clause
// Makes a directory for traces that are not kept.
#pragma once

#include <string>

namespace ovnitrace {

/// A directory in TMPDIR, or in /var/tmp, which is no memory, that is removed at the end. Only the
/// user who called sudo can look into it.
class ScratchDirectory {
public:
  /// For a process with one thread, as the destructor. Throws Error.
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory &) = delete;
  ScratchDirectory &operator=(const ScratchDirectory &) = delete;

  const std::string &path() const { return path_; }

private:
  std::string path_;
};

} // namespace ovnitrace
