// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/ovni/stream_file.h"

#include "emulator/base/small_file.h"
#include "emulator/base/unique_fd.h"
#include "emulator/base/whole_io.h"
#include "emulator/format/event.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace ovnitrace::ovni {

namespace {

// O_NONBLOCK: a FIFO under this name must not hang the reader.
UniqueFd open_stream(const std::string &path) {
  return UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
}

template <typename T> T load(const uint8_t *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

bool is_letter(uint8_t byte) {
  return byte > 0x20 && byte < 0x7f;
}

} // namespace

StreamFile::StreamFile(std::string path, size_t buffer_size)
    : path_(std::move(path)), buffer_size_(std::max(buffer_size, kBufferMin)) {}

std::string StreamFile::start() {
  struct stat st;
  {
    const UniqueFd file = open_stream(path_);
    if (!file || fstat(file.get(), &st) != 0)
      return "cannot open the stream: " + open_failure(errno);
    if (!S_ISREG(st.st_mode))
      return "is no regular file";
  }
  size_ = std::min(size_, uint64_t(st.st_size));
  base_ = cursor_ = filled_ = 0;
  if (!fill(kStreamHeaderSize))
    return "the file has " + std::to_string(size_) +
           " bytes and no room for the header of a stream";
  if (std::memcmp(buffer_.data(), kStreamMagic.data(), kStreamMagic.size()) != 0)
    return "wrong magic: this is no ovni stream";
  const auto version = load<uint32_t>(buffer_.data() + kStreamMagic.size());
  if (version != kStreamVersion)
    return "stream version " + std::to_string(version) + ", only version " +
           std::to_string(kStreamVersion) + " can be read" +
           (version == 1u << 24 ? " (a host of the other byte order wrote it)" : "");
  cursor_ = kStreamHeaderSize;
  return {};
}

StreamFile::Status StreamFile::read(StreamEvent &event) {
  if (position() >= size_)
    return Status::end;
  if (!fill(kEventHeaderSize))
    return Status::truncated;

  const uint8_t *at = buffer_.data() + cursor_;
  event.offset = position();
  event.flags = at[0];
  event.mcv = mcv(char(at[1]), char(at[2]), char(at[3]));
  event.time = load<uint64_t>(at + 4);
  if (!is_letter(at[1]) || !is_letter(at[2]) || !is_letter(at[3]) || event.time >= kTimeLimit)
    return Status::damaged;

  // The size of a jumbo payload is itself the first four bytes of it.
  uint64_t payload = event.flags & kPayloadSizeMask ? (event.flags & kPayloadSizeMask) + 1u : 0u;
  if (event.flags & kFlagJumbo) {
    if (!fill(kEventHeaderSize + kJumboSizeBytes))
      return Status::truncated;
    payload =
        kJumboSizeBytes + uint64_t(load<uint32_t>(buffer_.data() + cursor_ + kEventHeaderSize));
  }
  const uint64_t next = event.offset + kEventHeaderSize + payload;
  if (next > size_)
    return Status::truncated;
  event.payload_size = uint32_t(std::min<uint64_t>(payload, kJumboKept));
  if (!fill(kEventHeaderSize + event.payload_size))
    return Status::truncated;
  event.payload = event.payload_size ? buffer_.data() + cursor_ + kEventHeaderSize : nullptr;
  skip_to(next);
  return Status::event;
}

void StreamFile::release() {
  std::vector<uint8_t>().swap(buffer_);
  filled_ = cursor_ = 0;
}

/// Makes `bytes` from the cursor on available. Returns false if the file ends before.
bool StreamFile::fill(size_t bytes) {
  if (cursor_ <= filled_ && filled_ - cursor_ >= bytes)
    return true;
  if (position() + bytes > size_)
    return false;
  buffer_.resize(buffer_size_);
  const size_t kept = cursor_ < filled_ ? filled_ - cursor_ : 0;
  if (kept)
    std::memmove(buffer_.data(), buffer_.data() + cursor_, kept);
  base_ += cursor_;
  cursor_ = 0;
  filled_ = kept;

  const UniqueFd file = open_stream(path_);
  const uint64_t wanted = std::min<uint64_t>(buffer_size_, size_ - base_);
  filled_ += read_at(file.get(), base_ + kept, buffer_.data() + kept, wanted - kept);
  return filled_ >= bytes;
}

/// Skips to an offset. The cursor may be beyond the end of the buffer: the next fill() continues
/// there.
void StreamFile::skip_to(uint64_t offset) {
  cursor_ = size_t(offset - base_);
}

} // namespace ovnitrace::ovni
