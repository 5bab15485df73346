// SPDX-License-Identifier: BSD-2-Clause
// What is said of compressed chunk files that are damaged: the whole text, and the place.
#include "emulator/base/unique_fd.h"
#include "emulator/format/chunk_frame.h"
#include "emulator/format/frame_reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace ovnitrace {
namespace {

std::string compressed(const std::string &bytes) {
  FrameCompressor compressor(1);
  const auto frame = compressor.compress(bytes.data(), bytes.size());
  return {frame.begin(), frame.end()};
}

/// Returns the faults of a file.
std::vector<std::string> faults_of(const std::string &bytes) {
  const UniqueFd fd(memfd_create("frames", MFD_CLOEXEC));
  EXPECT_EQ(write(fd.get(), bytes.data(), bytes.size()), ssize_t(bytes.size()));
  FrameReader reader(fd.get(), bytes.size());
  std::vector<std::string> faults;
  char part[100];
  for (bool more = true; more;) {
    const size_t got = reader.read(part, sizeof part);
    const std::string fault = reader.take_fault();
    if (!fault.empty())
      faults.push_back(fault);
    more = got == sizeof part || !fault.empty();
  }
  return faults;
}

TEST(FrameFaults, AWholeFileHasNone) {
  EXPECT_TRUE(faults_of(compressed("one") + compressed("two")).empty());
}

TEST(FrameFaults, AFileMayEndInAChunk) {
  const std::string whole = compressed("one") + compressed("two");
  EXPECT_EQ(faults_of(whole.substr(0, whole.size() - 1)),
            std::vector<std::string>{"the file was cut in the middle of a compressed chunk, at "
                                     "byte " +
                                     std::to_string(whole.size() - 1) + " of the compressed file"});
}

TEST(FrameFaults, AChunkMayBeDamaged) {
  const std::string first = compressed("one");
  const std::vector<std::string> faults = faults_of(first + "no frame" + compressed("two"));
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].find("a compressed chunk is damaged ("), 0u) << faults[0];
  const std::string end = "), at byte " + std::to_string(first.size()) + " of the compressed file";
  EXPECT_TRUE(faults[0].ends_with(end)) << faults[0];
}

} // namespace
} // namespace ovnitrace
