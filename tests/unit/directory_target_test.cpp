// SPDX-License-Identifier: BSD-2-Clause
// The files of a capture's directory at each step of the capture: user/chunk/directory_target.
#include "user/chunk/directory_target.h"

#include "tests/unit/support/chunks.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

namespace ovnitrace {
namespace {

namespace fs = std::filesystem;

TraceTarget::Description writes(const std::string &text) {
  return [text](const Put &put) {
    put(text.substr(0, 1));
    put(text.substr(1));
  };
}

class DirectoryTargetTest : public testing::Test {
protected:
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto &entry : fs::directory_iterator(trace_))
      found.insert(entry.path().filename());
    return found;
  }
  std::string description() const { return test::text_of(trace_ + "/trace.json"); }
  uint64_t reserved() const { return fs::file_size(trace_ + "/.trace.json.new"); }

  test::TempDir dir_;
  const std::string trace_ = dir_ / "t";
};

using Names = std::set<std::string>;

TEST_F(DirectoryTargetTest, ItsDescriptionIsReplacedAtEachStep) {
  DirectoryTarget target(trace_, IfExists::refuse, 3, 0);
  EXPECT_EQ(target.place(), trace_);
  EXPECT_FALSE(target.may_stall());
  target.prepare(writes("first"));
  EXPECT_FALSE(fs::exists(trace_ + "/trace.json")) << "the program does not run yet";
  target.begin();
  EXPECT_EQ(description(), "first");
  EXPECT_EQ(target.output().write(test::event_chunk(2, 0, 100, 5)), 0u);
  EXPECT_GT(target.file_bytes(2), 0u);
  target.output().finish();
  target.describe(writes("second"));
  EXPECT_EQ(description(), "second");
  EXPECT_TRUE(names().contains(".trace.json.new")) << "there is room for the last one";
  target.end(writes("third"), 7);
  EXPECT_EQ(description(), "third");
  target.end_briefly(writes("short"));
  EXPECT_EQ(description(), "short");
  EXPECT_EQ(names(), (Names{"cpu0002.ftr", "trace.json"}));
}

// Chunks may fill the disk. What is known later is short, but for a list that has an entry for each
// CPU.
TEST_F(DirectoryTargetTest, RoomForItsDescriptionIsKept) {
  const std::string text(1000, 'x');
  std::map<uint32_t, uint64_t> room; // by number of CPUs
  for (const uint32_t cpus : {2, 5}) {
    DirectoryTarget target(trace_, IfExists::refuse, cpus, 0);
    target.prepare(writes(text));
    target.begin();
    room[cpus] = reserved();
    target.describe(writes("y"));
    EXPECT_EQ(reserved(), room[cpus]);
    target.discard();
  }
  EXPECT_EQ(room[2], 1000 + (16 << 10) + 2 * 640u);
  EXPECT_EQ(room[5] - room[2], 3 * 640u);
}

TEST_F(DirectoryTargetTest, TheTraceBeforeGoesWhenTheCaptureBegins) {
  fs::create_directory(trace_);
  for (const char *name : {"trace.json", "cpu0000.ftr", "mine"})
    std::ofstream(trace_ + "/" + name) << "old";
  DirectoryTarget target(trace_, IfExists::overwrite, 1, 0);
  target.prepare(writes("new"));
  EXPECT_EQ(description(), "old");
  EXPECT_TRUE(fs::exists(trace_ + "/cpu0000.ftr"));
  target.begin();
  EXPECT_EQ(description(), "new");
  EXPECT_EQ(names(), (Names{".trace.json.new", "mine", "trace.json"}));
}

TEST_F(DirectoryTargetTest, WithoutADescriptionItBeginsWithNone) {
  DirectoryTarget target(trace_, IfExists::refuse, 1, 0);
  target.begin();
  EXPECT_FALSE(fs::exists(trace_ + "/trace.json"));
  target.put_file("other", writes("text"));
  EXPECT_EQ(test::text_of(trace_ + "/other"), "text");
  target.end(writes("last"), 0);
  EXPECT_EQ(names(), (Names{"other", "trace.json"}));
}

TEST_F(DirectoryTargetTest, APartIsCompressedAsTheWhole) {
  DirectoryTarget whole(trace_, IfExists::refuse, 1, 3);
  DirectoryTarget part(whole.directory(), "0001", 1, 3);
  EXPECT_EQ(part.output().write(test::event_chunk(0, 0, 100, 5)), 0u);
  EXPECT_EQ(part.place(), trace_ + "/0001");
  EXPECT_TRUE(fs::exists(trace_ + "/0001/cpu0000.ftr.zst"));
}

} // namespace
} // namespace ovnitrace
