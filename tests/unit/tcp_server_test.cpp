// SPDX-License-Identifier: BSD-2-Clause
// Senders over TCP that a collector serves at once, over the loopback: user/net/tcp_server.
#include "tests/unit/support/tcp_server_rig.h"
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <future>

namespace ovnitrace {
namespace {

using test::kSecond;

class TcpServerTest : public test::TcpServerRig {};

TEST_F(TcpServerTest, RefusesSendersAboveTheLimit) {
  EXPECT_EQ(heard(serve("one")), accepted("one"));
  Sender &two = serve("two");
  EXPECT_EQ(heard(two), accepted("two"));
  const auto [type, why] = heard(identify("three"));
  EXPECT_EQ(type, uint32_t(MessageType::refuse));
  EXPECT_EQ(why, "2 senders are being served, no more are allowed (--max-senders)");
  EXPECT_FALSE(store_.traces.count("three")) << "nothing is made for it";
  two.fd = UniqueFd();
  turn();
  EXPECT_EQ(heard(serve("four")), accepted("four")) << "a place is free";
}

// Those who only say who they are keep nobody out, at once and not after a time.
TEST_F(TcpServerTest, IsNotBlockedByConnectionsThatOnlyIdentify) {
  for (int n = 0; n < 64; n++)
    identify("idle" + std::to_string(n));
  EXPECT_EQ(heard(serve("honest")), accepted("honest"));
  EXPECT_TRUE(reported("sends; written to memory/honest"));
  EXPECT_TRUE(store_.traces.at("idle0").discarded) << "the oldest made room";
  EXPECT_FALSE(store_.traces.at("idle1").discarded);
  EXPECT_NE(heard(senders_.front()).first, 0u);
  EXPECT_EQ(heard(senders_.front()).second, "another connection needed its place");
}

// A host that only connects keeps nobody out, however early it came.
TEST_F(TcpServerTest, TheHostWithMostConnectionsMakesRoom) {
  const auto connect_from = [&](uint32_t host, const std::string &name) {
    senders_.push_back({.fd = connected(host), .parser = {}});
    const std::string bytes = write_message(MessageType::identify, write_identify(name));
    EXPECT_EQ(send(senders_.back().fd.get(), bytes.data(), bytes.size(), 0), ssize_t(bytes.size()));
  };
  connect_from(3, "early");
  connect_from(2, "other0");
  connect_from(2, "other1");
  for (int n = 0; n < 61; n++)
    connect_from(4, "many" + std::to_string(n));
  turn();
  EXPECT_EQ(told_.size(), 0u) << "64 have room";
  connect_from(3, "last");
  turn();
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_EQ(told_[0], "memory/many0: error: another connection needed its place");
  for (const char *name : {"early", "other0", "other1", "many1", "last"})
    EXPECT_FALSE(store_.traces.at(name).discarded) << name;
}

TEST_F(TcpServerTest, ReportsTenErrorsOfStrangersAndNoSumIfTheseAreAll) {
  for (int n = 0; n < 10; n++)
    connect();
  server_.finish();
  ASSERT_EQ(told_.size(), 10u);
  EXPECT_TRUE(told_[0].starts_with("127.0.0.1:")) << told_[0];
  EXPECT_TRUE(told_[8].ends_with(": error: the collector was stopped")) << told_[8];
  EXPECT_TRUE(
      told_[9].ends_with(": error: the collector was stopped; more of this is only counted"))
      << told_[9];
  EXPECT_FALSE(server_.incomplete()) << "there was no trace";
}

TEST_F(TcpServerTest, ReportsWhereATraceGoesAndWhatBecameOfIt) {
  Sender &whole = serve("whole"), &cut = serve("cut");
  for (Sender *sender : {&whole, &whole, &cut})
    say_record(*sender);
  heard(cut); // else its end would be a reset
  std::string end;
  put_number<uint64_t>(end, 32);
  put_number<uint64_t>(end, 0);
  say(whole, MessageType::end, end);
  EXPECT_FALSE(server_.incomplete());
  cut.fd = UniqueFd();
  turn();
  EXPECT_TRUE(server_.incomplete());
  ASSERT_EQ(told_.size(), 4u);
  EXPECT_TRUE(told_[0].starts_with("127.0.0.1:")) << told_[0];
  EXPECT_TRUE(told_[0].ends_with(" sends; written to memory/whole")) << told_[0];
  EXPECT_TRUE(told_[1].ends_with(" sends; written to memory/cut")) << told_[1];
  EXPECT_EQ(told_[2], "memory/whole is complete: 32 bytes");
  EXPECT_EQ(told_[3], "memory/cut: error: the sender disconnected before the end; what had come is "
                      "readable");
}

// Only what strangers can cause is limited.
TEST_F(TcpServerTest, ReportsWhatIsWrongWithEachTrace) {
  for (int n = 0; n < 12; n++) {
    Sender &sender = serve("cut" + std::to_string(n));
    heard(sender); // else its end would be a reset
    sender.fd = UniqueFd();
    turn();
  }
  server_.finish();
  ASSERT_EQ(told_.size(), 24u);
  for (int n = 0; n < 12; n++)
    EXPECT_EQ(told_[size_t(2 * n + 1)],
              "memory/cut" + std::to_string(n) +
                  ": error: the sender disconnected before the end; what had come is readable");
}

// Otherwise nobody else would be served while a fast sender sends.
TEST_F(TcpServerTest, TakesAFewHundredKilobytesOfASenderAtATime) {
  Sender &fast = serve("fast");
  constexpr size_t kMessage = 16 << 10, kAll = 512 * kMessage;
  std::string all;
  while (all.size() < kAll)
    all += write_message(MessageType::records, std::string(4, 0), std::string(kMessage, 'r'));
  std::future<ssize_t> sent = std::async(std::launch::async, [&, fd = fast.fd.get()] {
    return send(fd, all.data(), all.size(), MSG_NOSIGNAL);
  });
  const auto taken = [&] { return store_.traces["fast"].files[{0, Codec::none}].size(); };
  for (size_t before = 0; before < kAll; before = taken()) {
    std::vector<pollfd> polls;
    server_.add(polls);
    EXPECT_EQ(poll(polls.data(), polls.size(), 60'000), 1);
    server_.handle(polls, now_);
    // Twice what is read at once, and what came of a message before.
    EXPECT_LE(taken() - before, (512u << 10) + kMessage);
  }
  EXPECT_EQ(sent.get(), ssize_t(all.size()));
}

// A connection for which there is nothing to do must not keep the server awake.
TEST_F(TcpServerTest, WaitsForInputOnly) {
  heard(serve("quiet"));
  std::vector<pollfd> polls;
  server_.add(polls);
  ASSERT_EQ(polls.size(), 2u);
  for (const pollfd &one : polls)
    EXPECT_EQ(one.events, POLLIN);
}

// A sender that does not read gets its answer when it has made room for it.
TEST_F(TcpServerTest, WaitsForRoomForWhatItSays) {
  Sender &slow = connect();
  const auto waits_at = [&] {
    std::vector<pollfd> polls;
    server_.add(polls);
    return polls.at(1);
  };
  const std::string hello = write_message(MessageType::identify, write_identify("slow"));
  ASSERT_EQ(send(slow.fd.get(), hello.data(), hello.size(), 0), ssize_t(hello.size()));
  pollfd full = waits_at();
  ASSERT_EQ(poll(&full, 1, 60'000), 1);
  const int least = 1; // it does not grow
  ASSERT_EQ(setsockopt(full.fd, SOL_SOCKET, SO_SNDBUF, &least, sizeof least), 0);
  // Fills what the system keeps for the sender, to the last byte.
  const std::string other(4096, 'x');
  full.events = POLLOUT;
  for (int rounds = 0; rounds < 3; rounds++) {
    for (const size_t size : {other.size(), size_t(1)})
      while (send(full.fd, other.data(), size, MSG_DONTWAIT) > 0)
        rounds = 0;
    poll(&full, 1, 1);
  }
  turn();
  EXPECT_EQ(waits_at().events, POLLIN | POLLOUT);
  std::string got;
  for (int n = 0; n < 10'000 && !got.ends_with("memory/slow"); n++) {
    std::string bytes(1 << 20, '\0');
    const ssize_t size = recv(slow.fd.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    got.append(bytes, 0, size_t(std::max<ssize_t>(size, 0)));
    turn();
  }
  EXPECT_TRUE(got.ends_with("memory/slow"));
  EXPECT_EQ(waits_at().events, POLLIN);
}

TEST_F(TcpServerTest, TellsItsSendersThatItStops) {
  Sender &served = serve("served");
  heard(served);
  server_.finish();
  EXPECT_EQ(heard(served),
            std::pair(uint32_t(MessageType::refuse), std::string("the collector was stopped")));
  EXPECT_EQ(heard(served), std::pair(0u, std::string("closed")));
  EXPECT_TRUE(reported("memory/served: error: the collector was stopped"));
  EXPECT_TRUE(server_.incomplete());
}

TEST_F(TcpServerTest, LimitsTheReportsAboutConnections) {
  for (int n = 0; n < 200; n++)
    connect();
  server_.finish();
  EXPECT_EQ(told_.size(), 11u);
  EXPECT_TRUE(reported("more of this is only counted"));
  EXPECT_EQ(told_.back(), "error: 200 such errors in all");
}

TEST_F(TcpServerTest, IsIncompleteIfOneTraceIs) {
  for (const int n : {0, 1, 2}) {
    Sender &sender = serve("app" + std::to_string(n));
    std::string end;
    put_number<uint64_t>(end, 0);
    put_number<uint64_t>(end, n == 1);
    say(sender, MessageType::end, end);
    EXPECT_EQ(server_.incomplete(), n >= 1) << n;
  }
  EXPECT_TRUE(reported("memory/app0 is complete: 0 bytes"));
  EXPECT_TRUE(reported("memory/app1: error: 1 event is missing"));
  EXPECT_FALSE(reported("memory/app1 is complete"));
  EXPECT_TRUE(reported("memory/app2 is complete: 0 bytes"));
}

} // namespace
} // namespace ovnitrace
