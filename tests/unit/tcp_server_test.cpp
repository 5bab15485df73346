// SPDX-License-Identifier: BSD-2-Clause
// Senders over TCP that a collector serves at once, over the loopback: user/net/tcp_server. Time is
// what the test says.
#include "tests/unit/support/memory_sink.h"
#include "user/net/tcp_link.h"
#include "user/net/tcp_server.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <list>
#include <memory>

namespace ovnitrace {
namespace {

constexpr uint64_t kSecond = 1'000'000'000; // ns

class TcpServerTest : public testing::Test {
protected:
  explicit TcpServerTest(const std::optional<PresharedKey> &key = {}) : key_(key) {}
  /// What a sender sends and gets, in the tests' own words.
  struct Sender {
    UniqueFd fd;
    MessageParser parser;
  };

  /// `host`: the last number of the address 127.0.0.…
  UniqueFd connected(uint32_t host = 1) const {
    return open_socket(parse_endpoint("", server_.address()), "send to", [&](const addrinfo &to) {
      UniqueFd fd(socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_in from = {};
      from.sin_family = AF_INET;
      from.sin_addr.s_addr = htonl(0x7f000000 | host);
      EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr *>(&from), sizeof from), 0);
      EXPECT_EQ(::connect(fd.get(), to.ai_addr, to.ai_addrlen), 0);
      const int on = 1; // what is sent is there at once
      EXPECT_EQ(setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), 0);
      return fd;
    });
  }
  Sender &connect() {
    senders_.push_back({.fd = connected(), .parser = {}});
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
    const std::string bytes = write_message(type, payload);
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

  const std::optional<PresharedKey> key_;
  test::MemoryStore store_;
  std::vector<std::string> told_;
  TcpServer server_{{.transport = Endpoint::kTcp, .host = "127.0.0.1", .port = 0},
                    key_,
                    2,
                    store_.maker(),
                    [this](const std::string &line) { told_.push_back(line); }};
  std::list<Sender> senders_;
  uint64_t now_ = 1000 * kSecond;
};

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

// A connection that cannot be taken must not keep the server awake.
TEST_F(TcpServerTest, WaitsForASecondIfNoDescriptorIsFree) {
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

TEST_F(TcpServerTest, GivesEachStepItsTime) {
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
TEST_F(TcpServerTest, ARefusedConnectionStaysOpenForFiveSeconds) {
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

TEST_F(TcpServerTest, ASilentConnectionHasTenSecondsToIdentifyItself) {
  Sender &sender = connect();
  pass(10 * kSecond);
  EXPECT_EQ(heard(sender).second, "nothing");
  pass(1);
  EXPECT_EQ(heard(sender).second, "it did not identify itself in time");
}

TEST_F(TcpServerTest, ATraceMustBeDescribedWithinAMinute) {
  Sender &sender = identify("slow");
  heard(sender);
  pass(60 * kSecond);
  EXPECT_EQ(heard(sender).second, "nothing");
  pass(1);
  EXPECT_EQ(heard(sender).second, "it did not describe its trace in time");
}

// A sender may be silent for long, and its machine may be gone.
TEST_F(TcpServerTest, AConnectionIsKeptAlive) {
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
    put_number<uint64_t>(end, 0);
    put_number(end, missing);
    say(sender, MessageType::end, end);
    EXPECT_EQ(server_.incomplete(), missing != 0);
  }
  EXPECT_TRUE(reported("memory/app0 is complete: 0 bytes"));
  EXPECT_TRUE(reported("memory/app1: error: 1 event is missing"));
  EXPECT_FALSE(reported("memory/app1 is complete"));
}

class TcpServerTlsTest : public TcpServerTest {
protected:
  TcpServerTlsTest() : TcpServerTest(kKey) {}
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
