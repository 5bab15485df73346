// SPDX-License-Identifier: BSD-2-Clause
// The messages in which a capture is sent to a collector: user/net/tcp_target.
#include "user/net/tcp_target.h"

#include "emulator/base/error.h"
#include "tests/unit/support/chunks.h"
#include "tests/unit/support/fake_collector.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {
namespace {

using test::FakeCollector;

struct Taken {
  MessageType type;
  std::string payload;
  bool operator==(const Taken &) const = default;
};

/// Accepts a sender and keeps what it says.
class KeepingCollector {
public:
  /// `taken` is complete when it has ended. `more`: how many bytes more than were sent it says to
  /// have written.
  explicit KeepingCollector(std::vector<Taken> &taken, uint64_t more = 0)
      : taken_(taken), more_(more) {}
  Endpoint endpoint() const { return collector_.endpoint(); }

private:
  void talk(int fd) {
    FakeCollector::say(fd, MessageType::accept, "there");
    MessageParser parser;
    parser.allow_large();
    char bytes[65536];
    for (ssize_t got; (got = recv(fd, bytes, sizeof bytes, 0)) > 0;) {
      parser.feed({bytes, size_t(got)});
      while (const auto message = parser.next()) {
        taken_.push_back({message->type, std::string(message->payload)});
        if (message->type == MessageType::end) {
          std::string done;
          put_number(done, get_number<uint64_t>(message->payload, 0) + more_);
          FakeCollector::say(fd, MessageType::done, done);
        }
      }
    }
  }

  std::vector<Taken> &taken_;
  const uint64_t more_;
  FakeCollector collector_{[this](int fd) { talk(fd); }};
};

std::string numbers(uint64_t one, uint64_t two) {
  std::string text;
  put_number(text, one);
  put_number(text, two);
  return text;
}

std::string bytes_of(const Chunk &chunk) {
  return {reinterpret_cast<const char *>(chunk.records.data()),
          chunk.records.size() * sizeof(ftrace_record)};
}

TEST(TcpTarget, SendsTheDescriptionTheChunksAndHowManyBytesTheyAre) {
  const Chunk chunk = test::event_chunk(3, 0, 100, 5), other = test::event_chunk(4, 0, 200, 2);
  std::vector<Taken> taken;
  {
    KeepingCollector collector(taken);
    TcpTarget target(collector.endpoint(), {}, "app", 0, {});
    EXPECT_EQ(target.place(), collector.endpoint().text() + " as there");
    target.prepare([](const Put &put) {
      put("{1");
      put("}");
    });
    EXPECT_EQ(target.output().write(chunk), 0u);
    EXPECT_EQ(target.output().write(other), 0u);
    EXPECT_EQ(target.output().error(), "");
    target.end([](const Put &put) { put("{2}"); }, 7);
    EXPECT_TRUE(target.may_stall());
  }
  const std::string bytes = bytes_of(chunk), more = bytes_of(other);
  EXPECT_EQ(taken,
            (std::vector<Taken>{{MessageType::identify, write_identify("app")},
                                {MessageType::description, "{1}"},
                                {MessageType::description_end, ""},
                                {MessageType::records, std::string("\3\0\0\0", 4) + bytes},
                                {MessageType::records, std::string("\4\0\0\0", 4) + more},
                                {MessageType::description, "{2}"},
                                {MessageType::description_end, ""},
                                {MessageType::end, numbers(bytes.size() + more.size(), 7)}}));
}

TEST(TcpTarget, CutsALongDescriptionIntoPieces) {
  std::vector<Taken> taken;
  std::string text;
  {
    KeepingCollector collector(taken);
    TcpTarget target(collector.endpoint(), {}, "app", 0, {});
    const std::string half(kMostPiece / 2, 'a');
    const std::string pieces[] = {half, half, std::string(2 * kMostPiece + 1, 'b'), "c"};
    target.prepare([&](const Put &put) {
      for (const std::string &piece : pieces)
        put(piece);
    });
    for (const std::string &piece : pieces)
      text += piece;
  }
  std::vector<size_t> sizes;
  std::string got;
  for (const Taken &one : taken)
    if (one.type == MessageType::description) {
      sizes.push_back(one.payload.size());
      got += one.payload;
    }
  EXPECT_EQ(sizes, (std::vector<size_t>{kMostPiece, kMostPiece, kMostPiece, 1, 1}));
  EXPECT_TRUE(got == text);
}

TEST(TcpTarget, SendsAFileOfFramesIfItIsCompressed) {
  const Chunk chunk = test::event_chunk(3, 0, 100, 500);
  std::vector<Taken> taken;
  {
    KeepingCollector collector(taken);
    TcpTarget target(collector.endpoint(), {}, "app", 1, {});
    EXPECT_EQ(target.output().write(chunk), 0u);
    target.end([](const Put &put) { put("{}"); }, 0);
  }
  ASSERT_EQ(taken.size(), 5u);
  EXPECT_EQ(taken[1].type, MessageType::zstd_records);
  EXPECT_LT(taken[1].payload.size(), bytes_of(chunk).size() / 2);
  EXPECT_EQ(taken[4].payload, numbers(taken[1].payload.size() - 4, 0)) << "without the CPU";
}

TEST(TcpTarget, IsAnErrorIfLessIsWrittenThanWasSent) {
  std::vector<Taken> taken;
  KeepingCollector collector(taken, 1);
  TcpTarget target(collector.endpoint(), {}, "app", 0, {});
  try {
    target.end([](const Put &put) { put("{}"); }, 0);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.what(), collector.endpoint().text() + " has not written all that was sent");
  }
}

TEST(TcpTarget, TellsTheCollectorThatNothingComes) {
  std::vector<Taken> taken;
  {
    KeepingCollector collector(taken);
    TcpTarget target(collector.endpoint(), {}, "app", 0, {});
    target.discard();
  }
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[1], (Taken{MessageType::refuse, "the capture never began"}));
}

TEST(TcpTarget, AfterAFailureItTakesNothingMore) {
  const Chunk chunk = test::event_chunk(3, 0, 100, 5);
  std::vector<Taken> taken;
  std::string why, at_the_end, refused;
  {
    KeepingCollector collector(taken);
    TcpTarget target(collector.endpoint(), {}, "app", 0, {});
    target.end_by(0);
    EXPECT_EQ(target.output().write(chunk), chunk.records.size());
    why = target.output().error();
    refused = "cannot send to " + collector.endpoint().text() +
              ": the capture has ended, and its rest could not be sent in time";
    target.end_by(UINT64_MAX);
    EXPECT_EQ(target.output().write(chunk), chunk.records.size());
    try {
      target.end([](const Put &put) { put("{}"); }, 0);
    } catch (const Error &error) {
      at_the_end = error.what();
    }
    target.discard();
  }
  EXPECT_EQ(why, refused);
  EXPECT_EQ(at_the_end, refused);
  EXPECT_EQ(taken.size(), 1u);
}

} // namespace
} // namespace ovnitrace
