// SPDX-License-Identifier: BSD-2-Clause
// A capture is compressed unless --compress=0 says otherwise, and is the same trace.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/prv.h"
#include "tests/e2e/support/trace.h"

namespace ovnitrace::test {

class Compressed : public CaptureTest {};

TEST_F(Compressed, CapturesAreReadAsTheyAreAndMadePlain) {
  record({installed("pingpong"), "3000"}, {"--chunk-size", "16K"});
  const std::vector<std::string> names = names_in(trace());
  EXPECT_TRUE(std::any_of(names.begin(), names.end(),
                          [](const std::string &n) { return n.ends_with(".ftr.zst"); }));
  EXPECT_TRUE(std::none_of(names.begin(), names.end(),
                           [](const std::string &n) { return n.ends_with(".ftr"); }));
  const std::string compressed = run({.argv = {ovnitrace(), "dump", trace()}}).out;
  EXPECT_GT(lines_of(compressed).size(), 5'000u);
  const Outcome converted = run({.argv = {ovnitrace(), "convert", trace()}});
  EXPECT_EQ(converted.status(), 0) << converted.err;
  expect_sound(read_prv(trace(), "thread"), read_prv(trace(), "cpu"));

  EXPECT_EQ(run({.argv = {ovnitrace(), "compress", "-d", trace()}}).status(), 0);
  EXPECT_FALSE(exists(trace() + "/cpu0000.ftr.zst"));
  EXPECT_EQ(run({.argv = {ovnitrace(), "dump", trace()}}).out, compressed);
  EXPECT_EQ(run({.argv = {ovnitrace(), "compress", "--level", "9", trace()}}).status(), 0);
  EXPECT_FALSE(exists(trace() + "/cpu0000.ftr"));
  EXPECT_EQ(run({.argv = {ovnitrace(), "dump", trace()}}).out, compressed);
}

TEST_F(Compressed, CapturesAreOverwrittenWithForce) {
  record({"true"}, {"--compress=3"});
  EXPECT_TRUE(exists(trace() + "/cpu0000.ftr.zst"));
  record({"true"}, {"-f", "--compress=0"});
  EXPECT_TRUE(exists(trace() + "/cpu0000.ftr"));
  EXPECT_FALSE(exists(trace() + "/cpu0000.ftr.zst"));
  EXPECT_EQ(run(record_command(trace(), {"true"}, {"-f", "--compress=20"})).status(), 2);
}

TEST_F(Compressed, ARunningCaptureIsLeftAlone) {
  const std::string compress =
      "'" + ovnitrace() + "' compress -d '" + trace() + "' 2>'" + path("said") + "'";
  record({"sh", "-c", compress + " || true"}, {});
  EXPECT_NE(read_text(path("said")).find("is being written by another ovnitrace"),
            std::string::npos);
  EXPECT_TRUE(exists(trace() + "/cpu0000.ftr.zst"));
  EXPECT_FALSE(exists(trace() + "/cpu0000.ftr"));
}

} // namespace ovnitrace::test
