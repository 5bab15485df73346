// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/description_check.h"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace ovnitrace {

namespace {

using Json = nlohmann::json;

constexpr size_t kLongestToken = 1 << 20; // bytes; a text, and the space around it
constexpr unsigned kMaxDepth = 64;        // as readers of trace.json have it

/// Walks through a file. At the end of a token that is too long, or where reading fails, the file
/// is over.
class FileBytes {
public:
  explicit FileBytes(int file) : file_(file) { fill(); }
  bool over() const { return at_ == size_; }
  char byte() const { return bytes_[at_]; }
  void next() {
    at_++;
    if (++token_ > kLongestToken) {
      size_ = at_;
      given_up_ = true;
    } else if (at_ == size_)
      fill();
  }
  void begin_token() { token_ = 0; }
  bool given_up() const { return given_up_; } ///< it was not read to its end

private:
  void fill() {
    const ssize_t got = pread(file_, bytes_.data(), bytes_.size(), off_t(offset_));
    given_up_ = got < 0;
    at_ = 0;
    size_ = got > 0 ? size_t(got) : 0;
    offset_ += size_;
  }
  const int file_;
  std::array<char, 64 << 10> bytes_;
  size_t at_ = 0, size_ = 0, token_ = 0;
  uint64_t offset_ = 0;
  bool given_up_ = false;
};

/// FileBytes for the parser.
struct ByteIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = char;

  FileBytes *bytes = nullptr; ///< null: the end
  char operator*() const { return bytes->byte(); }
  ByteIterator &operator++() {
    bytes->next();
    return *this;
  }
  bool operator==(const ByteIterator &other) const { return ended() == other.ended(); }
  bool operator!=(const ByteIterator &other) const { return !(*this == other); }

private:
  bool ended() const { return !bytes || bytes->over(); }
};

/// Looks at the tokens, keeps none.
class Check final : public nlohmann::json_sax<Json> {
public:
  explicit Check(FileBytes &bytes) : bytes_(bytes) {}
  bool is_ours() const { return ours_; }

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t &) override { return value(); }
  bool string(string_t &text) override {
    ours_ |= top_key_ == "format" && text == "ovnitrace";
    return value();
  }
  bool binary(binary_t &) override { return value(); }
  bool start_object(size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool key(string_t &name) override {
    bytes_.begin_token();
    if (depth_ == 1)
      top_key_ = name;
    return true;
  }
  bool parse_error(size_t, const std::string &, const nlohmann::detail::exception &) override {
    return false;
  }

private:
  bool value() {
    bytes_.begin_token();
    if (depth_ == 1)
      top_key_.clear();
    return true;
  }
  bool open() {
    value();
    return ++depth_ <= kMaxDepth;
  }
  bool close() {
    depth_--;
    return value();
  }

  FileBytes &bytes_;
  std::string top_key_; ///< whose value comes, in the outermost
  unsigned depth_ = 0;
  bool ours_ = false;
};

} // namespace

std::string why_no_description(int file) {
  FileBytes bytes(file);
  Check check(bytes);
  if (!Json::sax_parse(ByteIterator{&bytes}, ByteIterator{}, &check) || bytes.given_up())
    return "it is no JSON, or was cut";
  return check.is_ours() ? "" : "its \"format\" is not ovnitrace";
}

} // namespace ovnitrace
