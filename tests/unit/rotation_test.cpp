// SPDX-License-Identifier: BSD-2-Clause
// When a part of a rotated trace is full, what is beside its events, and what is said of parts that
// go: user/chunk/rotating_target.
#include "emulator/base/clock.h"
#include "tests/unit/support/chunks.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "user/chunk/rotating_target.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>

namespace ovnitrace {
namespace {

using test::event_chunk;

const TraceTarget::Description kDescription = [](const Put &put) { put("{}\n"); };

uint64_t bytes_of(const Chunk &chunk) {
  return chunk.records.size() * sizeof(ftrace_record);
}

class RotationTest : public testing::Test {
protected:
  void begin(const Rotation &rotation) {
    target_.emplace(trace_, IfExists::refuse, 2, 0, rotation);
    target_->prepare(kDescription);
    target_->begin();
  }
  void write(const Chunk &chunk) { EXPECT_EQ(target_->output().write(chunk), 0u); }
  /// Begins a part with the next chunk, whose events are of `time` on.
  void next_part(uint32_t number, uint64_t time) {
    target_->rotate_soon(time - 1, time);
    write(event_chunk(0, number, time, 5));
  }
  std::string part_file(const std::string &part) const {
    return test::text_of(trace_ + "/" + part + "/part.json");
  }

  test::TempDir dir_;
  const std::string trace_ = dir_ / "t";
  std::optional<RotatingTarget> target_;
};

TEST_F(RotationTest, APartIsFullAtItsSizeInAllFiles) {
  const Chunk one = event_chunk(0, 0, 100, 5), other = event_chunk(1, 0, 100, 7);
  for (const uint64_t more : {0, 1}) {
    std::filesystem::remove_all(trace_);
    begin({.bytes = bytes_of(one) + bytes_of(other) + more});
    EXPECT_FALSE(target_->wants_rotation(UINT64_MAX));
    write(one);
    EXPECT_FALSE(target_->wants_rotation(UINT64_MAX));
    write(other);
    EXPECT_EQ(target_->wants_rotation(UINT64_MAX), more == 0);
    target_.reset();
  }
}

TEST_F(RotationTest, APartIsFullAfterItsTimeUnlessItIsEmpty) {
  constexpr uint64_t kTime = 3'600'000'000'000; // ns
  const uint64_t before = monotonic_ns();
  begin({.time = kTime});
  const uint64_t after = monotonic_ns();
  EXPECT_FALSE(target_->wants_rotation(after + kTime)) << "it is empty";
  write(event_chunk(0, 0, 100, 5));
  EXPECT_FALSE(target_->wants_rotation(before + kTime - 1));
  EXPECT_TRUE(target_->wants_rotation(after + kTime));
}

TEST_F(RotationTest, AHitIsInThePartThatHasItsTime) {
  begin({.bytes = 1});
  write(event_chunk(0, 0, 100, 5));
  EXPECT_EQ(target_->keep_part(UINT64_MAX), trace_ + "/0001");
  target_->rotate_soon(200, 300);
  EXPECT_EQ(target_->keep_part(299), trace_ + "/0001");
  EXPECT_EQ(target_->keep_part(300), trace_ + "/0002");
  write(event_chunk(0, 1, 299, 1));
  EXPECT_FALSE(std::filesystem::exists(trace_ + "/0002")) << "not before its time";
  write(event_chunk(0, 2, 300, 1));
  EXPECT_TRUE(std::filesystem::exists(trace_ + "/0002"));
  EXPECT_EQ(target_->keep_part(400), trace_ + "/0002");
}

TEST_F(RotationTest, APartSaysWhichBytesAreOfTheWhole) {
  const Chunk one = event_chunk(0, 0, 100, 5), other = event_chunk(1, 0, 110, 7);
  begin({.bytes = 1});
  EXPECT_EQ(part_file("0001"), "{\"version\": 1, \"streams\": []}\n");
  write(one);
  write(other);
  next_part(1, 300);
  EXPECT_EQ(part_file("0001"),
            fmt::format("{{\"version\": 1, \"streams\": [{{\"cpu\": 0, \"from\": 0, \"to\": {}}}, "
                        "{{\"cpu\": 1, \"from\": 0, \"to\": {}}}]}}\n",
                        bytes_of(one), bytes_of(other)));
  const auto size = [this](const char *file) { return std::filesystem::file_size(trace_ + file); };
  const uint64_t first = size("/0002/cpu0000.ftr") - bytes_of(event_chunk(0, 1, 300, 5)),
                 second = size("/0002/cpu0001.ftr");
  EXPECT_EQ(part_file("0002"),
            fmt::format("{{\"version\": 1, \"streams\": [{{\"cpu\": 0, \"from\": {}, \"to\": 0}}, "
                        "{{\"cpu\": 1, \"from\": {}, \"to\": 0}}]}}\n",
                        first, second))
      << "without what stands for the parts before it, and it still grows";
}

TEST_F(RotationTest, SaysWhichPartCannotBeRemoved) {
  begin({.bytes = 1, .keep = 1});
  write(event_chunk(0, 0, 100, 5));
  std::ofstream(trace_ + "/0001/notes") << "mine";
  testing::internal::CaptureStderr();
  next_part(1, 300);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ovnitrace: cannot remove " + trace_ + "/0001: Directory not empty\n");
  testing::internal::CaptureStderr();
  next_part(2, 400);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "it is not tried again";
  EXPECT_FALSE(std::filesystem::exists(trace_ + "/0002"));
  EXPECT_TRUE(std::filesystem::exists(trace_ + "/0003"));
}

} // namespace
} // namespace ovnitrace
