// SPDX-License-Identifier: BSD-2-Clause
// JSON that is written while it is made is what the library makes of the whole.
#include "emulator/base/json_stream.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ovnitrace {
namespace {

using Json = nlohmann::ordered_json;

/// Writes an array of the outermost object element by element, all else at once.
std::string streamed(const Json &object, bool one_line) {
  std::string text;
  JsonStream out([&](std::string_view part) { text += part; }, one_line);
  for (const auto &[key, value] : object.items()) {
    if (!value.is_array()) {
      out.member(key, value);
      continue;
    }
    out.start_array(key);
    for (const Json &element : value)
      out.element(element);
    out.end_array();
  }
  out.end();
  return text;
}

TEST(JsonStream, IsTheTextOfTheWholeObject) {
  const Json objects[] = {
      Json::object(),
      {{"none", Json::array()}},
      {{"nested", {{"a", {1, 2, {{"b", nullptr}}}}, {"empty", Json::object()}}},
       {"array", {1, {{"key", "value"}}, {2, 3}, Json::array(), "text"}},
       {"a \"key\"\n", "a line\nand \\n another\t"},
       {"no UTF-8", "a\xff\xfe"},
       {"last", true}},
  };
  for (const Json &object : objects)
    for (const bool one_line : {false, true})
      EXPECT_EQ(streamed(object, one_line),
                object.dump(one_line ? -1 : 2, ' ', false, Json::error_handler_t::replace) + '\n');
}

} // namespace
} // namespace ovnitrace
