// SPDX-License-Identifier: BSD-2-Clause
// Writes a directory that appears complete or not at all.
#pragma once

#include "emulator/base/unique_fd.h"
#include "emulator/output/output_place.h"

#include <string>

namespace ovnitrace {

/// A directory that is made under a temporary name beside its own, and renamed by commit(). If it
/// is destroyed before, it is removed with its contents. Leftovers of a killed process for the same
/// path are removed by the next one. Every function throws Error.
class AtomicDirectory {
public:
  /// REQUIRES: `path` does not exist, or is an empty directory.
  explicit AtomicDirectory(std::string path);
  ~AtomicDirectory();

  const std::string &path() const { return path_; } ///< the final one, without slashes at its end
  int fd() const { return fd_.get(); }
  /// Returns a place in it. Borrows the directory.
  OutputPlace file(const std::string &name) const { return {fd_.get(), name, path_ + "/" + name}; }
  void commit();

private:
  std::string path_, temporary_; ///< temporary_: empty after commit()
  UniqueFd fd_;
};

} // namespace ovnitrace
