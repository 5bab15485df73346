// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/json_text.h"

#include "emulator/base/printable.h"

#include <nlohmann/json.hpp>

#include <set>
#include <vector>

namespace ovnitrace {

namespace {

using nlohmann::json;

/// Checks a text without keeping it. Stops at the first thing that is not allowed.
class Checker final : public nlohmann::json_sax<json> {
public:
  Checker(size_t max_values, std::string &why) : max_values_(max_values), why_(why) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t &) override { return value(); }
  bool string(string_t &) override { return value(); }
  bool binary(binary_t &) override { return value(); }
  bool start_object(size_t) override { return open(); }
  bool start_array(size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t &name) override {
    return open_.back().insert(name).second ||
           fail("has the member \"" + printable_line(name) + "\" twice");
  }
  bool parse_error(size_t, const std::string &, const json::exception &error) override {
    return fail("is no JSON: " + printable_line(error.what()));
  }

private:
  bool fail(const std::string &why) {
    why_ = why;
    return false;
  }
  bool value() {
    return ++values_ <= max_values_ ||
           fail("has more than " + std::to_string(max_values_) + " values");
  }
  bool open() {
    if (open_.size() == kJsonDepthMax)
      return fail("is nested deeper than " + std::to_string(kJsonDepthMax) + " levels");
    open_.emplace_back();
    return value();
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  size_t max_values_;
  std::string &why_;
  size_t values_ = 0;
  std::vector<std::set<std::string>> open_; ///< the members so far of each open object
};

} // namespace

bool parse_json(const std::string &text, size_t max_values, json &result, std::string &why) {
  constexpr bool kStrict = true, kComments = true, kThrow = false;
  Checker checker(max_values, why);
  if (!json::sax_parse(text, &checker, json::input_format_t::json, kStrict, kComments))
    return false;
  result = json::parse(text, nullptr, kThrow, kComments);
  return true;
}

} // namespace ovnitrace
