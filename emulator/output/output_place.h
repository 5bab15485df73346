// SPDX-License-Identifier: BSD-2-Clause
// Where output files go: a directory that is held open, so that nobody can put another in its
// place.
#pragma once

#include "emulator/base/unique_fd.h"

#include <fcntl.h>

#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {

/// A file to be written. `name` is relative to the directory; `path` is for messages.
struct OutputPlace {
  OutputPlace(std::string whole) : name(whole), path(std::move(whole)) {}
  OutputPlace(const char *whole) : OutputPlace(std::string(whole)) {}
  OutputPlace(int directory_fd, std::string name, std::string path)
      : directory(directory_fd), name(std::move(name)), path(std::move(path)) {}

  OutputPlace operator+(const char *suffix) const {
    return {directory, name + suffix, path + suffix};
  }

  int directory = AT_FDCWD; ///< borrowed
  std::string name;
  std::string path;
};

/// A directory for output, made if it is missing. Whoever owns it may have planted links in it:
/// none is followed.
class OutputDirectory {
public:
  enum class Link { follow, refuse };

  /// `link`: whether the directory itself may be a symbolic link, because the caller has named it.
  /// Throws Error.
  OutputDirectory(std::string path, Link link);
  /// A directory in this one. Throws Error if there is something else of this name, such as a link.
  OutputDirectory below(const std::string &name) const;

  /// Borrows the directory.
  OutputPlace file(const std::string &name) const { return {fd_.get(), name, path_ + "/" + name}; }

  /// The names of what is in it. Throws Error.
  std::vector<std::string> names() const;
  /// The first bytes of a file, `most` of them; empty where it is no regular file or cannot be
  /// read.
  std::string start_of(const std::string &name, size_t most) const;
  /// Removes a file, where there is one. Throws Error.
  void remove(const std::string &name) const;

private:
  OutputDirectory(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  UniqueFd fd_;
};

} // namespace ovnitrace
