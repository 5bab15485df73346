// SPDX-License-Identifier: BSD-2-Clause
// Writes a large JSON object piece by piece.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace ovnitrace {

/// The "schema" of every JSON object that ovnitrace prints. Additions do not change it.
inline constexpr uint32_t kJsonSchema = 1;

/// Writes an object member by member, and arrays in it element by element, in the layout of dump(2)
/// or dump() of nlohmann's JSON. Keeps one value in memory. Bytes that are not UTF-8, as in names,
/// are replaced.
class JsonStream {
public:
  using Json = nlohmann::ordered_json;
  using Write = std::function<void(std::string_view)>;

  explicit JsonStream(Write write, bool one_line = false)
      : write_(std::move(write)), one_line_(one_line) {}

  void member(std::string_view key, const Json &value);
  /// Starts an array. Its elements and end_array() must follow.
  void start_array(std::string_view key);
  void element(const Json &value);
  void end_array();
  /// Ends the object, with a line break.
  void end();

private:
  std::string line(size_t depth) const;
  std::string next(bool &first, size_t depth) const;
  std::string dumped(const Json &value, size_t depth) const;
  void key(std::string_view key);

  Write write_;
  const bool one_line_;
  bool first_ = true;         ///< of the object: no member was written
  bool first_element_ = true; ///< of the array: no element was written
};

} // namespace ovnitrace
