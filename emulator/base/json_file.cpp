// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/json_file.h"

#include "emulator/base/json_text.h"
#include "emulator/base/printable.h"
#include "emulator/base/small_file.h"
#include "emulator/base/unique_fd.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <istream>
#include <stdexcept>
#include <streambuf>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace ovnitrace {

namespace {

using nlohmann::json;

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The bytes of a file. Ends where one token becomes too long, as the parser keeps it in memory.
class FileBytes final : public std::streambuf {
public:
  explicit FileBytes(int file) : file_(file) {}
  void begin_token() { token_ = 0; }
  bool given_up() const { return given_up_; }

private:
  static constexpr size_t kLongestToken = 1 << 20;

  int_type underflow() override {
    token_ += bytes_.size();
    given_up_ = given_up_ || token_ > kLongestToken + bytes_.size();
    ssize_t got;
    do
      got = given_up_ ? 0 : read(file_, bytes_.data(), bytes_.size());
    while (got < 0 && errno == EINTR);
    if (got <= 0)
      return traits_type::eof();
    setg(bytes_.data(), bytes_.data(), bytes_.data() + got);
    return traits_type::to_int_type(bytes_[0]);
  }

  const int file_;
  std::array<char, 64 << 10> bytes_;
  size_t token_ = 0; ///< bytes read since its start
  bool given_up_ = false;
};

/// Looks at each token as it comes, and says whether it is kept.
class Filter {
public:
  Filter(FileBytes &bytes, const JsonFileBounds &bounds) : bytes_(bytes), bounds_(bounds) {}

  bool operator()(int depth, json::parse_event_t event, json &parsed) {
    bytes_.begin_token();
    if (size_t(depth) > kJsonDepthMax)
      throw Refused("it is nested deeper than " + std::to_string(kJsonDepthMax) + " levels");
    if (event == json::parse_event_t::key)
      return key(size_t(depth), parsed.get_ref<const std::string &>());
    if (depth == 0)
      left_out_ = false; // the end of all
    if (left_out_)
      return false;
    if (event == json::parse_event_t::object_start) {
      members_.resize(std::max(members_.size(), size_t(depth) + 2));
      members_[size_t(depth) + 1].clear();
    }
    if (event != json::parse_event_t::object_end && event != json::parse_event_t::array_end &&
        ++values_ > bounds_.max_values)
      throw Refused("it holds more than " + std::to_string(bounds_.max_values) + " values");
    return true;
  }

private:
  bool key(size_t depth, const std::string &name) {
    if (depth == 1)
      left_out_ = bounds_.left_out.contains(name);
    if (left_out_ && depth > 1)
      return false;
    if (!members_[depth].insert(name).second)
      throw Refused("it has the member \"" + printable_line(name) + "\" twice");
    return !left_out_;
  }

  FileBytes &bytes_;
  const JsonFileBounds &bounds_;
  std::vector<std::set<std::string>> members_; ///< so far, of the object whose members have a depth
  size_t values_ = 0;
  bool left_out_ = false; ///< the member of the outermost object that is being read
};

} // namespace

bool read_json_file(const std::string &path, const JsonFileBounds &bounds, json &result,
                    std::string &why) {
  // O_NONBLOCK: a FIFO under this name must not hang the reader.
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat st;
  if (!file || fstat(file.get(), &st) != 0) {
    why = "cannot be opened: " + open_failure(errno);
    return false;
  }
  if (!S_ISREG(st.st_mode) || uint64_t(st.st_size) > bounds.max_bytes) {
    why = "is no regular file of at most " + std::to_string(bounds.max_bytes) + " bytes";
    return false;
  }
  FileBytes bytes(file.get());
  std::istream stream(&bytes);
  constexpr bool kThrow = true, kComments = true;
  try {
    Filter filter(bytes, bounds);
    result = json::parse(
        stream,
        [&](int depth, json::parse_event_t event, json &parsed) {
          return filter(depth, event, parsed);
        },
        kThrow, kComments);
    return true;
  } catch (const Refused &refused) {
    why = refused.what();
  } catch (const json::exception &error) {
    why = bytes.given_up() ? "it has a text above 1 MiB"
                           : "it is no JSON: " + printable_line(error.what());
  }
  return false;
}

} // namespace ovnitrace
