// SPDX-License-Identifier: BSD-2-Clause
#include "user/ring/ring_buffer.h"

#include "emulator/base/error.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ovnitrace {

RingBuffer::RingBuffer(int fd, size_t bytes)
    : mask_(bytes - 1), page_(size_t(sysconf(_SC_PAGESIZE))) {
  void *consumer = mmap(nullptr, page_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (consumer == MAP_FAILED)
    throw Error("cannot map a ring buffer: {}", std::strerror(errno));
  void *producer = mmap(nullptr, page_ + 2 * bytes, PROT_READ, MAP_SHARED, fd, off_t(page_));
  if (producer == MAP_FAILED) {
    int error = errno;
    munmap(consumer, page_);
    throw Error("cannot map a ring buffer of {} bytes: {}", bytes, std::strerror(error));
  }
  consumer_ = static_cast<uint64_t *>(consumer);
  producer_ = static_cast<const uint64_t *>(producer);
  data_ = static_cast<const char *>(producer) + page_;
}

RingBuffer::RingBuffer(RingBuffer &&other) noexcept
    : consumer_(std::exchange(other.consumer_, nullptr)), producer_(other.producer_),
      data_(other.data_), mask_(other.mask_), page_(other.page_) {}

RingBuffer::~RingBuffer() {
  if (!consumer_)
    return;
  munmap(consumer_, page_);
  munmap(const_cast<uint64_t *>(producer_), page_ + 2 * (mask_ + 1));
}

} // namespace ovnitrace
