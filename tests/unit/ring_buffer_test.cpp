// SPDX-License-Identifier: BSD-2-Clause
// The layout of kernel/bpf/ringbuf.c, in a file in memory instead of a map.
#include "user/ring/ring_buffer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

namespace ovnitrace::test {

class RingBufferTest : public testing::Test {
protected:
  RingBufferTest() : fd_(memfd_create("ring", MFD_CLOEXEC)) {
    EXPECT_EQ(ftruncate(fd_, off_t(2 * page_ + 2 * kBytes)), 0);
    void *memory =
        mmap(nullptr, 2 * page_ + 2 * kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    EXPECT_NE(memory, MAP_FAILED);
    memory_ = static_cast<char *>(memory);
  }
  ~RingBufferTest() override {
    munmap(memory_, 2 * page_ + 2 * kBytes);
    close(fd_);
  }

  uint64_t &consumer() { return *reinterpret_cast<uint64_t *>(memory_); }
  uint64_t &producer() { return *reinterpret_cast<uint64_t *>(memory_ + page_); }

  /// As the kernel does; the data is mapped twice in a row, here it is written twice.
  void produce(const std::string &message, uint32_t flags = 0) {
    std::string bytes(8, 0);
    const uint32_t length = uint32_t(message.size()) | flags;
    std::memcpy(bytes.data(), &length, 4);
    bytes += message;
    bytes.resize((bytes.size() + 7) & ~size_t(7));
    for (size_t n = 0; n < bytes.size(); n++) {
      const size_t at = (producer() + n) % kBytes;
      memory_[2 * page_ + at] = memory_[2 * page_ + kBytes + at] = bytes[n];
    }
    producer() += bytes.size();
  }

  std::vector<std::string> drain(RingBuffer &ring, uint64_t until) {
    std::vector<std::string> messages;
    whole_ = ring.drain(until, [&](const void *message, size_t bytes) {
      messages.emplace_back(static_cast<const char *>(message), bytes);
    });
    return messages;
  }

  static constexpr size_t kBytes = 4096;
  const size_t page_ = size_t(sysconf(_SC_PAGESIZE));
  int fd_;
  char *memory_ = nullptr;
  bool whole_ = false;
};

using Messages = std::vector<std::string>;

TEST_F(RingBufferTest, GivesMessagesOnceAndTheirSpaceBack) {
  RingBuffer ring(fd_, kBytes);
  EXPECT_EQ(ring.produced(), 0u);
  EXPECT_EQ(drain(ring, ring.produced()), Messages{});
  produce("one");
  produce("the second, longer");
  EXPECT_EQ(drain(ring, ring.produced()), (Messages{"one", "the second, longer"}));
  EXPECT_TRUE(whole_);
  EXPECT_EQ(consumer(), producer());
  EXPECT_EQ(drain(ring, ring.produced()), Messages{});
}

TEST_F(RingBufferTest, GivesAMessageThatWrapsWhole) {
  RingBuffer ring(fd_, kBytes);
  for (int n = 0; n < 300; n++) {
    const std::string message(1 + size_t(n) * 7 % 900, char('a' + n % 26));
    produce(message);
    ASSERT_EQ(drain(ring, ring.produced()), Messages{message}) << n;
  }
  EXPECT_GT(producer(), 20 * kBytes) << "it went round often";
}

TEST_F(RingBufferTest, StopsAtAMessageThatIsBeingWritten) {
  RingBuffer ring(fd_, kBytes);
  produce("done");
  produce("busy", BPF_RINGBUF_BUSY_BIT);
  produce("behind");
  EXPECT_EQ(drain(ring, ring.produced()), Messages{"done"});
  EXPECT_FALSE(whole_);
  EXPECT_EQ(consumer(), 16u);
}

TEST_F(RingBufferTest, LeavesOutDiscardedMessages) {
  RingBuffer ring(fd_, kBytes);
  produce("kept");
  produce("discarded", BPF_RINGBUF_DISCARD_BIT);
  produce("kept too");
  EXPECT_EQ(drain(ring, ring.produced()), (Messages{"kept", "kept too"}));
  EXPECT_EQ(consumer(), producer());
}

TEST_F(RingBufferTest, StopsWhereItIsAskedTo) {
  RingBuffer ring(fd_, kBytes);
  produce("before");
  const uint64_t until = ring.produced();
  produce("after");
  EXPECT_EQ(drain(ring, until), Messages{"before"});
  EXPECT_EQ(drain(ring, ring.produced()), Messages{"after"});
}

} // namespace ovnitrace::test
