// SPDX-License-Identifier: BSD-2-Clause
// A file that is there whole or not at all.
#pragma once

#include "emulator/prv/output_place.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace ovnitrace {

/// A file written under a temporary name beside its own and renamed by commit(). Destroyed before
/// that, it is removed, so that an aborted conversion never leaves half a trace under a final name.
/// What was at the path is replaced; a symbolic link or a pipe there is replaced, not followed or
/// written to. A device is written in place: nobody but root can have put it there. Every function
/// throws Error.
class AtomicFile {
public:
  explicit AtomicFile(OutputPlace place);
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  void write(std::string_view bytes);
  /// Replaces bytes that were written before.
  void rewrite(uint64_t offset, std::string_view bytes);
  /// Asks for disk space of `bytes` beyond what was written, in one piece; the size of the file
  /// stays. What is left of it at commit() is given back. Where this cannot be, nothing happens.
  void set_aside(uint64_t bytes);
  void commit();

  /// The name that it has until commit(), for a library that opens files by name; empty where it is
  /// written in place.
  const std::string &temporary() const { return temporary_; }

private:
  [[noreturn]] void fail(const char *doing) const;

  OutputPlace place_;
  std::string temporary_; ///< name; empty: written in place, or committed
  int fd_ = -1;
  bool set_aside_ = false; ///< there may be space beyond the end
};

/// Writes a small file at once.
void write_text_file(const OutputPlace &place, std::string_view text);

} // namespace ovnitrace
