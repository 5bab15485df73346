// SPDX-License-Identifier: BSD-2-Clause
#include "user/chunk/chunk_files.h"

#include "emulator/base/whole_io.h"
#include "emulator/format/chunk_frame.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ovnitrace {

ChunkFiles::ChunkFiles(int directory_fd, uint32_t cpus, int level)
    : directory_fd_(directory_fd), codec_(level ? Codec::zstd : Codec::none), files_(cpus) {
  if (level)
    compressor_.emplace(level);
}

ChunkFiles::~ChunkFiles() {
  finish();
}

std::string ChunkFiles::file_name(uint32_t cpu, Codec codec) {
  return fmt::format("cpu{:04}.ftr{}", cpu, suffix_of(codec));
}

bool ChunkFiles::open(uint32_t cpu) {
  File &file = files_[cpu];
  if (file.fd < 0)
    file.fd = openat(directory_fd_, file_name(cpu, codec_).c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file.fd < 0)
    fail(cpu, errno);
  return file.fd >= 0;
}

size_t ChunkFiles::write(const Chunk &chunk) {
  if (!error_.empty() || !open(chunk.cpu))
    return chunk.records.size();
  return compressor_ ? write_compressed(chunk) : write_plain(chunk);
}

size_t ChunkFiles::write_plain(const Chunk &chunk) {
  File &file = files_[chunk.cpu];
  const uint64_t before = file.size, bytes = chunk.records.size() * sizeof(ftrace_record);
  if (append(chunk.cpu, {reinterpret_cast<const char *>(chunk.records.data()), bytes}))
    return 0;
  const uint64_t whole = file.size & ~uint64_t(sizeof(ftrace_record) - 1);
  if (ftruncate(file.fd, off_t(whole)) == 0) // a reader leaves out half a record at the end
    file.size = whole;
  return chunk.records.size() - (whole - before) / sizeof(ftrace_record);
}

size_t ChunkFiles::write_compressed(const Chunk &chunk) {
  File &file = files_[chunk.cpu];
  const uint64_t before = file.size;
  try {
    if (append(chunk.cpu, frame_to_write(chunk, *compressor_)))
      return 0;
  } catch (const std::exception &error) {
    error_ = error.what();
  }
  if (ftruncate(file.fd, off_t(before)) == 0) // a reader leaves out half a chunk at the end
    file.size = before;
  return chunk.records.size();
}

bool ChunkFiles::append(uint32_t cpu, std::span<const char> bytes) {
  File &file = files_[cpu];
  const size_t written = write_all(file.fd, {bytes.data(), bytes.size()});
  file.size += written;
  if (written != bytes.size())
    fail(cpu, errno);
  return written == bytes.size();
}

void ChunkFiles::finish() {
  for (uint32_t cpu = 0; cpu < files_.size(); cpu++)
    if (int fd = std::exchange(files_[cpu].fd, -1); fd >= 0 && ::close(fd) != 0)
      fail(cpu, errno);
}

void ChunkFiles::fail(uint32_t cpu, int error) {
  if (error_.empty())
    error_ = fmt::format("cannot write {}: {}; what had been written before stays readable",
                         file_name(cpu, codec_), std::strerror(error));
}

} // namespace ovnitrace
