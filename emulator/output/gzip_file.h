// SPDX-License-Identifier: BSD-2-Clause
// Writes a file compressed with gzip, as one member: some readers know no more than one.
#pragma once

#include "emulator/output/atomic_file.h"

#include <string_view>
#include <vector>
#include <zlib.h>

namespace ovnitrace {

/// A file that appears complete or not at all: it has its name only after commit(). Every function
/// throws Error.
class GzipFile {
public:
  /// Replaces what is at `place`, as AtomicFile does.
  explicit GzipFile(const OutputPlace &place);
  ~GzipFile() { deflateEnd(&stream_); }
  GzipFile(const GzipFile &) = delete;
  GzipFile &operator=(const GzipFile &) = delete;

  void write(std::string_view bytes) { put(bytes, Z_NO_FLUSH); }
  void commit() {
    put({}, Z_FINISH);
    file_.commit();
  }

private:
  void put(std::string_view bytes, int flush);

  AtomicFile file_;
  z_stream stream_{};
  std::vector<char> out_;
};

} // namespace ovnitrace
