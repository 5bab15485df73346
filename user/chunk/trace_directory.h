// SPDX-License-Identifier: BSD-2-Clause
// Makes the directory of a trace, and writes its small files.
#pragma once

#include "emulator/base/unique_fd.h"

#include <functional>
#include <string>
#include <string_view>

namespace ovnitrace {

using Put = std::function<void(std::string_view)>;

/// What to do if the directory exists.
enum class IfExists {
  refuse,
  overwrite, ///< if it is empty or holds a trace
  next_name, ///< take `path`-2, `path`-3, …: two captures that start in one second
};

/// Makes and opens a new trace directory. It reaches files only through its descriptor, so that
/// nobody can replace the directory while it is written. A lock (lock_trace()) keeps others from
/// overwriting or compressing it meanwhile.
class TraceDirectory {
public:
  /// Makes `path`. Throws Error.
  TraceDirectory(const std::string &path, IfExists exists);
  /// Makes a part of a rotated trace, the folder `name` in `whole`. Throws Error.
  TraceDirectory(const TraceDirectory &whole, const std::string &name);
  ~TraceDirectory();

  int fd() const { return fd_.get(); }
  const std::string &path() const { return path_; }

  /// Removes the files of the trace that was there, and its parts; anything else is left alone.
  /// Throws Error.
  void clear();
  /// Keeps room on the disk, as far as there is some, for `bytes` of the next file of that name.
  void reserve(const std::string &name, size_t bytes) noexcept;
  /// Writes a file under another name; `produce` is given where its text goes, piece by piece.
  /// Throws Error; what was reserved is kept then, for a shorter text.
  void prepare_file(const std::string &name, const std::function<void(const Put &)> &produce);
  /// Gives a prepared file its name, in place of what had it. Throws Error.
  void put_in_place(const std::string &name);
  /// Removes a part, except files that are not ours. Returns 0, or the error (errno).
  int remove_part(const std::string &name) noexcept;
  /// Removes what is new, and the directory if we made it: the capture never began.
  void discard() noexcept;

private:
  [[noreturn]] void fail(const std::string &name, int error);
  void open(int parent, const char *name);
  int new_file(const std::string &name);
  std::string failure(const std::string &name, int error) const;

  std::string path_;
  UniqueFd fd_;
  int reserved_ = -1; ///< a file under the other name of reserved_name_
  std::string reserved_name_;
  bool made_ = false;    ///< the directory is ours
  bool cleared_ = false; ///< what is in it is ours
};

/// Returns NAME-YYYYmmdd-HHMMSS, where NAME is the last part of `program`, which may be a path.
std::string default_trace_name(const std::string &program);

} // namespace ovnitrace
