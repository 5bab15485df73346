// SPDX-License-Identifier: BSD-2-Clause
// A file that is there whole or not at all.
#pragma once

#include "emulator/output/output_place.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace ovnitrace {

/// A file that has no name until commit(): it is gone with the process, however that ends. Where
/// the file system has no such files, or a library opens it by name, it has a temporary name, which
/// is removed with this object, or by the next one for the same path if the process was killed. So
/// an aborted conversion never leaves half a trace under a final name. What was at the path is
/// replaced; a symbolic link or a pipe there is replaced, not followed or written to. A device is
/// written in place: nobody but root can have put it there. Every function throws Error.
class AtomicFile {
public:
  /// Whether temporary() is needed.
  enum class Named { no, yes };

  explicit AtomicFile(OutputPlace place, Named named = Named::no);
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

  /// The name that a file that must have one has until commit(); empty where it is written in
  /// place.
  const std::string &temporary() const { return temporary_; }

private:
  bool open_unnamed();
  void give_name();
  [[noreturn]] void fail(const char *doing) const;

  OutputPlace place_;
  bool unnamed_ = false;
  std::string temporary_; ///< name; empty: it has none, is written in place, or committed
  int fd_ = -1;
  bool set_aside_ = false; ///< there may be space beyond the end
};

/// Writes a small file at once.
void write_text_file(const OutputPlace &place, std::string_view text);

} // namespace ovnitrace
