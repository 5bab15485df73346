// SPDX-License-Identifier: BSD-2-Clause
// Compresses bytes with zlib.
#pragma once

#include "emulator/base/error.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <zlib.h>

namespace ovnitrace {

/// Makes one stream after the other.
class Deflater {
public:
  static constexpr int kGzip = 15 + 16, kRaw = -15; ///< the largest window; a gzip frame, or none

  explicit Deflater(int level, int window = kGzip, int memory = 8) {
    check(deflateInit2(&stream_, level, Z_DEFLATED, window, memory, Z_DEFAULT_STRATEGY));
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater &) = delete;
  Deflater &operator=(const Deflater &) = delete;

  /// Appends to `out` what is ready.
  void add(std::string &out, std::string_view bytes) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kMost)))
      put(out, bytes.substr(0, kMost), Z_NO_FLUSH);
  }
  /// Appends the rest of the stream, with at most 1 GiB of further bytes.
  void finish(std::string &out, std::string_view bytes = {}) {
    put(out, bytes, Z_FINISH);
    check(deflateReset(&stream_));
  }

private:
  static constexpr size_t kMost = 1 << 30; ///< zlib counts the input in 32 bits
  static constexpr size_t kStep = 1 << 14;

  void put(std::string &out, std::string_view bytes, int flush) {
    stream_.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
    stream_.avail_in = uInt(bytes.size());
    do {
      // A whole stream is made at once: how stored bytes are split depends on the room.
      const size_t step =
          flush == Z_FINISH ? kStep + deflateBound(&stream_, stream_.avail_in) : kStep;
      const size_t size = out.size();
      out.resize(size + step);
      stream_.next_out = reinterpret_cast<Bytef *>(out.data() + size);
      stream_.avail_out = uInt(step);
      check(deflate(&stream_, flush));
      out.resize(out.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }
  static void check(int status) {
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      throw Error("cannot compress the output: zlib is out of memory");
  }

  z_stream stream_{};
};

} // namespace ovnitrace
