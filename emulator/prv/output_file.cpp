// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/output_file.h"

#include "emulator/base/error.h"
#include "emulator/prv/atomic_file.h"

#include <array>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>
#include <zlib.h>

namespace ovnitrace {

namespace {

constexpr size_t kBufferSize = 256 * 1024; // fits the second-level cache: still there when written
constexpr size_t kBufferCount = 4;
constexpr int kGzipBits = 15 + 16; // zlib: the largest window, a gzip frame

[[noreturn]] void gzip_failed(const z_stream &stream) {
  throw Error(std::string("cannot compress the output: ") +
              (stream.msg ? stream.msg : "zlib is out of memory") + "; convert without --gzip");
}

/// Compresses into an AtomicFile.
class GzipStream {
public:
  GzipStream(AtomicFile &file, int level) : file_(file), out_(kBufferSize) {
    if (deflateInit2(&stream_, level, Z_DEFLATED, kGzipBits, 9, Z_DEFAULT_STRATEGY) != Z_OK)
      gzip_failed(stream_);
  }
  ~GzipStream() { deflateEnd(&stream_); }
  GzipStream(const GzipStream &) = delete;
  GzipStream &operator=(const GzipStream &) = delete;

  void write(std::string_view bytes, int flush = Z_NO_FLUSH) {
    stream_.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
    stream_.avail_in = uInt(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef *>(out_.data());
      stream_.avail_out = uInt(out_.size());
      if (deflate(&stream_, flush) == Z_STREAM_ERROR)
        gzip_failed(stream_);
      file_.write({out_.data(), out_.size() - stream_.avail_out});
    } while (stream_.avail_out == 0);
  }
  void finish() { write({}, Z_FINISH); }

private:
  AtomicFile &file_;
  z_stream stream_{};
  std::vector<char> out_;
};

/// The header as a gzip member of its own, stored and not compressed: its size depends only on the
/// size of the header, so it can be rewritten. A gzip file is any number of members (RFC 1952).
std::string header_member(std::string_view header) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_NO_COMPRESSION, Z_DEFLATED, kGzipBits, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    gzip_failed(stream);
  std::string member(deflateBound(&stream, uLong(header.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(header.data()));
  stream.avail_in = uInt(header.size());
  stream.next_out = reinterpret_cast<Bytef *>(member.data());
  stream.avail_out = uInt(member.size());
  int result = deflate(&stream, Z_FINISH);
  member.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END)
    gzip_failed(stream);
  return member;
}

} // namespace

/// The buffers and the thread that writes them, in the order in which they were filled.
class OutputFile::Worker {
public:
  Worker(const OutputPlace &place, std::string_view header, Format format) : file_(place) {
    header_size_ = header.size();
    if (format == Format::gzip) {
      file_.write(header_member(header));
      gzip_ = std::make_unique<GzipStream>(file_, Z_BEST_SPEED);
    } else {
      file_.write(header);
    }
    for (Buffer &buffer : buffers_)
      buffer.bytes = std::make_unique_for_overwrite<char[]>(kBufferSize);
    thread_ = std::thread([this] { run(); });
  }

  ~Worker() { stop(); }

  /// The buffer being filled: there is always one.
  char *begin() { return buffers_[filled_ % kBufferCount].bytes.get(); }

  /// Hands `size` bytes of the current buffer to the thread and waits for a free one.
  void hand_over(size_t size) {
    std::unique_lock lock(mutex_);
    buffers_[filled_ % kBufferCount].size = size;
    filled_++;
    changed_.notify_all();
    changed_.wait(lock, [this] { return filled_ - written_ < kBufferCount || error_; });
    rethrow();
  }

  void close(std::string_view header) {
    stop();
    rethrow();
    if (header.size() != header_size_)
      throw Error("internal error: the header of a trace changed its size");
    if (gzip_)
      gzip_->finish();
    file_.rewrite(0, gzip_ ? header_member(header) : std::string(header));
    file_.commit();
  }

private:
  struct Buffer {
    std::unique_ptr<char[]> bytes;
    size_t size = 0;
  };

  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return filled_ != written_ || stopping_; });
      if (filled_ == written_)
        return;
      const Buffer &buffer = buffers_[written_ % kBufferCount];
      lock.unlock();
      std::exception_ptr error = write({buffer.bytes.get(), buffer.size});
      lock.lock();
      written_++;
      error_ = error;
      changed_.notify_all();
      if (error_)
        return;
    }
  }

  std::exception_ptr write(std::string_view bytes) {
    try {
      if (gzip_)
        gzip_->write(bytes);
      else
        file_.write(bytes);
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable())
      thread_.join();
  }

  void rethrow() {
    if (error_)
      std::rethrow_exception(error_);
  }

  AtomicFile file_;
  std::unique_ptr<GzipStream> gzip_; ///< none: plain
  size_t header_size_ = 0;
  std::array<Buffer, kBufferCount> buffers_;

  std::mutex mutex_; // guards what follows
  std::condition_variable changed_;
  uint64_t filled_ = 0;  ///< buffers handed over so far
  uint64_t written_ = 0; ///< of them, dealt with
  bool stopping_ = false;
  std::exception_ptr error_; ///< why the thread gave up
  std::thread thread_;
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
  next_buffer();
  worker_->close(header);
}

} // namespace ovnitrace
