// SPDX-License-Identifier: BSD-2-Clause
// Plain connections and those in TLS, and sides that do not fit: user/net/secure_channel.
#include "emulator/base/error.h"
#include "tests/unit/support/error_from.h"
#include "user/net/secure_channel.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>

#include <string>

namespace ovnitrace {
namespace {

using Key = std::optional<PresharedKey>;
const Key kNoKey, kKey = preshared_key("0123456789abcdef"),
                  kOther = preshared_key("0123456789abcdeg");

/// Two channels on one connection, driven alternately.
struct Pair {
  Pair(const Key &sender_key, const Key &collector_key) {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    sender.emplace(UniqueFd(fds[0]), SecureChannel::Side::sender, sender_key);
    collector.emplace(UniqueFd(fds[1]), SecureChannel::Side::collector, collector_key);
  }
  /// One step of a side: what it ends with; empty: no error.
  static std::string step(SecureChannel &channel, bool &done) {
    return test::error_from([&] { done = channel.handshake(); });
  }
  /// Both errors.
  std::pair<std::string, std::string> handshake() {
    bool done[2] = {};
    std::string sent, taken;
    for (int n = 0; n < 100 && !(done[0] && done[1]); n++) {
      if (sent.empty())
        sent = step(*sender, done[0]);
      if (taken.empty())
        taken = step(*collector, done[1]);
    }
    EXPECT_TRUE((done[0] && done[1]) || !sent.empty() || !taken.empty()) << "it ends";
    return {sent, taken};
  }
  static std::string read(SecureChannel &channel) {
    char bytes[100];
    const std::optional<size_t> got = channel.receive(bytes);
    return got ? std::string(bytes, *got) : "nothing";
  }
  /// What is on the wire towards the collector.
  std::string wire() {
    std::string bytes(100'000, '\0');
    const ssize_t got = recv(collector->fd(), bytes.data(), bytes.size(), MSG_PEEK);
    bytes.resize(got > 0 ? size_t(got) : 0);
    return bytes;
  }
  std::optional<SecureChannel> sender, collector;
};

TEST(TcpChannel, PassesBytesBothWays) {
  for (const Key &key : {kNoKey, kKey}) {
    Pair pair(key, key);
    EXPECT_EQ(pair.handshake(), std::pair(std::string(), std::string()));
    EXPECT_EQ(Pair::read(*pair.collector), "nothing");
    EXPECT_EQ(pair.sender->send("to the collector"), 16u);
    EXPECT_EQ(pair.wire().find("to the collector") == std::string::npos, key.has_value())
        << "encrypted with a key only";
    EXPECT_EQ(Pair::read(*pair.collector), "to the collector");
    EXPECT_EQ(pair.collector->send("and back"), 8u);
    EXPECT_EQ(Pair::read(*pair.sender), "and back");
    pair.sender->close();
    pair.sender.reset();
    EXPECT_EQ(Pair::read(*pair.collector), "") << "closed";
  }
}

TEST(TcpChannel, BothSidesFindAWrongKey) {
  Pair pair(kOther, kKey);
  const auto [sent, taken] = pair.handshake();
  EXPECT_EQ(sent.find("wrong key: the collector does not have the sender's"), 0u) << sent;
  EXPECT_EQ(taken.find("wrong key: the sender does not have the collector's"), 0u) << taken;
}

// A side that alone has the key learns only that, in words if the other one speaks no TLS.
TEST(TcpChannel, HasNoPlainTextFallBack) {
  Pair keyless(kNoKey, kKey);
  EXPECT_EQ(keyless.sender->send("identify"), 8u);
  EXPECT_NE(keyless.handshake().second.find("only senders with its key"), std::string::npos);
  EXPECT_EQ(keyless.collector->send("refuse"), 6u);
  EXPECT_EQ(Pair::read(*keyless.sender), "refuse");

  Pair keyed(kKey, kNoKey);
  bool done = false;
  EXPECT_EQ(Pair::step(*keyed.sender, done), "");
  EXPECT_THROW(Pair::read(*keyed.collector), Error);
  EXPECT_EQ(keyed.collector->send("refuse"), 6u);
  EXPECT_NE(Pair::step(*keyed.sender, done).find("the collector has no key"), std::string::npos);
  EXPECT_FALSE(done);
}

TEST(TcpChannel, RefusesDataThatWasChangedOnTheWay) {
  constexpr size_t kHeader = 5; // of a record of TLS; behind it every byte counts
  for (size_t flipped = kHeader; flipped < 30; flipped += 3) {
    Pair pair(kKey, kKey);
    pair.handshake();
    pair.sender->send("to the collector");
    std::string bytes = pair.wire();
    ASSERT_GT(bytes.size(), 30u);
    std::string taken(bytes.size(), '\0');
    ASSERT_EQ(recv(pair.collector->fd(), taken.data(), taken.size(), 0), ssize_t(bytes.size()));
    bytes[flipped] ^= 1;
    ASSERT_EQ(::send(pair.sender->fd(), bytes.data(), bytes.size(), 0), ssize_t(bytes.size()));
    EXPECT_THROW(Pair::read(*pair.collector), Error) << flipped;
  }
}

// More than the socket holds: what was not taken goes on where it stopped.
TEST(TcpChannel, GoesOnWhereTheSocketWasFull) {
  for (const Key &key : {kNoKey, kKey}) {
    Pair pair(key, key);
    pair.handshake();
    std::string all;
    for (int n = 0; all.size() < 3'000'000; n++)
      all += std::to_string(n) + " ";
    std::string_view left = all;
    std::string got;
    std::string bytes(20'000, '\0');
    bool was_full = false;
    while (got.size() < all.size()) {
      const size_t sent = left.empty() ? 0 : pair.sender->send(left);
      left.remove_prefix(sent);
      if (sent)
        continue;
      was_full = true;
      const std::optional<size_t> size = pair.collector->receive(bytes);
      ASSERT_TRUE(size.has_value());
      got.append(bytes, 0, *size);
    }
    EXPECT_TRUE(was_full);
    EXPECT_EQ(got, all);
  }
}

// A poll for input would sleep although the rest of the record has been read already.
TEST(TcpChannel, KnowsOfInputThatIsNoLongerInTheSocket) {
  for (const Key &key : {kNoKey, kKey}) {
    Pair pair(key, key);
    pair.handshake();
    pair.sender->send("to the collector");
    EXPECT_FALSE(pair.collector->has_input());
    char first[6];
    EXPECT_EQ(pair.collector->receive(first), 6u);
    EXPECT_EQ(std::string(first, 6), "to the");
    EXPECT_EQ(pair.collector->has_input(), key.has_value());
    EXPECT_EQ(Pair::read(*pair.collector), " collector");
    EXPECT_FALSE(pair.collector->has_input());
  }
}

TEST(TcpChannel, WaitsForRoomIfItHasSomethingToSend) {
  Pair pair(kKey, kKey);
  EXPECT_EQ(pair.collector->waits_for(), POLLIN);
  pair.handshake();
  const std::string much(100'000, 'x');
  for (int n = 0; n < 1000 && pair.sender->send(much); n++)
    ;
  EXPECT_EQ(pair.sender->waits_for(), POLLOUT);
  EXPECT_EQ(pair.collector->waits_for(), POLLIN);
  EXPECT_EQ(Pair(kNoKey, kNoKey).sender->waits_for(), POLLIN);
}

} // namespace
} // namespace ovnitrace
