// SPDX-License-Identifier: BSD-2-Clause
// Makes a directory for a trace that is not kept.
#pragma once

#include <string>

namespace ovnitrace {

/// A directory that is removed at the end. Only the user who called sudo can look into it.
class ScratchDirectory {
public:
  /// Makes it in TMPDIR, or else in `place`. For a process with one thread, as the destructor.
  /// Throws Error.
  explicit ScratchDirectory(const char *place);
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory &) = delete;
  ScratchDirectory &operator=(const ScratchDirectory &) = delete;

  const std::string &path() const { return path_; }

private:
  std::string path_;
};

} // namespace ovnitrace
