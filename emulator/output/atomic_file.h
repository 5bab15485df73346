// SPDX-License-Identifier: BSD-2-Clause
// Writes a file that appears complete or not at all, so that no aborted output looks like a whole
// one.
#pragma once

#include "emulator/output/output_place.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace ovnitrace {

/// A file without a name until commit(), which disappears with the process. If the file system has
/// no such files, or a library opens the file by name, it has a temporary name. Then it is removed
/// with this object or, after a kill, by the next one for the same path.
///
/// Replaces what is at the path, also a symbolic link or a pipe, which is not followed or written
/// to. Writes to a device in place: only root can have put it there. Every function throws Error.
class AtomicFile {
public:
  /// `yes`: the caller uses temporary().
  enum class Named { no, yes };

  explicit AtomicFile(OutputPlace place, Named named = Named::no);
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  void write(std::string_view bytes);
  /// Replaces bytes that were written before.
  void rewrite(uint64_t offset, std::string_view bytes);
  /// Asks for disk space of `bytes` beyond the written bytes, in one piece. The size of the file
  /// stays. commit() returns the rest. Does nothing where the file system cannot do it.
  void set_aside(uint64_t bytes);
  void commit();

  /// Returns the name that the file has until commit(), empty if it is written in place.
  const std::string &temporary() const { return temporary_; }

private:
  bool open_unnamed();
  void give_name();
  [[noreturn]] void fail(const char *doing) const;

  OutputPlace place_;
  bool unnamed_ = false;
  std::string temporary_; ///< name; empty: unnamed, written in place, or committed
  int fd_ = -1;
  bool set_aside_ = false; ///< there may be space beyond the end
};

/// Writes a small file at once.
void write_text_file(const OutputPlace &place, std::string_view text);

} // namespace ovnitrace
