// SPDX-License-Identifier: BSD-2-Clause
// A large JSON object, written while it is made.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace ovnitrace {

/// "schema" of every JSON object that ovnitrace prints. Additions do not change it.
inline constexpr uint32_t kJsonSchema = 1;

/// Writes an object member by member, and an array in it element by element; all is laid out as
/// dump(2) or dump() of nlohmann's JSON does it. In memory is one value at a time. Bytes that are
/// no UTF-8, as names can have them, are replaced.
class JsonStream {
public:
  using Json = nlohmann::ordered_json;
  using Write = std::function<void(std::string_view)>;

  explicit JsonStream(Write write, bool one_line = false)
      : write_(std::move(write)), one_line_(one_line) {}

  void member(std::string_view key, const Json &value);
  /// Then come its elements, and end_array().
  void start_array(std::string_view key);
  void element(const Json &value);
  void end_array();
  /// Of the object, with a line break.
  void end();

private:
  std::string line(size_t depth) const;
  std::string next(bool &first, size_t depth) const;
  std::string dumped(const Json &value, size_t depth) const;
  void key(std::string_view key);

  Write write_;
  const bool one_line_;
  bool first_ = true;         ///< of the object
  bool first_element_ = true; ///< of the array
};

} // namespace ovnitrace
