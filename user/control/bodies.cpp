// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/bodies.h"

#include "user/control/image.h"
#include "user/control/scan.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace ovnitrace::control {

namespace {

constexpr size_t kMostBodies = 4 << 20;

/// Reads values from bytes, in order. After a read past the end, all values are 0.
class Bytes {
public:
  explicit Bytes(std::string_view left) : left_(left) {}
  template <class Value> Value take() {
    Value value = 0;
    if (left_.size() < sizeof(value)) {
      left_ = {};
      return 0;
    }
    std::memcpy(&value, left_.data(), sizeof(value));
    left_.remove_prefix(sizeof(value));
    return value;
  }
  void skip_leb128() {
    while (take<uint8_t>() & 0x80) {
    }
  }
  std::string_view string() {
    const std::string_view text = left_.substr(0, left_.find('\0'));
    left_.remove_prefix(std::min(left_.size(), text.size() + 1));
    return text;
  }
  std::string_view rest() const { return left_; }

private:
  std::string_view left_;
};

// How an address is encoded (LSB, DWARF extensions).
constexpr uint8_t kOmitted = 0xff, kRelative = 0x10;

/// Returns the bytes of an encoded address; 0 if there is no function of that encoding to be read.
size_t size_of(uint8_t encoding) {
  switch (encoding & ~kRelative) {
  case 0x00: // absptr, udata8, sdata8
  case 0x04:
  case 0x0c:
    return 8;
  case 0x03: // udata4, sdata4
  case 0x0b:
    return 4;
  default:
    return 0;
  }
}

uint64_t take_address(Bytes &bytes, uint8_t encoding) {
  if (size_of(encoding) == 8)
    return bytes.take<uint64_t>();
  const auto value = bytes.take<uint32_t>();
  return encoding & 0x08 ? uint64_t(int64_t(int32_t(value))) : value;
}

/// Returns the pointer encoding (DW_EH_PE_…) that a CIE gives its FDEs; kOmitted: not known.
uint8_t encoding_of(Bytes common) {
  const auto version = common.take<uint8_t>();
  const std::string_view augmentation = common.string();
  common.skip_leb128(); // alignment of code, of data
  common.skip_leb128();
  if (version == 1)
    common.take<uint8_t>(); // register of the return address
  else
    common.skip_leb128();
  if (!augmentation.starts_with('z'))
    return augmentation.empty() ? 0 : kOmitted;
  common.skip_leb128();
  for (const char what : augmentation.substr(1))
    if (what == 'R') {
      return common.take<uint8_t>();
    } else if (what == 'L') {
      common.take<uint8_t>();
    } else if (what == 'P') {
      const auto personality = uint8_t(common.take<uint8_t>() & 0x7f); // which may be indirect
      if (!size_of(personality))
        return kOmitted;
      take_address(common, personality);
    }
  return 0;
}

/// Returns an address up to `address` at which an instruction begins: decoding from there reaches
/// `address`. REQUIRES: `address` is in `part`.
uint64_t known_start(const Image &image, const Code &part, uint64_t address) {
  uint64_t start = part.address;
  const auto behind =
      std::upper_bound(image.bodies.begin(), image.bodies.end(), Body{address, UINT64_MAX});
  for (auto at = behind; at != image.bodies.begin();) {
    --at;
    if (address < at->end)
      return std::max(start, at->start);
    start = std::max(start, at->end);
    if (behind - at > 64) // functions do not overlap, but for the names of their parts
      break;
  }
  return start;
}

} // namespace

std::vector<Body> bodies_of_frames(std::string_view bytes, uint64_t address) {
  std::vector<Body> bodies;
  std::map<size_t, uint8_t> encodings; // by offset of the common entry
  for (size_t at = 0; at < bytes.size() && bodies.size() < kMostBodies;) {
    Bytes entry(bytes.substr(at));
    const auto length = entry.take<uint32_t>();
    if (length == 0 || length > entry.rest().size()) // the end; 64 bits, which no compiler writes
      break;
    entry = Bytes(entry.rest().substr(0, length));
    const size_t body = at + sizeof(uint32_t);
    at = body + length;
    const auto common = entry.take<uint32_t>();
    if (common == 0) {
      encodings[body - sizeof(uint32_t)] = encoding_of(entry);
      continue;
    }
    const auto found = encodings.find(body - common);
    if (found == encodings.end() || !size_of(found->second))
      continue;
    const uint64_t here = address + body + sizeof(uint32_t);
    uint64_t start = take_address(entry, found->second);
    if (found->second & kRelative)
      start += here;
    const uint64_t size =
        size_of(found->second) == 8 ? entry.take<uint64_t>() : entry.take<uint32_t>();
    if (start && size && start + size > start)
      bodies.push_back({start, start + size});
  }
  return bodies;
}

std::optional<uint64_t> instruction_at(const Image &image, uint64_t address) {
  for (const Code &part : image.code) {
    if (address < part.address || address - part.address >= part.bytes.size())
      continue;
    for (uint64_t at = known_start(image, part, address); at <= address;) {
      const unsigned length = instruction_length(image.bytes_at(at, kLongestInstruction));
      if (!length)
        return {};
      if (address < at + length)
        return at;
      at += length;
    }
  }
  return {};
}

} // namespace ovnitrace::control
