// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/record_buffer.h"

#include "emulator/base/whole_io.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

namespace ovnitrace {

static_assert(std::endian::native == std::endian::little, "records are read as they are");

namespace {

bool is_empty(std::span<const ftrace_record> records) {
  const auto *bytes = reinterpret_cast<const unsigned char *>(records.data());
  return std::all_of(bytes, bytes + records.size_bytes(),
                     [](unsigned char byte) { return byte == 0; });
}

} // namespace

RecordBuffer::RecordBuffer(int fd, uint64_t size, size_t block_records, Codec codec)
    : fd_(fd), size_(size),
      capacity_(codec != Codec::none
                    ? block_records
                    : size_t(std::clamp<uint64_t>(size / sizeof(ftrace_record), 1, block_records))),
      records_(std::make_unique_for_overwrite<ftrace_record[]>(capacity_)) {
  if (codec == Codec::zstd)
    frames_.emplace(fd, size);
}

std::span<const ftrace_record> RecordBuffer::next_block() {
  char *to = reinterpret_cast<char *>(records_.get());
  size_t whole = 0;
  std::string fault;
  do {
    next_part();
    const uint64_t left = parts_.empty() ? UINT64_MAX : parts_.front().end - offset_;
    const size_t got =
        read(to, size_t(std::min<uint64_t>(capacity_ * sizeof(ftrace_record), left)));
    whole = got / sizeof(ftrace_record);
    if (!keeps_differences_)
      times_.restore({records_.get(), whole});
    fault = frames_ ? frames_->take_fault() : std::string();
    // At the end a plain file gives its tail again, a compressed one does not.
    if (got || !frames_)
      tail_ = fault.empty() ? unsigned(got % sizeof(ftrace_record)) : 0;
    if (!fault.empty())
      times_.reset();
    if (fault_.empty())
      fault_ = fault;
  } while (whole == 0 && !fault.empty()); // what was damaged is left out
  block_offset_ = offset_;
  offset_ += whole * sizeof(ftrace_record);
  if (!frames_ && whole > 0 && is_empty({records_.get(), whole}))
    skip_hole();
  return {records_.get(), whole};
}

/// Skips to where the file has data again, so that a sparse file of any size costs nothing.
void RecordBuffer::skip_hole() {
  const uint64_t end = parts_.empty() ? size_ : std::min(size_, parts_.front().end);
  const off_t data = lseek(fd_, off_t(offset_), SEEK_DATA);
  if (data < 0 && errno != ENXIO) // the file system does not know
    return;
  const uint64_t to = data < 0 ? end : std::min(uint64_t(data), end);
  offset_ = std::max(offset_, to / sizeof(ftrace_record) * sizeof(ftrace_record));
}

/// Moves to the next part if the current one is over.
void RecordBuffer::next_part() {
  jumped_ = false;
  if (parts_.size() > 1 && offset_ == parts_.front().end)
    parts_ = parts_.subspan(1);
  if (parts_.empty() || offset_ >= parts_.front().start)
    return;
  jumped_ = true;
  times_.reset();
  offset_ = parts_.front().start;
  if (frames_)
    frames_->seek({offset_, parts_.front().place});
}

size_t RecordBuffer::read(char *to, size_t bytes) {
  return frames_ ? frames_->read(to, bytes) : read_plain(to, bytes);
}

size_t RecordBuffer::read_plain(char *to, size_t bytes) {
  const size_t wanted =
      size_t(std::min<uint64_t>(error_ ? 0 : size_ - std::min(size_, offset_), bytes));
  const size_t got = read_at(fd_, offset_, to, wanted);
  if (got != wanted) { // an error, or a file that became shorter
    error_ = errno;
    size_ = offset_ + got;
  }
  return got;
}

} // namespace ovnitrace
