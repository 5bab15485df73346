// SPDX-License-Identifier: BSD-2-Clause
// Where unwind information says that functions are: user/control/bodies.
#include "user/control/bodies.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace::control {
namespace {

template <class Value> std::string raw(Value value) {
  return {reinterpret_cast<const char *>(&value), sizeof(value)};
}

/// An entry of .eh_frame, with its length.
std::string entry(const std::string &content) {
  return raw(uint32_t(content.size())) + content;
}

/// A common entry, and a function with these words behind it.
std::vector<Body> bodies_of(const std::string &common, const std::string &function) {
  const std::string frames = entry(raw(0u) + common);
  return bodies_of_frames(frames + entry(raw(uint32_t(frames.size() + 4)) + function), 0x10000);
}

TEST(ControlBodies, AddressesAreReadInEachEncoding) {
  const std::vector<Body> at = {{0x500, 0x520}};
  const std::string eight = raw(uint64_t(0x500)) + raw(uint64_t(0x20)),
                    four = raw(0x500u) + raw(0x20u);
  const auto common = [](char encoding) { return std::string("\1zR\0\1\x78\x10\1", 8) + encoding; };
  for (const char encoding : {'\x00', '\x04', '\x0c'})
    EXPECT_EQ(bodies_of(common(encoding), eight), at) << int(encoding);
  for (const char encoding : {'\x03', '\x0b'})
    EXPECT_EQ(bodies_of(common(encoding), four), at) << int(encoding);
  for (const char encoding : {'\x01', '\x02', '\x0a', '\x50', '\xff', '\x83'})
    EXPECT_EQ(bodies_of(common(encoding), eight), std::vector<Body>()) << int(encoding);
  // The signed one of 32 bits counts from its place: behind 17 bytes of the common entry.
  EXPECT_EQ(bodies_of(common('\x1b'), raw(-0x10) + raw(0x20u)),
            (std::vector<Body>{{0x10000 + 17 + 8 - 0x10, 0x10000 + 17 + 8 + 0x10}}));
  EXPECT_EQ(bodies_of(common('\x03'), raw(0xfffffff0u) + raw(0x20u)),
            (std::vector<Body>{{0xfffffff0, 0x100000010}}));
  EXPECT_EQ(bodies_of(common('\x0b'), raw(0xfffffff0u) + raw(8u)),
            (std::vector<Body>{{0xfffffffffffffff0, 0xfffffffffffffff8}}));
  EXPECT_EQ(bodies_of(common('\x00'), raw(uint64_t(0)) + raw(uint64_t(1))), std::vector<Body>());
}

TEST(ControlBodies, TheEncodingIsBehindWhatElseTheCommonEntryHas) {
  const std::vector<Body> at = {{0x500, 0x520}};
  const std::string eight = raw(uint64_t(0x500)) + raw(uint64_t(0x20)),
                    four = raw(0x500u) + raw(0x20u);
  const auto text = [](std::string_view bytes) { return std::string(bytes); };
  using namespace std::string_view_literals;
  EXPECT_EQ(bodies_of(text("\1\0\1\x78\x10"sv), eight), at) << "no augmentation: whole addresses";
  EXPECT_EQ(bodies_of(text("\1eh\0\1\x78\x10"sv), eight), std::vector<Body>());
  EXPECT_EQ(bodies_of(text("\1z\0\1\x78\x10\0"sv), eight), at);
  // A register of two bytes: of version 3, and numbers of several bytes.
  EXPECT_EQ(bodies_of(text("\3zR\0\x81\1\xff\x78\x90\1\1\3"sv), four), at);
  EXPECT_EQ(bodies_of(text("\1zR\0\1\x78\x90\1\3"sv), four), at) << "one byte, of version 1";
  EXPECT_EQ(bodies_of(text("\1zLR\0\1\x78\x10\2\x1b\3"sv), four), at);
  EXPECT_EQ(bodies_of(text("\1zPLR\0\1\x78\x10\7\x9b\1\2\3\4\x1b\3"sv), four), at);
  EXPECT_EQ(bodies_of(text("\1zPR\0\1\x78\x10\x0a\0\1\2\3\4\5\6\7\x08\3"sv), four), at);
  EXPECT_EQ(bodies_of(text("\1zPR\0\1\x78\x10\7\x01\1\2\3\4\3"sv), four), std::vector<Body>())
      << "the personality has no length that is known";
}

} // namespace
} // namespace ovnitrace::control
