// SPDX-License-Identifier: BSD-2-Clause
// A JSON file read in a stream: emulator/base/bounded_json.h.
#include "emulator/base/bounded_json.h"

#include "emulator/base/error.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace ovnitrace {
namespace {

using test::TempDir;

class JsonFile : public testing::Test {
protected:
  bool read(const std::string &text, size_t max_values = 10) {
    std::ofstream(dir_ / "file") << text;
    return read_json_file(dir_ / "file", {100 << 20, max_values, {"threads"}}, json_, why_);
  }
  std::string refusal(const std::string &text) {
    EXPECT_FALSE(read(text)) << text.substr(0, 100);
    return why_;
  }
  TempDir dir_;
  nlohmann::json json_;
  std::string why_;
};

TEST_F(JsonFile, SkipsUnneededMembersOfAnySize) {
  std::string threads;
  for (int n = 0; n < 200'000; n++)
    threads += (n ? ",\n" : "") + std::string("{\"tid\": 1, \"name\": \"x\", \"a\": {\"b\": [1]}}");
  ASSERT_TRUE(read("{\"host\": \"h\", \"threads\": [" + threads + "], \"end\": {\"x\": 2}}"))
      << why_;
  EXPECT_EQ(json_, (nlohmann::json{{"host", "h"}, {"end", {{"x", 2}}}}));
  ASSERT_TRUE(read("{\"threads\": 1, \"host\": {\"threads\": 2}}")) << why_;
  EXPECT_EQ(json_, (nlohmann::json{{"host", {{"threads", 2}}}})) << "only of the outermost object";
}

// A reader that looks at all elements again after each object needs minutes for them.
TEST_F(JsonFile, HoldsVeryManyObjects) {
  constexpr size_t kObjects = 100'000;
  std::string peers;
  for (size_t n = 0; n < kObjects; n++)
    peers += (n ? ",{\"tid\": " : "{\"tid\": ") + std::to_string(n) + ", \"a\": [[]]}";
  ASSERT_TRUE(read("{\"peers\": [" + peers + "]}", 2'000'000)) << why_;
  ASSERT_EQ(json_["peers"].size(), kObjects);
  EXPECT_EQ(json_["peers"].back(), nlohmann::json::parse("{\"tid\": 99999, \"a\": [[]]}"));
}

TEST_F(JsonFile, IsRefusedBeyondItsBounds) {
  EXPECT_TRUE(read("[1,2,3,4,5,6,7,8,9]")) << why_;
  EXPECT_EQ(refusal("[1,2,3,4,5,6,7,8,9,10]"), "it has more than 10 values");
  EXPECT_EQ(refusal("{\"a\": 1, \"a\": 2}"), "it has the member \"a\" twice");
  EXPECT_EQ(refusal("{\"threads\": 1, \"threads\": 2}"), "it has the member \"threads\" twice");
  EXPECT_EQ(refusal("{\"threads\": " + std::string(100'000, '[')),
            "it is nested deeper than 64 levels");
  EXPECT_EQ(refusal("{\"threads\": \"" + std::string(2 << 20, 'x') + "\"}"),
            "it has a text above 1 MiB");
  EXPECT_EQ(refusal("{\"threads\": [{}").find("it is no JSON: "), 0u);
  EXPECT_EQ(refusal("").find("it is no JSON: "), 0u);
  std::ofstream(dir_ / "file") << "[1]";
  EXPECT_FALSE(read_json_file(dir_ / "file", {2, 10, {}}, json_, why_));
  EXPECT_EQ(why_, "is no regular file of at most 2 bytes");
}

// The memory of this process, from address 0: a file whose read fails.
TEST_F(JsonFile, AFailedReadIsNoEndOfTheFile) {
  try {
    read_json_file("/proc/self/mem", {100, 10, {}}, json_, why_);
    ADD_FAILURE() << "it was read: " << why_;
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "cannot read /proc/self/mem: Input/output error");
  }
}

} // namespace
} // namespace ovnitrace
