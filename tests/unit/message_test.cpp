// SPDX-License-Identifier: BSD-2-Clause
// Messages in a stream of bytes: user/net/message.
#include "emulator/base/error.h"
#include "user/net/message.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

/// What feeding these bytes ends with; empty: no error.
std::string error_of(MessageParser &parser, std::string_view bytes) {
  try {
    parser.feed(bytes);
    while (parser.next()) {
    }
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Message, ComesOutAsItWentInHoweverTheBytesAreCut) {
  const Digest key = random_digest();
  for (bool keyed : {false, true}) {
    MessageWriter writer;
    if (keyed)
      writer.set_key(key);
    std::string stream(writer.write(MessageType::records, "abcd", "0123456789abcdef"));
    stream += writer.write(MessageType::description_end, "");
    stream += writer.write(MessageType::end, "12345678");
    for (size_t step = 1; step <= stream.size(); step++) {
      MessageParser parser;
      if (keyed)
        parser.set_key(key);
      std::vector<std::pair<MessageType, std::string>> got;
      for (size_t at = 0; at < stream.size(); at += step) {
        parser.feed(std::string_view(stream).substr(at, step));
        while (const auto message = parser.next())
          got.emplace_back(message->type, message->payload);
      }
      ASSERT_EQ(got.size(), 3u) << step;
      EXPECT_EQ(got[0], std::pair(MessageType::records, std::string("abcd0123456789abcdef")));
      EXPECT_EQ(got[1], std::pair(MessageType::description_end, std::string()));
      EXPECT_EQ(got[2], std::pair(MessageType::end, std::string("12345678")));
    }
  }
}

// Before a byte of it is kept.
TEST(Message, MustNotClaimMoreThanIsAllowed) {
  std::string header;
  put_u32(header, uint32_t(MessageType::records));
  put_u32(header, kMostEarlyPayload + 1);
  MessageParser early, late, greedy;
  EXPECT_NE(error_of(early, header).find("claims 1025 bytes"), std::string::npos);
  late.allow_large();
  EXPECT_EQ(error_of(late, header), "");
  greedy.allow_large();
  header.resize(4);
  put_u32(header, kMostPayload + 1);
  EXPECT_NE(error_of(greedy, header).find("claims"), std::string::npos);
}

TEST(Message, IsOfAKnownType) {
  for (uint32_t type : {0u, 11u, 0x20544547u}) { // "GET "
    std::string header;
    put_u32(header, type);
    put_u32(header, 0);
    MessageParser parser;
    EXPECT_NE(error_of(parser, header).find("no message of ovnitrace"), std::string::npos) << type;
  }
}

TEST(Message, WithAKeyCannotBeChangedRepeatedLeftOutOrSwapped) {
  const Digest key = random_digest();
  MessageWriter writer;
  writer.set_key(key);
  const std::string one(writer.write(MessageType::records, "the first"));
  const std::string two(writer.write(MessageType::records, "the second"));
  const auto told = [&](const std::string &stream) {
    MessageParser parser;
    parser.set_key(key);
    return error_of(parser, stream);
  };
  EXPECT_EQ(told(one + two), "");
  EXPECT_NE(told(one + one), "");
  EXPECT_NE(told(two), "");
  EXPECT_NE(told(two + one), "");
  for (size_t at = kMessageHeader; at < one.size(); at++) {
    std::string changed = one;
    changed[at] ^= 0x10;
    EXPECT_NE(told(changed), "") << at;
  }
  std::string other_type = one;
  other_type[0] = char(MessageType::compressed);
  EXPECT_NE(told(other_type), "");
  MessageParser other;
  other.set_key(random_digest());
  EXPECT_NE(error_of(other, one), "");
}

} // namespace
} // namespace ovnitrace
