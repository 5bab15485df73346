// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/json_stream.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ovnitrace {

namespace {

constexpr int kIndent = 2;

} // namespace

/// Returns the end of a line and the start of the next one.
std::string JsonStream::line(size_t depth) const {
  return one_line_ ? "" : '\n' + std::string(kIndent * depth, ' ');
}

/// Returns what comes before the next value at this depth.
std::string JsonStream::next(bool &first, size_t depth) const {
  return (std::exchange(first, false) ? "" : ",") + line(depth);
}

/// Returns a value at this depth. Texts in it have no line breaks: JSON writes \n.
std::string JsonStream::dumped(const Json &value, size_t depth) const {
  const std::string text =
      value.dump(one_line_ ? -1 : kIndent, ' ', false, Json::error_handler_t::replace);
  std::string deeper;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    deeper.append(text, at, end - at);
    if (end < text.size())
      deeper += line(depth);
    at = end + 1;
  }
  return deeper;
}

void JsonStream::key(std::string_view key) {
  write_(first_ ? "{" : "");
  write_(next(first_, 1) + Json(key).dump() + (one_line_ ? ":" : ": "));
}

void JsonStream::member(std::string_view name, const Json &value) {
  key(name);
  write_(dumped(value, 1));
}

void JsonStream::start_array(std::string_view name) {
  key(name);
  write_("[");
  first_element_ = true;
}

void JsonStream::element(const Json &value) {
  write_(next(first_element_, 2) + dumped(value, 2));
}

void JsonStream::end_array() {
  write_((first_element_ ? "" : line(1)) + "]");
}

void JsonStream::end() {
  write_((first_ ? "{" : line(0)) + "}\n");
}

} // namespace ovnitrace
