// SPDX-License-Identifier: BSD-2-Clause
// Datagrams of the tracer's format.
#include "tests/unit/support/datagram_bytes.h"
#include "user/net/datagram.h"

#include <gtest/gtest.h>

#include <cstring>

namespace ovnitrace {
namespace {

using test::bytes_of;
using test::datagram_of;

std::string why_not(std::string_view bytes) {
  const char *why = nullptr;
  return parse_datagram(bytes, why) ? "" : why;
}

// The manual's: a header of 24 bytes, then records.
TEST(Datagram, HasTheTracersHeader) {
  const std::string bytes = std::string("TRACER-V1.0\0\4\3\2\1\2\0\0\0\70\0\0\0", 24) +
                            bytes_of(datagram_of(0x01020304, 2)).substr(24);
  ASSERT_EQ(bytes.size(), 24u + 2 * 16);
  const char *why = nullptr;
  const auto back = parse_datagram(bytes, why);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->number, 0x01020304u);
  EXPECT_EQ(bytes_of(*back), bytes);
}

TEST(Datagram, IsRefusedIfAnyFieldIsWrong) {
  const std::string good = bytes_of(datagram_of(7, 3));
  EXPECT_EQ(why_not(good), "");
  EXPECT_EQ(why_not(bytes_of(datagram_of(7, 0))), "");
  EXPECT_EQ(why_not(""), "shorter than its header");
  EXPECT_EQ(why_not(good.substr(0, 23)), "shorter than its header");
  EXPECT_EQ(why_not(good.substr(0, good.size() - 1)), "of another length than it says");
  EXPECT_EQ(why_not(good + "x"), "of another length than it says");
  const auto changed = [&](size_t at, uint32_t value) {
    std::string bytes = good;
    memcpy(bytes.data() + at, &value, 4);
    return why_not(bytes);
  };
  EXPECT_EQ(changed(0, 0), "not of the tracer");
  EXPECT_EQ(changed(8, 0), "not of the tracer");
  EXPECT_EQ(changed(12, 0), "without a number");
  for (uint32_t count : {0u, 2u, 4u, 61u, 0x10000003u, UINT32_MAX})
    EXPECT_EQ(changed(16, count), "of another number of events than it says") << count;
  for (uint32_t size : {0u, 24u, 73u, UINT32_MAX})
    EXPECT_EQ(changed(20, size), "of another length than it says") << size;
  std::string long_one = bytes_of(datagram_of(7, 60));
  EXPECT_EQ(why_not(long_one), "") << "as many as there can be";
  const uint32_t count = 61, size = 24 + 61 * 16;
  memcpy(long_one.data() + 16, &count, 4);
  memcpy(long_one.data() + 20, &size, 4);
  EXPECT_EQ(why_not(long_one + std::string(16, 0)), "of another number of events than it says");
}

} // namespace
} // namespace ovnitrace
