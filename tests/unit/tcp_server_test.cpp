// SPDX-License-Identifier: BSD-2-Clause
// Senders over TCP that a collector serves at once, over the loopback: user/net/tcp_server. Time is
// what the test says.
#include "tests/unit/support/memory_sink.h"
#include "user/net/tcp_link.h"
#include "user/net/tcp_server.h"

#include <gtest/gtest.h>

#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <list>
#include <memory>

namespace ovnitrace {
namespace {

constexpr uint64_t kSecond = 1'000'000'000; // ns

class TcpServerTest : public testing::Test {
protected:
  /// What a sender sends and gets, in the tests' own words.
  struct Sender {
    UniqueFd fd;
    MessageWriter writer;
    MessageParser parser;
  };

  static UniqueFd connect_to(const std::string &address) {
    const Endpoint endpoint = parse_endpoint("", address);
    return open_socket(endpoint, "send to", [](const addrinfo &to) {
      UniqueFd fd(socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
      EXPECT_EQ(::connect(fd.get(), to.ai_addr, to.ai_addrlen), 0);
      const int on = 1; // what is sent is there at once
      EXPECT_EQ(setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), 0);
      return fd;
    });
  }
  Sender &connect() {
    senders_.push_back({.fd = connect_to(server_.address()), .writer = {}, .parser = {}});
    turn();
    return senders_.back();
  }
  /// The server does what is to be done now, until nothing more is.
  void turn() {
    for (int quiet = 0; quiet < 2;) {
      std::vector<pollfd> polls;
      server_.add(polls);
      quiet = poll(polls.data(), polls.size(), 1) > 0 ? 0 : quiet + 1;
      server_.handle(polls, now_);
    }
  }
  void pass(uint64_t time) {
    now_ += time;
    turn();
  }
  void say(Sender &sender, MessageType type, std::string_view payload) {
    const std::string_view bytes = sender.writer.write(type, payload);
    ASSERT_EQ(send(sender.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              ssize_t(bytes.size()));
    turn();
  }
  void say_record(Sender &sender) {
    say(sender, MessageType::records, std::string("\0\0\0\0", 4) + std::string(16, 'r'));
  }
  Sender &identify(const std::string &name) {
    Sender &sender = connect();
    say(sender, MessageType::identify, write_identify(name));
    return sender;
  }
  void describe(Sender &sender) {
    say(sender, MessageType::description, "{}");
    say(sender, MessageType::description_end, "");
  }
  Sender &serve(const std::string &name) {
    Sender &sender = identify(name);
    describe(sender);
    return sender;
  }
  /// Returns the type and text of the next message that it got; 0 and why if it got no message.
  static std::pair<uint32_t, std::string> heard(Sender &sender) {
    char bytes[1000];
    const ssize_t got = recv(sender.fd.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got > 0)
      sender.parser.feed({bytes, size_t(got)});
    const std::optional<Message> message = sender.parser.next();
    if (message)
      return {uint32_t(message->type), std::string(message->payload)};
    return {0, got == 0 ? "closed" : "nothing"};
  }
  bool reported(const std::string &what) const {
    return std::any_of(told_.begin(), told_.end(),
                       [&](const auto &line) { return line.find(what) != line.npos; });
  }
  static std::pair<uint32_t, std::string> accepted(const std::string &name) {
    return {uint32_t(MessageType::accept), "memory/" + name};
  }

  test::MemoryStore store_;
  std::vector<std::string> told_;
  TcpServer server_{{.transport = Endpoint::kTcp, .host = "127.0.0.1", .port = 0},
                    {},
                    2,
                    store_.maker(),
                    [this](const std::string &line) { told_.push_back(line); }};
  std::list<Sender> senders_;
  uint64_t now_ = 1000 * kSecond;
};

TEST_F(TcpServerTest, ServesAsManySendersAsItMay) {
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

TEST_F(TcpServerTest, BoundsWhatItReportsOfOneHost) {
  for (int n = 0; n < 200; n++)
    connect();
  server_.finish();
  EXPECT_EQ(told_.size(), 11u);
  EXPECT_TRUE(reported("further errors of this host are only counted"));
  EXPECT_EQ(told_.back(), "127.0.0.1: error: 200 connections failed");
}

TEST_F(TcpServerTest, GivesEachStepItsTime) {
  connect();
  Sender &named = identify("named"), &served = serve("served");
  EXPECT_EQ(heard(named), accepted("named"));
  pass(11 * kSecond);
  EXPECT_TRUE(reported("it did not say who it is in time"));
  EXPECT_FALSE(reported("it did not describe its trace in time"));
  pass(50 * kSecond);
  EXPECT_TRUE(reported("memory/named: error: it did not describe its trace in time"));
  EXPECT_EQ(heard(named).first, uint32_t(MessageType::refuse));
  EXPECT_TRUE(store_.traces.at("named").discarded);
  // A program may do nothing for long.
  pass(100'000 * kSecond);
  say_record(served);
  EXPECT_EQ(store_.traces.at("served").files.at({0, false}).size(), 16u);
  pass(10 * kSecond);
  EXPECT_EQ(heard(named), std::pair(0u, std::string("closed")));
}

// Whatever it has sent before: a record costs an idler nothing.
TEST_F(TcpServerTest, GivesThePlaceOfTheLongestSilentSenderToAnother) {
  Sender &silent = serve("silent"), &busy = serve("busy");
  heard(silent), heard(busy);
  say_record(busy);
  pass(30 * kSecond);
  say_record(silent);
  pass(kSecond);
  say_record(busy);
  pass(59 * kSecond);
  EXPECT_EQ(heard(identify("early")).first, uint32_t(MessageType::refuse));
  pass(2 * kSecond); // now both are silent for more than a minute, but not for as long
  EXPECT_EQ(heard(serve("late")), accepted("late"));
  EXPECT_EQ(heard(silent).second, "it sent nothing for 62 s, and another sender gets its place");
  EXPECT_EQ(heard(busy), std::pair(0u, std::string("nothing")));
  say_record(busy);
  EXPECT_EQ(heard(identify("later")).first, uint32_t(MessageType::refuse)) << "it sends again";
  EXPECT_EQ(heard(busy), std::pair(0u, std::string("nothing")));
}

// What one of two could not know when it was accepted.
TEST_F(TcpServerTest, RefusesASenderThatDescribesItsTraceTooLate) {
  serve("one");
  Sender &two = identify("two"), &three = identify("three");
  heard(two), heard(three);
  describe(two);
  describe(three);
  EXPECT_EQ(heard(two), std::pair(0u, std::string("nothing")));
  EXPECT_NE(heard(three).second.find("no more are allowed"), std::string::npos);
}

TEST_F(TcpServerTest, IsIncompleteIfOneTraceIs) {
  for (const uint64_t missing : {0, 1}) {
    Sender &sender = serve("app" + std::to_string(missing));
    std::string end;
    put_u64(end, 0);
    put_u64(end, missing);
    say(sender, MessageType::end, end);
    EXPECT_EQ(server_.incomplete(), missing != 0);
  }
  EXPECT_TRUE(reported("memory/app0 is complete: 0 bytes"));
  EXPECT_TRUE(reported("memory/app1: error: 1 event is missing"));
  EXPECT_FALSE(reported("memory/app1 is complete"));
}

// A handshake that stops in the middle is a step like others.
TEST(TcpServerTls, EndsAHandshakeThatStalls) {
  test::MemoryStore store;
  std::vector<std::string> reported;
  TcpServer server({.transport = Endpoint::kTcp, .host = "127.0.0.1", .port = 0},
                   preshared_key("0123456789abcdef"), 2, store.maker(),
                   [&](const std::string &line) { reported.push_back(line); });
  const UniqueFd fd = open_socket(parse_endpoint("", server.address()), "", [](const addrinfo &to) {
    UniqueFd fd(socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(fd.get(), to.ai_addr, to.ai_addrlen), 0);
    return fd;
  });
  uint64_t now = kSecond;
  const auto turn = [&] {
    for (int n = 0; n < 3; n++) {
      std::vector<pollfd> polls;
      server.add(polls);
      poll(polls.data(), polls.size(), 20);
      server.handle(polls, now);
    }
  };
  turn();
  ASSERT_EQ(send(fd.get(), "\x16\x03\x01\x02", 4, 0), 4); // half a header of a record
  turn();
  EXPECT_TRUE(reported.empty());
  now += 11 * kSecond;
  turn();
  ASSERT_EQ(reported.size(), 1u);
  EXPECT_NE(reported[0].find("it did not say who it is in time"), std::string::npos) << reported[0];
  now += 6 * kSecond;
  turn();
  char byte;
  EXPECT_LE(recv(fd.get(), &byte, 1, MSG_DONTWAIT), 0);
  std::vector<pollfd> polls;
  server.add(polls);
  EXPECT_EQ(polls.size(), 1u) << "it is closed";
}

// A sender that has the key and describes its trace slowly is not pushed out by those without it.
TEST(TcpServerTls, KeepsSendersWithTheKeyHoweverManyConnect) {
  test::MemoryStore store;
  const PresharedKey key = preshared_key("0123456789abcdef");
  TcpServer server({.transport = Endpoint::kTcp, .host = "127.0.0.1", .port = 0}, key, 1,
                   store.maker(), [](const std::string &) {});
  const Endpoint endpoint = parse_endpoint("", server.address());
  const auto turn = [&] {
    std::vector<pollfd> polls;
    server.add(polls);
    poll(polls.data(), polls.size(), 1);
    server.handle(polls, kSecond);
  };
  const auto serve_until_over = [&](const auto &future) {
    for (int n = 0;
         n < 10'000 && future.wait_for(std::chrono::seconds(0)) != std::future_status::ready; n++)
      turn();
  };
  auto honest = std::async(std::launch::async,
                           [&] { return std::make_unique<TcpLink>(endpoint, key, "honest"); });
  serve_until_over(honest);
  const std::unique_ptr<TcpLink> link = honest.get();
  std::vector<UniqueFd> half_open;
  for (int n = 0; n < 200; n++) {
    half_open.push_back(open_socket(endpoint, "", [](const addrinfo &to) {
      UniqueFd fd(socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
      EXPECT_EQ(::connect(fd.get(), to.ai_addr, to.ai_addrlen), 0);
      return fd;
    }));
    turn();
  }
  link->send(MessageType::description, "{}");
  link->send(MessageType::description_end, "");
  for (int n = 0; n < 1000 && store.traces["honest"].description.empty(); n++)
    turn();
  EXPECT_EQ(store.traces["honest"].description, "{}");
  EXPECT_FALSE(store.traces["honest"].discarded);
}

// Its program may do nothing for long, and only who has the key asks for its place.
TEST(TcpServerTls, KeepsASenderThatHasSentAChunkHoweverLongItIsSilent) {
  test::MemoryStore store;
  const PresharedKey key = preshared_key("0123456789abcdef");
  TcpServer server({.transport = Endpoint::kTcp, .host = "127.0.0.1", .port = 0}, key, 1,
                   store.maker(), [](const std::string &) {});
  const Endpoint endpoint = parse_endpoint("", server.address());
  uint64_t now = kSecond;
  const auto serve_until = [&](const std::function<bool()> &done) {
    for (int n = 0; n < 10'000 && !done(); n++) {
      std::vector<pollfd> polls;
      server.add(polls);
      poll(polls.data(), polls.size(), 1);
      server.handle(polls, now);
    }
  };
  const auto is_over = [](const auto &future) {
    return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  auto one = std::async(std::launch::async, [&] {
    auto link = std::make_unique<TcpLink>(endpoint, key, "one");
    link->send(MessageType::description, "{}");
    link->send(MessageType::description_end, "");
    link->send(MessageType::records, std::string("\0\0\0\0", 4) + std::string(16, 'r'));
    return link;
  });
  serve_until([&] { return is_over(one) && !store.traces["one"].files.empty(); });
  ASSERT_EQ(store.traces["one"].files.size(), 1u);
  now += 100'000 * kSecond;
  auto two = std::async(std::launch::async, [&] {
    try {
      TcpLink(endpoint, key, "two");
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  });
  serve_until([&] { return is_over(two); });
  EXPECT_NE(two.get().find("no more are allowed"), std::string::npos);
}

} // namespace
} // namespace ovnitrace
