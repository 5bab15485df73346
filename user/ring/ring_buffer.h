// SPDX-License-Identifier: BSD-2-Clause
// Reads one BPF ring buffer.
#pragma once

#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>

namespace ovnitrace {

/// Maps a BPF_MAP_TYPE_RINGBUF and reads its messages.
///
/// The layout is that of kernel/bpf/ringbuf.c: a page with the consumer's position (ours to write),
/// a page with the producer's, and the data twice in a row. A message that wraps is therefore
/// contiguous. A message is a header of 8 bytes, then the payload, padded to 8. The first word of
/// the header is the length and two flag bits.
class RingBuffer {
public:
  /// `fd` stays the caller's. Throws Error.
  RingBuffer(int fd, size_t bytes);
  ~RingBuffer();
  RingBuffer(RingBuffer &&other) noexcept;
  RingBuffer(const RingBuffer &) = delete;
  RingBuffer &operator=(const RingBuffer &) = delete;

  /// Returns where the producers are now. All that was committed before the call is before this
  /// position.
  uint64_t produced() const { return __atomic_load_n(producer_, __ATOMIC_ACQUIRE); }

  /// Returns how many bytes of the buffer are taken now.
  uint64_t used() const { return produced() - *consumer_; }

  /// Calls `take(const void *message, size_t bytes)` for each message up to position `until`, and
  /// gives the space back in steps. Stops at a message that is still being written, and then
  /// returns false.
  template <typename Take> bool drain(uint64_t until, Take take) {
    constexpr uint64_t kGiveBack =
        256 << 10; // bytes: not an atomic store to a shared line each message
    uint64_t position = *consumer_, given = position;
    while (position < until) {
      const char *header = data_ + (position & mask_);
      uint32_t length =
          __atomic_load_n(reinterpret_cast<const uint32_t *>(header), __ATOMIC_ACQUIRE);
      if (length & BPF_RINGBUF_BUSY_BIT)
        break;
      size_t bytes = length & ~BPF_RINGBUF_DISCARD_BIT;
      if (!(length & BPF_RINGBUF_DISCARD_BIT))
        take(header + BPF_RINGBUF_HDR_SZ, bytes);
      position += (bytes + BPF_RINGBUF_HDR_SZ + 7) & ~uint64_t(7);
      if (position - given >= kGiveBack)
        __atomic_store_n(consumer_, given = position, __ATOMIC_RELEASE);
    }
    __atomic_store_n(consumer_, position, __ATOMIC_RELEASE);
    return position >= until;
  }

private:
  uint64_t *consumer_ = nullptr;
  const uint64_t *producer_ = nullptr;
  const char *data_ = nullptr;
  uint64_t mask_ = 0;
  size_t page_ = 0;
};

} // namespace ovnitrace
