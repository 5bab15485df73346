// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/format/chunk_frame.h"

#include "emulator/base/error.h"
#include "emulator/format/chunk_times.h"

#include <zstd.h>

#include <new>
#include <string>
#include <utility>

namespace ovnitrace {

void FrameCompressor::Free::operator()(ZSTD_CCtx_s *context) const {
  ZSTD_freeCCtx(context);
}

FrameCompressor::FrameCompressor(int level) : context_(ZSTD_createCCtx()) {
  if (!context_)
    throw std::bad_alloc();
  const std::pair<ZSTD_cParameter, int> parameters[] = {{ZSTD_c_compressionLevel, level},
                                                        {ZSTD_c_windowLog, kFrameWindowLog},
                                                        {ZSTD_c_checksumFlag, 1}};
  for (const auto &[parameter, value] : parameters)
    if (const size_t result = ZSTD_CCtx_setParameter(context_.get(), parameter, value);
        ZSTD_isError(result))
      throw Error(std::string("cannot set up zstd: ") + ZSTD_getErrorName(result));
}

std::span<const char> FrameCompressor::compress(const void *bytes, size_t size) {
  frame_.resize(ZSTD_compressBound(size));
  const size_t result = ZSTD_compress2(context_.get(), frame_.data(), frame_.size(), bytes, size);
  if (ZSTD_isError(result))
    throw Error(std::string("cannot compress a chunk: ") + ZSTD_getErrorName(result));
  return {frame_.data(), result};
}

std::span<const char> FrameCompressor::compress_chunk(std::span<const ftrace_record> chunk) {
  differences_.assign(chunk.begin(), chunk.end());
  make_differences(differences_);
  return compress(differences_.data(), chunk.size_bytes());
}

} // namespace ovnitrace
