// SPDX-License-Identifier: BSD-2-Clause
// Watches a process that is not our child until it ends.
#pragma once

#include "emulator/base/unique_fd.h"

#include <cstdint>
#include <string>

namespace ovnitrace {

class ProcessWatch {
public:
  /// Throws Error if there is no such process. A later process with the same pid is never taken for
  /// it.
  explicit ProcessWatch(uint32_t pid);

  uint32_t pid() const { return pid_; }
  bool ended() const;
  int file() const { return fd_.get(); } ///< can be read (poll(2)) when it has ended
  const std::string &name() const {
    return name_;
  } ///< its comm when the watch began, fit for a file name

private:
  uint32_t pid_;
  UniqueFd fd_;
  std::string name_;
};

} // namespace ovnitrace
