// SPDX-License-Identifier: BSD-2-Clause
// A directory for what is not kept.
#pragma once

#include "emulator/base/unique_fd.h"

#include <string>
#include <sys/types.h>

namespace ovnitrace {

/// Made in TMPDIR, or in /var/tmp, which is no memory. Only the user who called sudo can look into
/// it. A child process of that user waits for our end, whatever ends us (SIGKILL too), and removes
/// it then.
class ScratchDirectory {
public:
  /// For a process with one thread. Throws Error.
  ScratchDirectory();
  /// Returns when it is removed.
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory &) = delete;
  ScratchDirectory &operator=(const ScratchDirectory &) = delete;

  const std::string &path() const { return path_; }

private:
  std::string path_;
  UniqueFd alive_; ///< closed when we end
  pid_t remover_ = -1;
};

} // namespace ovnitrace
