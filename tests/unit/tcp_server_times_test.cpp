// SPDX-License-Identifier: BSD-2-Clause
// How long a collector waits for its senders over TCP, and for the handshakes of TLS.
#include "tests/unit/support/tcp_server_rig.h"
#include <gtest/gtest.h>

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <chrono>
#include <future>
#include <list>
#include <memory>

namespace ovnitrace {
namespace {

using test::kSecond;

class TcpServerTimes : public test::TcpServerRig {};

// A connection that cannot be taken must not keep the server awake.
TEST_F(TcpServerTimes, WaitsForASecondIfNoDescriptorIsFree) {
  senders_.push_back({.fd = connected(), .parser = {}});
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const UniqueFd free(dup(senders_.back().fd.get()));
  const rlimit none = {.rlim_cur = rlim_t(free.get()), .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0); // all below this one are in use
  std::vector<pollfd> polls;
  server_.add(polls);
  EXPECT_EQ(poll(polls.data(), polls.size(), 10'000), 1);
  server_.handle(polls, now_);
  polls.clear();
  server_.add(polls);
  EXPECT_EQ(poll(polls.data(), polls.size(), 0), 0);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  const auto listens = [&] {
    polls.clear();
    server_.add(polls);
    return polls[0].fd >= 0;
  };
  pass(kSecond - 1);
  EXPECT_FALSE(listens());
  pass(1);
  EXPECT_TRUE(listens());
  say(senders_.back(), MessageType::identify, write_identify("late"));
  EXPECT_EQ(heard(senders_.back()), accepted("late"));
}

TEST_F(TcpServerTimes, GivesEachStepItsTime) {
  connect();
  Sender &named = identify("named"), &served = serve("served");
  EXPECT_EQ(heard(named), accepted("named"));
  pass(11 * kSecond);
  EXPECT_TRUE(reported("it did not identify itself in time"));
  EXPECT_FALSE(reported("it did not describe its trace in time"));
  pass(50 * kSecond);
  EXPECT_TRUE(reported("memory/named: error: it did not describe its trace in time"));
  EXPECT_EQ(heard(named).first, uint32_t(MessageType::refuse));
  EXPECT_TRUE(store_.traces.at("named").discarded);
  // A program may do nothing for long.
  pass(100'000 * kSecond);
  say_record(served);
  EXPECT_EQ(store_.traces.at("served").files.at({0, Codec::none}).size(), 16u);
  pass(10 * kSecond);
  EXPECT_EQ(heard(named), std::pair(0u, std::string("closed")));
}

// Its last words must reach the sender, which then closes the connection.
TEST_F(TcpServerTimes, ARefusedConnectionStaysOpenForFiveSeconds) {
  const auto connections = [&] {
    std::vector<pollfd> polls;
    server_.add(polls);
    return polls.size() - 1;
  };
  Sender &sender = connect();
  pass(9 * kSecond); // the time before its end does not count
  say(sender, MessageType::identify, "no sender");
  EXPECT_EQ(heard(sender).second, "it is not a sender of ovnitrace");
  EXPECT_EQ(heard(sender).second, "closed") << "nothing follows its last word";
  pass(5 * kSecond);
  EXPECT_EQ(connections(), 1u);
  pass(1);
  EXPECT_EQ(connections(), 0u);
}

TEST_F(TcpServerTimes, ASilentConnectionHasTenSecondsToIdentifyItself) {
  Sender &sender = connect();
  pass(10 * kSecond);
  EXPECT_EQ(heard(sender).second, "nothing");
  pass(1);
  EXPECT_EQ(heard(sender).second, "it did not identify itself in time");
}

TEST_F(TcpServerTimes, ATraceMustBeDescribedWithinAMinute) {
  Sender &sender = identify("slow");
  heard(sender);
  pass(60 * kSecond);
  EXPECT_EQ(heard(sender).second, "nothing");
  pass(1);
  EXPECT_EQ(heard(sender).second, "it did not describe its trace in time");
}

// A sender may be silent for long, and its machine may be gone.
TEST_F(TcpServerTimes, AConnectionIsKeptAlive) {
  connect();
  std::vector<pollfd> polls;
  server_.add(polls);
  ASSERT_EQ(polls.size(), 2u);
  const auto option = [&](int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    EXPECT_EQ(getsockopt(polls[1].fd, level, name, &value, &size), 0);
    return value;
  };
  EXPECT_EQ(option(SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPIDLE) +
                option(IPPROTO_TCP, TCP_KEEPINTVL) * option(IPPROTO_TCP, TCP_KEEPCNT),
            120)
      << "seconds until it is noticed";
  EXPECT_EQ(fcntl(polls[1].fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  EXPECT_EQ(fcntl(polls[1].fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK) << "it must not hold the others";
}

// What one of two could not know when it was accepted.
TEST_F(TcpServerTimes, RefusesASenderThatDescribesItsTraceTooLate) {
  serve("one");
  Sender &two = identify("two"), &three = identify("three");
  heard(two), heard(three);
  describe(two);
  describe(three);
  EXPECT_EQ(heard(two), std::pair(0u, std::string("nothing")));
  EXPECT_NE(heard(three).second.find("no more are allowed"), std::string::npos);
}

class TcpServerTlsTest : public test::TcpServerRig {
protected:
  TcpServerTlsTest() : TcpServerRig(kKey) {}
  /// Returns a sender with the key that the server has accepted.
  std::unique_ptr<TcpLink> introduced(const std::string &name) {
    const Endpoint endpoint = parse_endpoint("", server_.address());
    auto link = std::async(std::launch::async,
                           [&] { return std::make_unique<TcpLink>(endpoint, kKey, name); });
    while (link.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
      turn();
    return link.get();
  }
  static const inline PresharedKey kKey = preshared_key("0123456789abcdef");
};

// A handshake that stops in the middle is a step like others.
TEST_F(TcpServerTlsTest, EndsAHandshakeThatStalls) {
  Sender &stalled = connect();
  ASSERT_EQ(send(stalled.fd.get(), "\x16\x03\x01\x02", 4, 0), 4); // half a header of a record
  turn();
  EXPECT_TRUE(told_.empty());
  pass(11 * kSecond);
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_TRUE(reported("it did not identify itself in time")) << told_[0];
  EXPECT_EQ(heard(stalled), std::pair(0u, std::string("closed"))) << "no word can reach it";
  std::vector<pollfd> polls;
  server_.add(polls);
  EXPECT_EQ(polls.size(), 1u) << "it is closed";
}

// A sender that has the key and describes its trace slowly is not pushed out by those without it.
TEST_F(TcpServerTlsTest, KeepsWhoHasTheKeyHoweverManyConnect) {
  const std::unique_ptr<TcpLink> link = introduced("honest");
  for (int n = 0; n < 200; n++)
    connect();
  link->send(MessageType::description, "{}");
  link->send(MessageType::description_end, "");
  for (int n = 0; n < 1000 && store_.traces["honest"].description.empty(); n++)
    turn();
  EXPECT_EQ(store_.traces["honest"].description, "{}");
  EXPECT_FALSE(store_.traces["honest"].discarded);
}

// Those with the key have 64 places of their own.
TEST_F(TcpServerTlsTest, TheOldestOfManyWithTheKeyMakesRoom) {
  std::list<std::unique_ptr<TcpLink>> links;
  for (int n = 0; n < 64; n++)
    links.push_back(introduced("app" + std::to_string(n)));
  EXPECT_TRUE(told_.empty());
  links.push_back(introduced("last"));
  EXPECT_EQ(told_,
            (std::vector<std::string>{"memory/app0: error: another connection needed its place"}));
}

} // namespace
} // namespace ovnitrace
