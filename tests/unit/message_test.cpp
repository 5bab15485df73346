// SPDX-License-Identifier: BSD-2-Clause
// Messages in a stream of bytes: user/net/message.
#include "emulator/base/error.h"
#include "tests/unit/support/error_from.h"
#include "user/net/message.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

/// What feeding these bytes ends with; empty: no error.
std::string error_of(MessageParser &parser, std::string_view bytes) {
  return test::error_from([&] {
    parser.feed(bytes);
    while (parser.next()) {
    }
  });
}

TEST(Message, ComesOutAsItWentInHoweverTheBytesAreCut) {
  std::string stream(write_message(MessageType::records, "abcd", "0123456789abcdef"));
  stream += write_message(MessageType::description_end, "");
  stream += write_message(MessageType::end, "12345678");
  for (size_t step = 1; step <= stream.size(); step++) {
    MessageParser parser;
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

// Before a byte of it is kept.
TEST(Message, MustNotClaimMoreThanIsAllowed) {
  std::string header;
  put_number(header, uint32_t(MessageType::records));
  put_number<uint32_t>(header, kMostEarlyPayload + 1);
  MessageParser early, late, greedy;
  EXPECT_NE(error_of(early, header).find("claims 1025 bytes"), std::string::npos);
  late.allow_large();
  EXPECT_EQ(error_of(late, header), "");
  greedy.allow_large();
  header.resize(4);
  put_number<uint32_t>(header, kMostPayload + 1);
  EXPECT_NE(error_of(greedy, header).find("claims"), std::string::npos);
}

TEST(Message, UnknownTypesAreRefused) {
  for (uint32_t type : {0u, 10u, 0x20544547u}) { // "GET "
    std::string header;
    put_number(header, type);
    put_number<uint32_t>(header, 0);
    MessageParser parser;
    EXPECT_NE(error_of(parser, header).find("not a message of ovnitrace"), std::string::npos)
        << type;
  }
}

TEST(Message, IdentifiesASenderOfThisVersion) {
  EXPECT_EQ(read_identify(write_identify("app-1")), "app-1");
  EXPECT_EQ(read_identify(write_identify("")), "");
  std::string other = write_identify("app");
  other[16] = 3;
  const auto error = [](const std::string &payload) {
    try {
      read_identify(payload);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error(other), "the sender speaks version 3 of the protocol, the collector 2");
  EXPECT_EQ(error(write_identify("").substr(0, 19)), "it is not a sender of ovnitrace");
  EXPECT_EQ(error(std::string(100, 'x')), "it is not a sender of ovnitrace");
}

// The bytes on the wire: docs/network.md.
TEST(Message, IsItsTypeItsSizeAndItsPayloadInLittleEndian) {
  EXPECT_EQ(write_message(MessageType::records, "ab", "c"), std::string("\5\0\0\0\3\0\0\0abc", 11));
  EXPECT_EQ(write_message(MessageType::refuse, std::string(258, 'x')).substr(0, 9),
            std::string("\11\0\0\0\2\1\0\0x", 9));
  EXPECT_EQ(write_identify("app"), std::string("ovnitrace-send\r\n\2\0\0\0app", 23));
  const MessageType types[] = {MessageType::identify,    MessageType::accept,
                               MessageType::description, MessageType::description_end,
                               MessageType::records,     MessageType::zstd_records,
                               MessageType::end,         MessageType::done,
                               MessageType::refuse};
  std::string numbers;
  for (const MessageType type : types)
    numbers += write_message(type, "")[0];
  EXPECT_EQ(numbers, "\1\2\3\4\5\6\7\10\11");
  std::string number;
  put_number<uint32_t>(number, 0x01020304);
  EXPECT_EQ(number, "\4\3\2\1");
  EXPECT_EQ(get_number<uint16_t>("\1\2\3\4", 1), 0x0302);
}

TEST(Message, SaysWhatIsWrongWithIt) {
  const auto refusal = [](uint32_t type, uint32_t size, bool large) {
    std::string header;
    put_number(header, type);
    put_number(header, size);
    MessageParser parser;
    if (large)
      parser.allow_large();
    return error_of(parser, header);
  };
  EXPECT_EQ(refusal(10, 0, false), "the data is not a message of ovnitrace (type 10)");
  EXPECT_EQ(refusal(5, 1025, false), "a message claims 1025 bytes, at most 1024 are allowed");
  EXPECT_EQ(refusal(5, 1024, false), "");
  EXPECT_EQ(refusal(5, (1 << 20) + 5, true),
            "a message claims 1048581 bytes, at most 1048580 are allowed");
  EXPECT_EQ(refusal(5, (1 << 20) + 4, true), "") << "1 MiB and the CPU";
}

TEST(Message, IsTakenUpToItsGreatestSize) {
  MessageParser parser;
  EXPECT_EQ(
      error_of(parser, write_message(MessageType::identify, std::string(kMostEarlyPayload, 'x'))),
      "");
  EXPECT_NE(error_of(parser,
                     write_message(MessageType::identify, std::string(kMostEarlyPayload + 1, 'x'))),
            "");
}

} // namespace
} // namespace ovnitrace
