// SPDX-License-Identifier: BSD-2-Clause
// The layout of kernel/bpf/ringbuf.c, in a file in memory instead of a map.
#include "user/ring/ring_buffer.h"

#include "emulator/base/error.h"
#include "emulator/base/unique_fd.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/memory_ring.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace::test {

class RingBufferTest : public testing::Test, protected MemoryRing {
protected:
  RingBufferTest() : MemoryRing(kBytes), fd_(file()) {}

  std::vector<std::string> drain(RingBuffer &ring, uint64_t until) {
    std::vector<std::string> messages;
    whole_ = ring.drain(until, [&](const void *message, size_t bytes) {
      messages.emplace_back(static_cast<const char *>(message), bytes);
    });
    return messages;
  }

  static constexpr size_t kBytes = 4096;
  const int fd_;
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

TEST_F(RingBufferTest, KnowsHowMuchIsTaken) {
  RingBuffer ring(fd_, kBytes);
  produce("12345678");
  EXPECT_EQ(ring.used(), 16u);
  drain(ring, ring.produced());
  EXPECT_EQ(ring.used(), 0u);
  produce("123456789");
  EXPECT_EQ(ring.used(), 24u);
  RingBuffer moved(std::move(ring));
  EXPECT_EQ(moved.used(), 24u);
  EXPECT_EQ(drain(moved, moved.produced()), Messages{"123456789"});
}

// A store for each message would be slow, and none until the end would keep the producers waiting.
TEST(RingBufferSpace, IsGivenBackEach256KiB) {
  constexpr size_t kRing = 1 << 20, kMessage = 4096;
  const auto page = size_t(sysconf(_SC_PAGESIZE));
  const int fd = memfd_create("ring", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(fd, off_t(2 * page + 2 * kRing)), 0);
  char *memory = static_cast<char *>(
      mmap(nullptr, 2 * page + kRing, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  ASSERT_NE(memory, MAP_FAILED);
  const uint32_t length = kMessage - BPF_RINGBUF_HDR_SZ;
  for (size_t n = 0; n < 130; n++)
    std::memcpy(memory + 2 * page + n * kMessage, &length, sizeof length);
  const auto *consumer = reinterpret_cast<const uint64_t *>(memory);
  *reinterpret_cast<uint64_t *>(memory + page) = 130 * kMessage;
  RingBuffer ring(fd, kRing);
  std::vector<uint64_t> given; // at each message
  EXPECT_TRUE(ring.drain(ring.produced(), [&](const void *, size_t bytes) {
    EXPECT_EQ(bytes, length);
    given.push_back(*consumer);
  }));
  ASSERT_EQ(given.size(), 130u);
  EXPECT_EQ(given[63], 0u);
  EXPECT_EQ(given[64], 256u << 10);
  EXPECT_EQ(given[127], 256u << 10);
  EXPECT_EQ(given[128], 512u << 10);
  EXPECT_EQ(*consumer, 130 * kMessage);
  munmap(memory, 2 * page + kRing);
  close(fd);
}

TEST(RingBufferSpace, IsUnmappedAtTheEnd) {
  const auto page = size_t(sysconf(_SC_PAGESIZE));
  const UniqueFd fd(memfd_create("unmapped at the end", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(fd.get(), off_t(2 * page + 2 * page)), 0);
  const auto is_mapped = [] {
    return text_of("/proc/self/maps").find("unmapped at the end") != std::string::npos;
  };
  {
    RingBuffer ring(fd.get(), page);
    const RingBuffer moved(std::move(ring));
    EXPECT_TRUE(is_mapped());
  }
  EXPECT_FALSE(is_mapped());
  EXPECT_THROW(RingBuffer(fd.get(), size_t(1) << 60), Error);
  EXPECT_FALSE(is_mapped()) << "of one that cannot be mapped whole";
}

TEST(RingBufferSpace, AFileThatCannotBeMappedIsAnError) {
  const auto error_of = [](int fd, size_t bytes) {
    try {
      const RingBuffer ring(fd, bytes);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_of(-1, 4096), "cannot map a ring buffer: Bad file descriptor");
  const int fd = memfd_create("ring", MFD_CLOEXEC);
  EXPECT_EQ(error_of(fd, size_t(1) << 60),
            "cannot map a ring buffer of 1152921504606846976 bytes: Cannot allocate memory");
  close(fd);
}

} // namespace ovnitrace::test
