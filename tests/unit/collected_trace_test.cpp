// SPDX-License-Identifier: BSD-2-Clause
// What a collector takes for a trace.json: user/net/collected_trace, user/net/description_check.
#include "emulator/base/error.h"
#include "tests/unit/support/temp_dir.h"
#include "user/net/collected_trace.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace ovnitrace {
namespace {

class CollectedTraceTest : public testing::Test {
protected:
  /// In pieces, as it comes.
  void describe(const std::string &text) {
    for (size_t at = 0; at < text.size(); at += 100'000)
      trace_.describe(std::string_view(text).substr(at, 100'000));
    trace_.end_description();
  }
  std::string refusal(const std::string &text) {
    try {
      describe(text);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }
  std::string kept() const {
    std::ifstream file(trace_.path() + "/trace.json");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  test::TempDir dir_;
  CollectedTrace trace_{dir_.path(), "app", 0, 1};
};

std::string with_text(size_t size) {
  return "{\"format\": \"ovnitrace\", \"long\": \"" + std::string(size, 'x') + "\"}";
}
std::string with_depth(size_t depth) {
  return "{\"deep\":" + std::string(depth, '[') + std::string(depth, ']') +
         ", \"format\": \"ovnitrace\"}";
}

TEST_F(CollectedTraceTest, TakesADescription) {
  std::string list = "{\"threads\": [0";
  for (int n = 0; n < 300'000; n++)
    list += ", {\"name\": \"\\u00e9\", \"tid\": -1.5e3, \"alive\": null}";
  list += "], \"format\": \"ovnitrace\"}\n";
  for (const std::string &text : {std::string("{\"format\": \"ovnitrace\", \"version\": 1}"),
                                  with_text(1'000'000), with_depth(63), list}) {
    EXPECT_EQ(refusal(text), "");
    EXPECT_EQ(kept(), text);
  }
}

TEST_F(CollectedTraceTest, KeepsTheOneBeforeWhereAnotherIsNone) {
  const std::string good = with_text(10);
  describe(good);
  for (const std::string &text :
       {std::string("["), good.substr(0, good.size() - 1), good + "x",
        std::string("{\"format\": \"ovnitrace\", \"a\": \"\xff\"}"), std::string("\0", 1),
        with_depth(64), with_text(2 << 20), with_text(10) + std::string(2 << 20, ' ') + "x"}) {
    EXPECT_NE(refusal(text).find("it is no JSON"), std::string::npos) << text.substr(0, 100);
    EXPECT_EQ(kept(), good);
  }
  for (const char *text :
       {"{}", "[]", "1", "\"ovnitrace\"", "[\"format\", \"ovnitrace\"]", "{\"format\": \"other\"}",
        "{\"format\": 1, \"a\": \"ovnitrace\"}", "{\"format\": [\"ovnitrace\"]}",
        "{\"a\": {\"format\": \"ovnitrace\"}}"}) {
    EXPECT_NE(refusal(text).find("is not ovnitrace"), std::string::npos) << text;
    EXPECT_EQ(kept(), good);
  }
  EXPECT_FALSE(std::filesystem::exists(trace_.path() + "/.trace.json.new"));
}

} // namespace
} // namespace ovnitrace
