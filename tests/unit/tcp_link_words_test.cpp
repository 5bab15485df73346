// SPDX-License-Identifier: BSD-2-Clause
// What a sender says of a collector that ends or answers wrongly, and what it takes from one that
// answers rightly: user/net/tcp_link.
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/fake_collector.h"
#include "user/net/tcp_link.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

namespace ovnitrace {
namespace {

using test::FakeCollector;

/// Returns what a sender says of a collector that talks so. Behind "cannot send to ADDRESS: ".
std::string said_of(
    const FakeCollector::Talk &talk, const std::function<void(TcpLink &)> &use = [](TcpLink &) {}) {
  std::string why, start;
  {
    FakeCollector collector(talk);
    start = "cannot send to " + collector.endpoint().text() + ": ";
    why = test::failure_from([&] {
      TcpLink link(collector.endpoint(), {}, "app");
      use(link);
    });
  }
  EXPECT_TRUE(why.starts_with(start)) << why;
  return why.substr(std::min(start.size(), why.size()));
}

void accept(int fd) {
  FakeCollector::say(fd, MessageType::accept, "there");
}

TEST(TcpLinkWords, NobodyListens) {
  UniqueFd socket = listen_on(parse_endpoint("", "tcp://127.0.0.1:0"));
  const std::string address = "tcp://" + local_text(socket.get());
  socket = UniqueFd();
  EXPECT_EQ(test::failure_from([&] { TcpLink(parse_endpoint("", address), {}, "app"); }),
            "cannot send to " + address +
                ": Connection refused; is `ovnitrace collect` running there?");
}

TEST(TcpLinkWords, TheCollectorGoesAway) {
  EXPECT_EQ(said_of([](int fd) { shutdown(fd, SHUT_WR), FakeCollector::wait_until_closed(fd); }),
            "it closed the connection");
  const auto accept_and_end = [](int fd) {
    accept(fd);
    shutdown(fd, SHUT_WR);
    FakeCollector::wait_until_closed(fd);
  };
  EXPECT_EQ(said_of(accept_and_end, [](TcpLink &link) { link.receive(MessageType::done); }),
            "it closed the connection");
  EXPECT_EQ(said_of(accept_and_end,
                    [](TcpLink &link) {
                      for (;;)
                        link.send(MessageType::records, "abcd");
                    }),
            "it closed the connection");
}

TEST(TcpLinkWords, AnotherMessageThanExpected) {
  const auto talk = [](int fd) {
    FakeCollector::say(fd, MessageType::done, "x");
    FakeCollector::wait_until_closed(fd);
  };
  EXPECT_EQ(said_of(talk), "it sent a message of type 8, but type 2 is expected");
  const auto refuse = [](int fd) {
    accept(fd);
    FakeCollector::say(fd, MessageType::refuse, "no room");
    FakeCollector::wait_until_closed(fd);
  };
  EXPECT_EQ(said_of(refuse, [](TcpLink &link) { link.receive(MessageType::done); }),
            "it says: no room");
}

TEST(TcpLinkWords, AfterAnErrorTheConnectionIsClosed) {
  FakeCollector collector([](int fd) {
    accept(fd);
    FakeCollector::wait_until_closed(fd);
  });
  TcpLink link(collector.endpoint(), {}, "app");
  EXPECT_TRUE(link.open());
  EXPECT_EQ(link.collector(), collector.endpoint().text());
  link.end_by(0);
  EXPECT_NE(test::failure_from([&] { link.receive(MessageType::done); }), "");
  EXPECT_FALSE(link.open());
  EXPECT_EQ(test::failure_from([&] { link.send(MessageType::records, "abcd"); }),
            "cannot send to " + link.collector() + ": the connection is closed");
}

// 300 bytes of it: the rest would fill a terminal.
TEST(TcpLinkWords, LongTextsAreCutOff) {
  const std::string text(500, 'x');
  EXPECT_EQ(said_of([&](int fd) {
              FakeCollector::say(fd, MessageType::refuse, text);
              FakeCollector::wait_until_closed(fd);
            }),
            "it says: " + std::string(300, 'x'));
  FakeCollector collector([&](int fd) {
    FakeCollector::say(fd, MessageType::accept, text);
    FakeCollector::wait_until_closed(fd);
  });
  EXPECT_EQ(TcpLink(collector.endpoint(), {}, "app").directory(), std::string(300, 'x'));
}

// Nobody who wants to end a capture is asked any more: end_by() is for that.
TEST(TcpLinkWords, TheCheckIsForTheIntroductionOnly) {
  FakeCollector collector([](int fd) {
    accept(fd);
    FakeCollector::say(fd, MessageType::done, "one");
    FakeCollector::wait_until_closed(fd);
  });
  int checks = 0;
  TcpLink link(collector.endpoint(), {}, "app", [&] { checks++; });
  EXPECT_GT(checks, 0);
  checks = 0;
  EXPECT_EQ(link.receive(MessageType::done), "one");
  link.send(MessageType::records, "abcd");
  EXPECT_EQ(checks, 0);
}

TEST(TcpLinkWords, WhatIsSentArrivesInItsOrder) {
  std::string got;
  {
    FakeCollector collector([&](int fd) {
      accept(fd);
      char bytes[1000];
      for (ssize_t size; (size = recv(fd, bytes, sizeof bytes, 0)) > 0;)
        got.append(bytes, size_t(size));
    });
    TcpLink link(collector.endpoint(), {}, "app");
    link.send(MessageType::records, "first", "second");
    link.send(MessageType::end, "");
  }
  EXPECT_EQ(got, write_message(MessageType::identify, write_identify("app")) +
                     write_message(MessageType::records, "firstsecond") +
                     write_message(MessageType::end, ""));
}

/// The descriptor of this process that is connected to a port of the loopback.
int descriptor_to(uint16_t port) {
  for (int fd = 3; fd < 1000; fd++) {
    sockaddr_in peer = {};
    socklen_t size = sizeof peer;
    if (getpeername(fd, reinterpret_cast<sockaddr *>(&peer), &size) == 0 &&
        peer.sin_family == AF_INET && ntohs(peer.sin_port) == port)
      return fd;
  }
  return -1;
}

// A small message is sent at once, and no program that is started inherits the connection.
TEST(TcpLinkWords, TheConnectionIsForUsAloneAndDoesNotDelay) {
  FakeCollector collector([](int fd) {
    accept(fd);
    FakeCollector::wait_until_closed(fd);
  });
  const TcpLink link(collector.endpoint(), {}, "app");
  const int fd = descriptor_to(collector.endpoint().port);
  ASSERT_GE(fd, 0);
  int no_delay = 0;
  socklen_t size = sizeof no_delay;
  EXPECT_EQ(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, &size), 0);
  EXPECT_EQ(no_delay, 1);
  EXPECT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

// A large message may take longer than a minute if the collector takes a little at a time.
TEST(TcpLinkWords, EachPartThatIsTakenGivesAnotherMinute) {
  FakeCollector collector([](int fd) {
    accept(fd);
    FakeCollector::wait_until_closed(fd);
  });
  constexpr uint64_t kSecond = 1'000'000'000; // ns
  uint64_t time = 0;                          // ns: each look at the clock takes 4 s
  TcpLink link(collector.endpoint(), {}, "app", {}, [&] { return time += 4 * kSecond; });
  const int fd = descriptor_to(collector.endpoint().port), least = 1;
  ASSERT_EQ(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &least, sizeof least), 0);
  const uint64_t begin = time;
  link.send(MessageType::records, std::string(2'000'000, 'r'));
  EXPECT_GT((time - begin) / kSecond, 120u) << "it was taken in many parts";
}

// A record of TLS that is larger than what is read at a time: poll(2) does not see the rest of it.
TEST(TcpLinkWords, TakesAllMessagesOfOneRecordOfTls) {
  const std::optional<PresharedKey> key = preshared_key("0123456789abcdef");
  FakeCollector collector([&](int fd) {
    SecureChannel channel(UniqueFd(dup(fd)), SecureChannel::Side::collector, key);
    while (!channel.handshake())
      ;
    char bytes[1000];
    channel.receive(bytes);
    std::string messages = write_message(MessageType::accept, "there");
    for (char name = 'a'; name <= 'h'; name++)
      messages += write_message(MessageType::done, std::string(1000, name));
    EXPECT_EQ(channel.send(messages), messages.size());
    FakeCollector::wait_until_closed(fd);
  });
  TcpLink link(collector.endpoint(), key, "app");
  for (char name = 'a'; name <= 'h'; name++)
    EXPECT_EQ(link.receive(MessageType::done), std::string(1000, name));
}

} // namespace
} // namespace ovnitrace
