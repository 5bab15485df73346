// SPDX-License-Identifier: BSD-2-Clause
// Frames of compressed chunk files, read whatever their bytes are: emulator/format/frame_reader.
#include "emulator/base/unique_fd.h"
#include "emulator/format/chunk_frame.h"
#include "emulator/format/frame_reader.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace ovnitrace {
namespace {

/// What a reader gives for bytes in a file.
struct Frames {
  explicit Frames(const std::string &bytes) {
    const UniqueFd fd(memfd_create("frames", MFD_CLOEXEC));
    EXPECT_EQ(write(fd.get(), bytes.data(), bytes.size()), ssize_t(bytes.size()));
    read_all(fd.get(), bytes.size());
  }
  Frames(int fd, uint64_t size) { read_all(fd, size); }

  std::string out;
  std::vector<std::string> faults;

private:
  void read_all(int fd, uint64_t size) {
    FrameReader reader(fd, size);
    char part[100];
    for (bool more = true; more;) {
      const size_t got = reader.read(part, sizeof part);
      out.append(part, got);
      const std::string fault = reader.take_fault();
      if (!fault.empty())
        faults.push_back(fault);
      more = got == sizeof part || !fault.empty();
    }
  }
};

std::string frame_of(const std::string &bytes) {
  FrameCompressor compressor(1);
  const auto frame = compressor.compress(bytes.data(), bytes.size());
  return {frame.begin(), frame.end()};
}

TEST(FrameReader, AWholeFileHasNoFault) {
  EXPECT_TRUE(Frames(frame_of("one") + frame_of("two")).faults.empty());
}

// zstd's frame header: its descriptor, behind 4 bytes, has bit 2 for a checksum (RFC
// 8878, 3.1.1.1).
TEST(FrameReader, FramesHaveAChecksum) {
  EXPECT_TRUE(frame_of("one")[4] & 4);
}

TEST(FrameReader, AFileMayEndInAChunk) {
  const std::string whole = frame_of("one") + frame_of("two");
  EXPECT_EQ(Frames(whole.substr(0, whole.size() - 1)).faults,
            std::vector<std::string>{"the file was cut in the middle of a compressed chunk, at "
                                     "byte " +
                                     std::to_string(whole.size() - 1) + " of the compressed file"});
}

TEST(FrameReader, AChunkMayBeDamaged) {
  const std::string first = frame_of("one");
  const std::vector<std::string> faults = Frames(first + "no frame" + frame_of("two")).faults;
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].find("a compressed chunk is damaged ("), 0u) << faults[0];
  const std::string end = "), at byte " + std::to_string(first.size()) + " of the compressed file";
  EXPECT_TRUE(faults[0].ends_with(end)) << faults[0];
}

TEST(FrameReader, RefusesAFrameThatNeedsMuchMemory) {
  // Header: magic, descriptor 0x00 (a window byte follows), window 2^41; then an empty last block.
  const std::string hostile("\x28\xB5\x2F\xFD\x00\xF8\x01\x00\x00", 9);
  // The same with a content size of 2^62 and no window: the window is as large.
  const std::string larger("\x28\xB5\x2F\xFD\xE0\x00\x00\x00\x00\x00\x00\x00\x40\x01\x00\x00", 16);
  for (const std::string &frame : {hostile, larger}) {
    const Frames read(frame + frame_of("what follows"));
    EXPECT_EQ(read.out, "what follows");
    ASSERT_EQ(read.faults.size(), 1u);
    EXPECT_NE(read.faults[0].find("memory"), std::string::npos) << read.faults[0];
  }
}

TEST(FrameReader, GivesUpAfterTooManyDamagedFrames) {
  std::string bytes;
  for (int n = 0; n < 5000; n++)
    bytes += std::string("\x28\xB5\x2F\xFD\xFF\xFF", 6);
  const Frames read(bytes);
  EXPECT_EQ(read.out, "");
  EXPECT_LE(read.faults.size(), 1000u);
  EXPECT_NE(read.faults.back().find("left out"), std::string::npos);
}

TEST(FrameReader, GivesUpAtTheThousandthDamagedFrame) {
  const std::string damaged("\x28\xB5\x2F\xFD\x08\x00", 6); // a bit that must be 0
  std::string bytes;
  for (int n = 0; n < 999; n++)
    bytes += damaged;
  const Frames one_less(bytes + frame_of("what follows"));
  EXPECT_EQ(one_less.out, "what follows");
  EXPECT_EQ(one_less.faults.size(), 999u);
  EXPECT_EQ(one_less.faults.back().find("left out"), std::string::npos);
  const Frames all(bytes + damaged + frame_of("what follows"));
  EXPECT_EQ(all.out, "");
  ASSERT_EQ(all.faults.size(), 1000u);
  EXPECT_TRUE(all.faults.back().ends_with(
      " of the compressed file; so much of it is that the rest is left out"))
      << all.faults.back();
}

TEST(FrameReader, AFileMayNotBeReadable) {
  const test::TempDir dir;
  const UniqueFd fd(open((dir.path() + "/x").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(fd);
  FrameReader reader(fd.get(), 10);
  char part[100];
  EXPECT_EQ(reader.read(part, sizeof part), 0u);
  EXPECT_EQ(reader.take_fault(),
            "cannot read further: Bad file descriptor, at byte 0 of the compressed file");
}

TEST(FrameReader, ReadsForeignFramesAndSkipsOtherBytes) {
  const std::string skippable("\x50\x2A\x4D\x18\x03\x00\x00\x00xyz", 11);
  const Frames good(frame_of("one ") + skippable + frame_of("") + frame_of("two"));
  EXPECT_EQ(good.out, "one two");
  EXPECT_TRUE(good.faults.empty());
  const Frames noise("no frame at all" + frame_of("one") + "noise" + std::string(300000, 'x') +
                     frame_of("two"));
  EXPECT_EQ(noise.out, "onetwo");
  EXPECT_EQ(noise.faults.size(), 2u);
  EXPECT_EQ(Frames("").faults.size(), 0u);
}

/// The bytes that this process has read from files so far.
uint64_t bytes_read() {
  std::ifstream io("/proc/self/io");
  std::string word;
  uint64_t bytes = 0;
  io >> word >> bytes;
  EXPECT_EQ(word, "rchar:");
  return bytes;
}

TEST(FrameReader, SkipsHoles) {
  constexpr uint64_t kSize = 1 << 30, kMiddle = kSize / 2 + 3;
  const UniqueFd fd(memfd_create("frames", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(fd.get(), kSize), 0);
  for (const auto &[frame, at] :
       {std::pair(frame_of("one"), uint64_t(0)), {frame_of("two"), kMiddle}})
    ASSERT_EQ(pwrite(fd.get(), frame.data(), frame.size(), off_t(at)), ssize_t(frame.size()));
  const uint64_t before = bytes_read();
  const Frames read(fd.get(), kSize);
  EXPECT_LT(bytes_read() - before, 1u << 20);
  EXPECT_EQ(read.out, "onetwo");
  EXPECT_EQ(read.faults.size(), 2u);
}

TEST(FrameReader, FramesWithoutContentsTakeNoMemory) {
  const std::string full = frame_of("one"), empty = frame_of("");
  std::string bytes = full;
  for (int n = 0; n < 1000; n++)
    bytes += empty;
  const UniqueFd fd(memfd_create("frames", MFD_CLOEXEC));
  ASSERT_EQ(write(fd.get(), bytes.data(), bytes.size()), ssize_t(bytes.size()));
  FrameReader reader(fd.get(), bytes.size());
  char part[100];
  EXPECT_EQ(reader.read(part, sizeof part), 3u);
  ASSERT_EQ(reader.starts().size(), 2u);
  EXPECT_EQ(reader.starts()[1].offset, 3u);
  EXPECT_EQ(reader.starts()[1].place, full.size() + 999 * empty.size());
}

} // namespace
} // namespace ovnitrace
