// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/format/frame_reader.h"

#include "emulator/base/whole_io.h"
#include "emulator/format/chunk_frame.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kInputBytes = 128 << 10;
/// Limits the cost of a file that consists of nothing but starts of frames.
constexpr unsigned kMostFaults = 1000;
constexpr std::string_view kMagic("\x28\xB5\x2F\xFD", 4);

} // namespace

void FrameReader::Free::operator()(ZSTD_DCtx_s *context) const {
  ZSTD_freeDCtx(context);
}

FrameReader::FrameReader(int fd, uint64_t size)
    : fd_(fd), size_(size), context_(ZSTD_createDCtx()), input_(kInputBytes) {
  if (!context_ ||
      ZSTD_isError(ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kFrameWindowLog)))
    throw std::bad_alloc();
}

bool FrameReader::is_at_start(int fd) {
  char magic[kMagic.size()];
  return pread(fd, magic, sizeof magic, 0) == ssize_t(sizeof magic) &&
         std::string_view(magic, sizeof magic) == kMagic;
}

size_t FrameReader::read(char *to, size_t size) {
  ZSTD_outBuffer out = {to, size, 0};
  starts_.clear();
  while (out.pos < out.size && fault_.empty()) {
    if (searching_)
      find_frame();
    if (at_ == end_ && !refill()) {
      if (std::exchange(inside_, false))
        fail("the file was cut in the middle of a compressed chunk");
      break;
    }
    if (!inside_)
      add_start({given_ + out.pos, position()});
    ZSTD_inBuffer in = {input_.data(), end_, at_};
    const size_t result = ZSTD_decompressStream(context_.get(), &out, &in);
    if (ZSTD_isError(result)) {
      fail(fmt::format("a compressed chunk is damaged ({})", ZSTD_getErrorName(result)));
      at_ += std::min<size_t>(1, end_ - at_);
      searching_ = true;
      break;
    }
    inside_ = result != 0;
    at_ = in.pos;
  }
  given_ += out.pos;
  return out.pos;
}

void FrameReader::seek(const Start &frame) {
  ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
  at_ = end_ = 0;
  offset_ = frame.place;
  given_ = frame.offset;
  inside_ = searching_ = false;
}

/// Keeps one start for a row of empty frames, so that memory is bounded.
void FrameReader::add_start(const Start &frame) {
  if (!starts_.empty() && starts_.back().offset == frame.offset)
    starts_.back() = frame;
  else
    starts_.push_back(frame);
}

std::string FrameReader::take_fault() {
  return std::exchange(fault_, {});
}

/// Reads more of the file behind the rest of input_. Returns false at the end.
bool FrameReader::refill() {
  std::memmove(input_.data(), input_.data() + at_, end_ - at_);
  end_ -= at_;
  at_ = 0;
  const size_t wanted = size_t(std::min<uint64_t>(input_.size() - end_, size_ - offset_));
  if (faults_ >= kMostFaults || wanted == 0)
    return false;
  const size_t got = read_at(fd_, offset_, input_.data() + end_, wanted);
  if (got == 0 && errno)
    fail(fmt::format("cannot read further: {}", strerror(errno)));
  end_ += got;
  offset_ += got;
  return got != 0; // otherwise an error, or a file that became shorter
}

void FrameReader::fail(const std::string &why) {
  ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
  inside_ = false;
  if (++faults_ == kMostFaults)
    at_ = end_;
  fault_ =
      fmt::format("{}, at byte {} of the compressed file{}", why, position(),
                  faults_ == kMostFaults ? "; so much of it is that the rest is left out" : "");
}

/// Skips what has no data in the file, so that a sparse file of any size costs nothing. A hole
/// reads as zeros, which no start of a frame contains.
void FrameReader::skip_hole() {
  const off_t data = lseek(fd_, off_t(offset_), SEEK_DATA);
  if (data < 0 && errno != ENXIO) // the file system does not know
    return;
  const uint64_t to = data < 0 ? size_ : std::min(uint64_t(data), size_);
  if (to <= offset_)
    return;
  offset_ = to;
  at_ = end_;
}

/// Moves to the next possible start of a frame, or to the end.
void FrameReader::find_frame() {
  for (;;) {
    const std::string_view left(input_.data() + at_, end_ - at_);
    if (const size_t found = left.find(kMagic); found != left.npos) {
      at_ += found;
      searching_ = false;
      return;
    }
    at_ = end_ - std::min(left.size(), kMagic.size() - 1);
    skip_hole();
    if (!refill()) {
      at_ = end_;
      searching_ = false;
      return;
    }
  }
}

} // namespace ovnitrace
