// SPDX-License-Identifier: BSD-2-Clause
// Reads protocol buffers without their description, as their public encoding says.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace::test {

/// The fields of one message. Throws std::runtime_error if the bytes are not one.
class Proto {
public:
  explicit Proto(std::string_view bytes) {
    while (!bytes.empty()) {
      const uint64_t key = varint(bytes);
      Field field{key >> 3, 0, {}};
      switch (key & 7) {
      case 0:
        field.number = varint(bytes);
        break;
      case 2: {
        const uint64_t size = varint(bytes);
        check(size <= bytes.size(), "a field is cut off");
        field.bytes = bytes.substr(0, size);
        bytes.remove_prefix(size);
        break;
      }
      default:
        check(false, "a wire type that nobody writes");
      }
      check(field.id != 0, "field 0");
      fields_.push_back(field);
    }
  }

  bool has(uint64_t id) const {
    for (const Field &field : fields_)
      if (field.id == id)
        return true;
    return false;
  }
  uint64_t number(uint64_t id) const { return last(id).number; } ///< 0: there is none
  std::string text(uint64_t id) const { return std::string(last(id).bytes); }
  Proto message(uint64_t id) const { return Proto(last(id).bytes); }
  std::vector<Proto> messages(uint64_t id) const {
    std::vector<Proto> all;
    for (const Field &field : fields_)
      if (field.id == id)
        all.emplace_back(field.bytes);
    return all;
  }
  std::vector<std::string> texts(uint64_t id) const {
    std::vector<std::string> all;
    for (const Field &field : fields_)
      if (field.id == id)
        all.emplace_back(field.bytes);
    return all;
  }
  /// The numbers of a repeated field that is not packed.
  std::vector<uint64_t> each_number(uint64_t id) const {
    std::vector<uint64_t> all;
    for (const Field &field : fields_)
      if (field.id == id)
        all.push_back(field.number);
    return all;
  }
  /// The numbers of a packed field.
  std::vector<uint64_t> numbers(uint64_t id) const {
    std::vector<uint64_t> all;
    for (std::string_view bytes = last(id).bytes; !bytes.empty();)
      all.push_back(varint(bytes));
    return all;
  }

private:
  struct Field {
    uint64_t id, number;
    std::string_view bytes;
  };

  static void check(bool holds, const char *what) {
    if (!holds)
      throw std::runtime_error(what);
  }
  static uint64_t varint(std::string_view &bytes) {
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      check(!bytes.empty(), "a number is cut off");
      const auto byte = uint8_t(bytes.front());
      bytes.remove_prefix(1);
      number |= uint64_t(byte & 0x7f) << (shift % 64);
      if (byte < 0x80)
        return number;
    }
    throw std::runtime_error("a number of more than 10 bytes");
  }
  Field last(uint64_t id) const {
    for (size_t n = fields_.size(); n-- > 0;)
      if (fields_[n].id == id)
        return fields_[n];
    return {id, 0, {}};
  }

  std::vector<Field> fields_;
};

} // namespace ovnitrace::test
