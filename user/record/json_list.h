// SPDX-License-Identifier: BSD-2-Clause
// Writes lists of trace.json one element at a time, because they can be long.
#pragma once

#include "user/chunk/trace_directory.h"

#include <nlohmann/json.hpp>

#include <string>

namespace ovnitrace {

/// Names are bytes that programs chose: what is not UTF-8 is replaced.
inline std::string json_text(const nlohmann::ordered_json &json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// A member of trace.json that is a list, after a comma, with an element a line. Its destructor
/// ends it.
class JsonList {
public:
  /// `put` outlives it.
  JsonList(const char *name, const Put &put) : put_(put) {
    put_(",\n \"");
    put_(name);
    put_("\": [");
  }
  ~JsonList() { put_("\n ]"); }
  JsonList(const JsonList &) = delete;
  JsonList &operator=(const JsonList &) = delete;

  void add(const nlohmann::ordered_json &element) {
    put_(first_ ? "\n  " : ",\n  ");
    put_(json_text(element, -1));
    first_ = false;
  }

private:
  const Put &put_;
  bool first_ = true;
};

} // namespace ovnitrace
