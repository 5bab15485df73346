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

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

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
  next_part(1, 1000); // it begins when it was asked for
  EXPECT_FALSE(target_->wants_rotation(999 + kTime));
  EXPECT_TRUE(target_->wants_rotation(1000 + kTime));
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

TEST_F(RotationTest, EachPartAndTheWholeHaveTheirDescriptions) {
  const auto writes = [](const char *text) { return [text](const Put &put) { put(text); }; };
  const auto described = [this](const char *part) {
    return test::text_of(trace_ + part + "/trace.json");
  };
  target_.emplace(trace_, IfExists::refuse, 2, 0, Rotation{.bytes = 1});
  target_->prepare(writes("of a part that grows"));
  target_->prepare_parts(writes("of a part that has ended"), writes("of the last part"));
  target_->begin();
  EXPECT_EQ(described(""), "of a part that grows");
  EXPECT_EQ(described("/0001"), "of a part that grows");
  write(event_chunk(0, 0, 100, 5));
  next_part(1, 300);
  EXPECT_EQ(described("/0001"), "of a part that has ended");
  EXPECT_EQ(described("/0002"), "of a part that grows");
  target_->describe(writes("of the whole if we are killed now"));
  EXPECT_EQ(described(""), "of the whole if we are killed now");
  target_->output().finish();
  EXPECT_EQ(described("/0002"), "of the last part");
  target_->end(writes("of the whole"), 0);
  EXPECT_EQ(described(""), "of the whole");
  target_->end_briefly(writes("a short one"));
  EXPECT_EQ(described(""), "a short one");
  EXPECT_EQ(described("/0001"), "of a part that has ended");
  EXPECT_EQ(target_->place(), trace_);
}

// What stands for the parts before, on each CPU.
TEST_F(RotationTest, APartSaysHowManyEventsWereBeforeIt) {
  begin({.bytes = 1});
  write(event_chunk(0, 0, 100, 5)); // and trace_start
  write(event_chunk(1, 0, 110, 7));
  next_part(1, 300);
  next_part(2, 400);
  const auto gap = [this](const std::string &file) {
    const std::string bytes = test::text_of(trace_ + "/" + file);
    std::vector<ftrace_record> records(bytes.size() / sizeof(ftrace_record));
    std::memcpy(records.data(), bytes.data(), records.size() * sizeof records[0]);
    std::string text = fmt::format("chunk {}", records.at(2).par2);
    for (const ftrace_record &record : records)
      if (record.par1 == FTRACE_BLACKOUT_FORGOTTEN &&
          (record.code == FTrace_EVT_blackout_start || record.code == FTrace_EVT_blackout_end))
        text += fmt::format(" {} ns {} events", ftrace_record_tsc(&record), record.par2);
    return text;
  };
  EXPECT_EQ(gap("0001/cpu0000.ftr"), "chunk 0");
  EXPECT_EQ(gap("0002/cpu0000.ftr"), "chunk 0 299 ns 0 events 299 ns 6 events");
  EXPECT_EQ(gap("0002/cpu0001.ftr"), "chunk 0 299 ns 0 events 299 ns 8 events");
  EXPECT_EQ(gap("0003/cpu0000.ftr"), "chunk 1 399 ns 0 events 399 ns 11 events");
  EXPECT_EQ(gap("0003/cpu0001.ftr"), "chunk 0 399 ns 0 events 399 ns 8 events");
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
