// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/output/output_file.h"

#include "emulator/base/cores.h"
#include "emulator/base/error.h"
#include "emulator/base/relay.h"
#include "emulator/output/atomic_file.h"
#include "emulator/output/deflater.h"

#include <algorithm>
#include <vector>

namespace ovnitrace {

namespace {

constexpr size_t kBufferSize = 256 * 1024; // fits the second-level cache: still there when written
constexpr size_t kBufferCount = 4;         // and one more for each thread beyond the first
constexpr uint64_t kSetAside = 64 << 20;
constexpr uint32_t kMostThreads = 8; // that compress one file

/// Returns the header as a gzip member of its own. It is stored, not compressed, so its size
/// depends only on the size of the header, and it can be rewritten. A gzip file is any number of
/// members (RFC 1952).
std::string header_member(std::string_view header) {
  std::string member;
  Deflater(Z_NO_COMPRESSION).finish(member, header);
  return member;
}

struct Buffer {
  std::unique_ptr<char[]> bytes = std::make_unique_for_overwrite<char[]>(kBufferSize);
  size_t size = 0;
  std::unique_ptr<Deflater> gzip; ///< nullptr: plain
  std::string member;             ///< the bytes, compressed
};

uint32_t threads_of(OutputFile::Format format) {
  return format == OutputFile::Format::gzip ? std::min(cores(), kMostThreads) : 1;
}

std::vector<Buffer> make_buffers(OutputFile::Format format) {
  std::vector<Buffer> buffers(kBufferCount + threads_of(format) - 1);
  for (Buffer &buffer : buffers)
    if (format == OutputFile::Format::gzip)
      buffer.gzip = std::make_unique<Deflater>(Z_BEST_SPEED);
  return buffers;
}

} // namespace

/// The buffers, and the threads that compress and write them in order.
class OutputFile::Worker {
public:
  Worker(const OutputPlace &place, std::string_view header, Format format)
      : file_(place), header_size_(header.size()), gzip_(format == Format::gzip) {
    file_.write(gzip_ ? header_member(header) : std::string(header));
    relay_ = std::make_unique<Relay<Buffer>>(make_buffers(format), threads_of(format),
                                             gzip_ ? compress : Relay<Buffer>::Step(),
                                             [this](Buffer &buffer) {
                                               if (gzip_)
                                                 file_.write(buffer.member);
                                               else
                                                 write_plain({buffer.bytes.get(), buffer.size});
                                             });
  }

  /// Returns the buffer to fill: there is always one.
  char *begin() { return relay_->current().bytes.get(); }

  /// Hands `size` bytes of the current buffer over and waits for a free one.
  void hand_over(size_t size) {
    relay_->current().size = size;
    relay_->pass();
  }

  void close(std::string_view header) {
    relay_->finish();
    if (header.size() != header_size_)
      throw Error("internal error: the header of a trace changed its size");
    file_.rewrite(0, gzip_ ? header_member(header) : std::string(header));
    file_.commit();
  }

private:
  /// Writes bytes. Setting space aside in large pieces makes writing cheaper. It makes the renaming
  /// cheaper too: when a file is replaced, ext4 would find space for all of it at once and start to
  /// write it out.
  void write_plain(std::string_view bytes) {
    if (aside_ < bytes.size() && bytes.size() > kBufferSize / 2) { // not a small file
      file_.set_aside(kSetAside);
      aside_ = kSetAside;
    }
    aside_ -= std::min<uint64_t>(aside_, bytes.size());
    file_.write(bytes);
  }
  static void compress(Buffer &buffer) {
    buffer.member.clear();
    buffer.gzip->finish(buffer.member, {buffer.bytes.get(), buffer.size});
  }

  AtomicFile file_;
  size_t header_size_;
  bool gzip_;
  uint64_t aside_ = 0;                   ///< bytes left of the last piece
  std::unique_ptr<Relay<Buffer>> relay_; ///< ends before the file to which it writes
};

OutputFile::OutputFile(const OutputPlace &place, std::string_view header, Format format)
    : worker_(std::make_unique<Worker>(place, header, format)) {
  at_ = worker_->begin();
  end_ = at_ + kBufferSize;
}

OutputFile::~OutputFile() = default;

void OutputFile::next_buffer() {
  worker_->hand_over(size_t(at_ - worker_->begin()));
  at_ = worker_->begin();
  end_ = at_ + kBufferSize;
}

void OutputFile::close(std::string_view header) {
  if (at_ != worker_->begin())
    next_buffer();
  worker_->close(header);
}

} // namespace ovnitrace
