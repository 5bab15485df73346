// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/bounded_json.h"

#include "emulator/base/printable.h"
#include "emulator/base/small_file.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <istream>
#include <streambuf>
#include <utility>
#include <vector>

namespace ovnitrace {

namespace {

using nlohmann::json;

constexpr bool kStrict = true, kComments = true;

/// The bytes of a file. Ends where a token is too long, because the parser keeps it in memory.
class FileBytes final : public std::streambuf {
public:
  FileBytes(int file, const std::string &path) : file_(file), path_(path) {}
  void begin_token() { token_ = 0; }
  bool given_up() const { return given_up_; }

private:
  static constexpr size_t kLongestToken = 1 << 20;

  int_type underflow() override {
    token_ += bytes_.size();
    given_up_ = given_up_ || token_ > kLongestToken + bytes_.size();
    const size_t got = given_up_ ? 0 : read_whole(file_, at_, bytes_.data(), bytes_.size(), path_);
    if (got == 0)
      return traits_type::eof();
    at_ += got;
    setg(bytes_.data(), bytes_.data(), bytes_.data() + got);
    return traits_type::to_int_type(bytes_[0]);
  }

  const int file_;
  const std::string &path_;
  std::array<char, 64 << 10> bytes_;
  uint64_t at_ = 0;  ///< offset of what is read next
  size_t token_ = 0; ///< bytes since its start
  bool given_up_ = false;
};

/// Makes the value from tokens and stops at the first one that is not allowed. (The library's own
/// parser with a callback scans all members of an array after each of them.)
class Builder final : public nlohmann::json_sax<json> {
public:
  /// `bytes`: what the parser reads, or a null pointer for a text in memory.
  Builder(FileBytes *bytes, const JsonFileBounds &bounds, json &result, std::string &why)
      : bytes_(bytes), bounds_(bounds), result_(result), why_(why) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t &) override { return add(value); }
  bool string(string_t &value) override { return add(std::move(value)); }
  bool binary(binary_t &) override { return fail("has binary data"); }
  bool start_object(size_t) override { return open(json::object()); }
  bool start_array(size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t &name) override {
    begin_token();
    if (depth_ == 1)
      left_out_ = bounds_.left_out.contains(name);
    if (left_out_ && depth_ > 1)
      return true;
    if (!members_[depth_].insert(name).second)
      return fail("has the member \"" + printable_line(name) + "\" twice");
    name_ = std::move(name);
    return true;
  }
  bool parse_error(size_t, const std::string &, const json::exception &error) override {
    return fail(bytes_ && bytes_->given_up() ? "has a text above 1 MiB"
                                             : "is no JSON: " + printable_line(error.what()));
  }

private:
  void begin_token() {
    if (bytes_)
      bytes_->begin_token();
  }
  bool fail(const std::string &why) {
    why_ = why;
    return false;
  }

  bool add(json &&value) {
    begin_token();
    if (left_out_)
      return true;
    if (++values_ > bounds_.max_values)
      return fail("has more than " + std::to_string(bounds_.max_values) + " values");
    if (open_.empty())
      last_ = &(result_ = std::move(value));
    else if (open_.back()->is_array())
      last_ = &open_.back()->emplace_back(std::move(value));
    else
      last_ = &((*open_.back())[name_] = std::move(value));
    return true;
  }

  bool open(json &&value) {
    if (depth_ == kJsonDepthMax)
      return fail("is nested deeper than " + std::to_string(kJsonDepthMax) + " levels");
    if (!add(std::move(value)))
      return false;
    depth_++;
    members_.resize(std::max(members_.size(), depth_ + 1));
    members_[depth_].clear();
    if (!left_out_)
      open_.push_back(last_);
    return true;
  }

  bool close() {
    begin_token();
    if (--depth_ == 0)
      left_out_ = false; // the end of all
    if (!left_out_)
      open_.pop_back();
    return true;
  }

  FileBytes *const bytes_;
  const JsonFileBounds &bounds_;
  json &result_;
  std::string &why_;
  size_t depth_ = 0;                           ///< open arrays and objects
  std::vector<json *> open_;                   ///< the open ones that are kept
  json *last_ = nullptr;                       ///< the value that was added last
  std::string name_;                           ///< of the next member
  std::vector<std::set<std::string>> members_; ///< so far, of the open object at each depth
  size_t values_ = 0;
  bool left_out_ = false; ///< the member of the outermost object that is being read
};

} // namespace

bool parse_json(const std::string &text, size_t max_values, json &result, std::string &why) {
  const JsonFileBounds bounds = {0, max_values, {}};
  Builder builder(nullptr, bounds, result, why);
  return json::sax_parse(text, &builder, json::input_format_t::json, kStrict, kComments);
}

bool read_json_file(const std::string &path, const JsonFileBounds &bounds, json &result,
                    std::string &why) {
  const UniqueFd file = open_small_file(path, bounds.max_bytes, why, Links::refuse);
  if (!file)
    return false;
  FileBytes bytes(file.get(), path);
  std::istream stream(&bytes);
  result = nullptr;
  Builder builder(&bytes, bounds, result, why);
  if (json::sax_parse(stream, &builder, json::input_format_t::json, kStrict, kComments))
    return true;
  why.insert(0, "it ");
  return false;
}

uint64_t number_of(const nlohmann::json &json, const char *key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_number_unsigned() ? it->get<uint64_t>() : 0;
}

std::string text_of(const nlohmann::json &json, const char *key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_string() ? printable_line(it->get_ref<const std::string &>())
                                             : std::string();
}

bool flag_of(const nlohmann::json &json, const char *key, bool otherwise) {
  const auto it = json.find(key);
  return it != json.end() && it->is_boolean() ? it->get<bool>() : otherwise;
}

const nlohmann::json &array_of(const nlohmann::json &json, const char *key) {
  static const nlohmann::json none = nlohmann::json::array();
  const auto it = json.find(key);
  return it != json.end() && it->is_array() ? *it : none;
}

} // namespace ovnitrace
