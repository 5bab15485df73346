// SPDX-License-Identifier: BSD-2-Clause
// A directory that is there whole or not at all.
#pragma once

#include "emulator/base/unique_fd.h"
#include "emulator/output/output_place.h"

#include <string>

namespace ovnitrace {

/// A directory made under a temporary name beside its own and renamed by commit(). Destroyed before
/// that, it is removed with all that is in it. What a killed process has left of the same path is
/// removed by the next one. Every function throws Error.
class AtomicDirectory {
public:
  /// There must be nothing at `path`, or an empty directory.
  explicit AtomicDirectory(std::string path);
  ~AtomicDirectory();
  AtomicDirectory(const AtomicDirectory &) = delete;
  AtomicDirectory &operator=(const AtomicDirectory &) = delete;

  const std::string &path() const { return path_; } ///< the final one, without slashes at its end
  int fd() const { return fd_.get(); }
  /// A file in it; borrows the directory.
  OutputPlace file(const std::string &name) const { return {fd_.get(), name, path_ + "/" + name}; }
  void commit();

private:
  std::string path_, temporary_; ///< temporary_: empty after commit()
  UniqueFd fd_;
};

} // namespace ovnitrace
