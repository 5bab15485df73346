// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/output/gzip_file.h"

#include "emulator/base/error.h"

#include <string>

namespace ovnitrace {

namespace {

constexpr size_t kBufferSize = 256 * 1024;
constexpr int kGzipBits = 15 + 16; // zlib: the largest window, a gzip frame

} // namespace

GzipFile::GzipFile(const OutputPlace &place) : file_(place), out_(kBufferSize) {
  if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipBits, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw Error("cannot compress the output: zlib is out of memory");
}

void GzipFile::put(std::string_view bytes, int flush) {
  stream_.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream_.avail_in = uInt(bytes.size());
  do {
    stream_.next_out = reinterpret_cast<Bytef *>(out_.data());
    stream_.avail_out = uInt(out_.size());
    if (deflate(&stream_, flush) == Z_STREAM_ERROR)
      throw Error(std::string("cannot compress the output: ") +
                  (stream_.msg ? stream_.msg : "zlib has failed"));
    file_.write({out_.data(), out_.size() - stream_.avail_out});
  } while (stream_.avail_out == 0);
}

} // namespace ovnitrace
