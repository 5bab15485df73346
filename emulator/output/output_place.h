// SPDX-License-Identifier: BSD-2-Clause
// Names the place of an output file in a directory that is held open, so that nobody can exchange
// the directory.
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

/// Returns the names of the entries of a directory. Throws Error, which names it as `what`.
std::vector<std::string> names_in(int directory, const std::string &what = "a directory");

/// A directory for output, made if it is missing. Follows no links in it, as its owner may have
/// planted them.
class OutputDirectory {
public:
  enum class Link { follow, refuse };

  /// `link`: whether the directory itself may be a symbolic link, because the user named it. Throws
  /// Error.
  OutputDirectory(std::string path, Link link);
  /// Opens a directory in this one, made if it is missing. Throws Error if the name belongs to
  /// anything else, such as a link.
  OutputDirectory below(const std::string &name) const;

  /// Returns a place in it. Borrows the directory.
  OutputPlace file(const std::string &name) const { return {fd_.get(), name, path_ + "/" + name}; }

  /// Returns the names of its entries. Throws Error.
  std::vector<std::string> names() const { return names_in(fd_.get(), "the directory " + path_); }
  /// Returns the first `most` bytes of a file; empty if it is not a regular file or cannot be read.
  std::string start_of(const std::string &name, size_t most) const;
  /// Removes a file if it exists. Throws Error.
  void remove(const std::string &name) const;

private:
  OutputDirectory(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  UniqueFd fd_;
};

} // namespace ovnitrace
