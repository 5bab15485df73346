// SPDX-License-Identifier: BSD-2-Clause
// Senders over UDP that a collector serves at once, over the loopback: user/net/udp_server. Time is
// what the test says.
#include "tests/unit/support/datagram_bytes.h"
#include "tests/unit/support/memory_sink.h"
#include "user/net/udp_server.h"

#include <ovnitrace/ftrace_codes.h>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>

namespace ovnitrace {
namespace {

using test::bytes_of;
using test::datagram_of;

constexpr uint64_t kSecond = 1'000'000'000; // ns

Endpoint loopback(uint16_t port) {
  return {.transport = Endpoint::kUdp, .host = "127.0.0.1", .port = port};
}

class UdpServerTest : public testing::Test {
protected:
  UdpServerTest() : socket_(connect_to_server()) {}

  UniqueFd connect_to_server() const {
    const std::string address = server_.address();
    const auto port = uint16_t(std::stoi(address.substr(address.rfind(':') + 1)));
    return open_socket(loopback(port), "send to", [](const addrinfo &to) {
      UniqueFd fd(socket(to.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      EXPECT_EQ(connect(fd.get(), to.ai_addr, to.ai_addrlen), 0);
      return fd;
    });
  }

  void send(const std::string &bytes) { send(socket_.get(), bytes); }
  void send(int from, const std::string &bytes) {
    ASSERT_EQ(::send(from, bytes.data(), bytes.size(), 0), ssize_t(bytes.size()));
    std::vector<pollfd> polls;
    server_.add(polls);
    ASSERT_EQ(poll(polls.data(), polls.size(), 10'000), 1);
    server_.handle(polls, now_);
  }
  /// A sender with an address of its own.
  struct Sender {
    UdpServerTest &test;
    UniqueFd socket;
    void send(uint32_t number) { test.send(socket.get(), bytes_of(datagram_of(number, 1))); }
  };
  Sender sender() { return {*this, connect_to_server()}; }
  void plain(uint32_t number, uint32_t par2) {
    Datagram datagram{.number = number, .count = 1, .records = {}};
    ftrace_record_set(&datagram.records[0], FTrace_EVT_ipoint, 0, 1, par2);
    send(bytes_of(datagram));
  }
  void pass(uint64_t time) {
    now_ += time;
    const pollfd nothing = {};
    server_.handle({&nothing, 1}, now_);
  }
  bool reported(const std::string &what) const {
    return std::any_of(told_.begin(), told_.end(),
                       [&](const auto &line) { return line.find(what) != line.npos; });
  }

  test::MemoryStore store_;
  std::vector<std::string> told_;
  unsigned made_ = 0;
  UdpServer server_{loopback(0), 2,
                    [this](const std::string &name) {
                      made_++;
                      return store_.maker()(name);
                    },
                    [this](const std::string &line) { told_.push_back(line); }};
  UniqueFd socket_;
  uint64_t now_ = 1000 * kSecond;
};

TEST_F(UdpServerTest, GivesThePlaceOfTheLongestSilentSenderToAnother) {
  Sender first = sender(), second = sender(), third = sender();
  first.send(1);
  pass(30 * kSecond);
  second.send(1);
  pass(29 * kSecond);
  third.send(1);
  EXPECT_TRUE(reported("2 senders are being served"));
  EXPECT_EQ(made_, 2u) << "the first may only think";
  EXPECT_TRUE(server_.incomplete()) << "the third one's trace";
  pass(2 * kSecond);
  third.send(1);
  EXPECT_TRUE(reported("another sender needs its place"));
  EXPECT_EQ(made_, 3u);
  EXPECT_TRUE(server_.incomplete());
  first.send(2);
  pass(2 * kSecond);
  EXPECT_EQ(made_, 3u) << "it has ended";
}

/// It belongs to no trace.
TEST_F(UdpServerTest, AMalformedDatagramMakesNoTraceIncomplete) {
  send(bytes_of(datagram_of(1, 1)));
  Sender stranger = sender();
  send(stranger.socket.get(), "GET / HTTP/1.0");
  server_.finish();
  EXPECT_TRUE(reported("a datagram of 14 bytes"));
  EXPECT_FALSE(server_.incomplete());
}

TEST_F(UdpServerTest, KeepsNothingOfASenderWithoutRecords) {
  send(bytes_of(datagram_of(1, 0)));
  server_.finish();
  EXPECT_EQ(made_, 0u);
  EXPECT_TRUE(reported("no record came, nothing is kept"));
  EXPECT_FALSE(server_.incomplete());
}

// The first datagram of a sender without numbers may be overtaken like any other.
class UdpServerOrderTest : public UdpServerTest,
                           public testing::WithParamInterface<std::vector<uint32_t>> {};

TEST_P(UdpServerOrderTest, IsRestored) {
  for (const uint32_t number : GetParam())
    plain(number, number);
  server_.finish();
  ASSERT_EQ(made_, 1u);
  const std::string &bytes =
      store_.traces.begin()->second.files.at({TraceSink::kPlainFile, Codec::none});
  const uint32_t most = *std::max_element(GetParam().begin(), GetParam().end());
  ASSERT_EQ(bytes.size(), most * sizeof(ftrace_record));
  for (uint32_t number = 1; number <= most; number++)
    EXPECT_EQ(reinterpret_cast<const ftrace_record *>(bytes.data())[number - 1].par2, number);
  EXPECT_TRUE(reported("is complete")) << told_.back();
  EXPECT_FALSE(server_.incomplete());
}

INSTANTIATE_TEST_SUITE_P(Orders, UdpServerOrderTest,
                         testing::Values(std::vector<uint32_t>{2, 1, 3},
                                         std::vector<uint32_t>{5, 4, 3, 2, 1},
                                         std::vector<uint32_t>{2, 1, 1, 3, 1}));

// One that is given up may as well be of another trace.
TEST_F(UdpServerTest, BeginsAnotherTraceWithAFirstDatagramThatIsGivenUp) {
  plain(2, 2);
  pass(2 * kSecond);
  plain(1, 1);
  EXPECT_TRUE(reported("not complete: 1 datagram, 1 lost"));
  server_.finish();
  EXPECT_EQ(made_, 2u);
  EXPECT_TRUE(reported("is complete: 1 datagram, 0 lost"));
  EXPECT_TRUE(server_.incomplete()) << "the first one is not";
}

// Otherwise each datagram after a failure would make a directory.
TEST_F(UdpServerTest, IgnoresTheRestOfATraceThatFailed) {
  store_.room = 40;
  for (uint32_t number = 1; number < 50; number++)
    plain(number, 5);
  EXPECT_EQ(made_, 1u);
  EXPECT_TRUE(reported("error: no room"));
  EXPECT_TRUE(server_.incomplete());
  plain(1, 6); // it began anew
  EXPECT_EQ(made_, 2u);
}

// What waits for a missing datagram is written later.
TEST_F(UdpServerTest, ReportsThatWhatWaitedCannotBeWritten) {
  store_.room = 0;
  plain(2, 2);
  EXPECT_TRUE(told_.empty());
  pass(kSecond);
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_TRUE(told_[0].starts_with("memory/127.0.0.1_")) << told_[0];
  EXPECT_TRUE(told_[0].ends_with(": error: no room: 0 datagrams, 1 lost")) << told_[0];
  EXPECT_TRUE(server_.incomplete());
  Sender other = sender();
  other.send(3);
  server_.finish();
  ASSERT_EQ(told_.size(), 2u);
  EXPECT_TRUE(told_[1].ends_with(": error: no room: 0 datagrams, 2 lost")) << told_[1];
}

// Otherwise nobody else would be served while somebody floods it.
TEST_F(UdpServerTest, Takes4096DatagramsAtATime) {
  int room = 0;
  socklen_t size = sizeof room;
  std::vector<pollfd> polls;
  server_.add(polls);
  ASSERT_EQ(getsockopt(polls[0].fd, SOL_SOCKET, SO_RCVBUF, &room, &size), 0);
  if (room < 16 << 20)
    GTEST_SKIP() << "only root may let so many wait";
  for (int n = 0; n < 4097; n++)
    ASSERT_EQ(::send(socket_.get(), "x", 1, 0), 1);
  ASSERT_EQ(poll(polls.data(), 1, 10'000), 1);
  server_.handle(polls, now_);
  server_.finish();
  ASSERT_FALSE(told_.empty());
  EXPECT_EQ(told_.back(), "error: 4096 such errors in all") << "one waits for the next time";
}

TEST_F(UdpServerTest, WhatIsMissingIsGivenUpAfterASecond) {
  plain(2, 2);
  pass(kSecond - 1);
  EXPECT_EQ(made_, 0u) << "the first may still come";
  pass(1);
  EXPECT_EQ(made_, 1u);
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_NE(told_[0].find(" sends; written to memory/127.0.0.1_"), std::string::npos) << told_[0];
  plain(3, 3);
  EXPECT_EQ(told_.size(), 1u) << "it was said already";
  EXPECT_FALSE(server_.incomplete()) << "it has not ended";
  server_.finish();
  EXPECT_TRUE(server_.incomplete());
}

TEST_F(UdpServerTest, ASenderKeepsItsPlaceForAMinute) {
  Sender first = sender(), second = sender(), third = sender();
  first.send(1);
  second.send(1);
  pass(60 * kSecond - 1);
  third.send(1);
  EXPECT_EQ(made_, 2u);
  now_++;
  third.send(1);
  EXPECT_EQ(made_, 3u);
  EXPECT_TRUE(reported("error: it sent nothing for 60 s, and another sender needs its place: 1 "
                       "datagram, 0 lost"));
}

// It is remembered while 255 others end after it.
TEST_F(UdpServerTest, WhatComesLateOfATraceThatEndedIsIgnored) {
  Sender first = sender(), second = sender(), third = sender();
  first.send(1);
  pass(60 * kSecond);
  second.send(1);
  third.send(1); // in the place of the first
  EXPECT_EQ(made_, 3u);
  uint32_t begun = 0;
  const auto restart = [&] { // ends the trace of the second, whose datagram 1 is another one now
    send(second.socket.get(), bytes_of(datagram_of(1, 2 + ++begun % 2)));
  };
  while (begun < 255)
    restart();
  EXPECT_EQ(made_, 3u + 255);
  first.send(2);
  EXPECT_FALSE(reported("no more are allowed"));
  restart();
  first.send(2);
  EXPECT_TRUE(reported("2 senders are being served, no more are allowed (--max-senders)"))
      << "it could be one that begins";
}

TEST_F(UdpServerTest, SaysWhatIsWrongWithADatagram) {
  send("GET / HTTP/1.0");
  send(bytes_of(datagram_of(0, 1)));
  send(std::string(2000, 'x'));
  std::string longer = bytes_of(datagram_of(1, 60));
  longer += std::string(500, 'x');
  send(longer);
  const std::string address = local_text(socket_.get());
  EXPECT_EQ(told_, (std::vector<std::string>{
                       address + ": error: a datagram of 14 bytes that is shorter than its header",
                       address + ": error: a datagram of 40 bytes that is without a number",
                       address + ": error: a datagram of 985 bytes that is not of the tracer",
                       address + ": error: a datagram of 985 bytes that is of another length than "
                                 "it says"}));
  EXPECT_EQ(made_, 0u);
}

TEST_F(UdpServerTest, APortIsForOne) {
  const std::string address = server_.address();
  try {
    const UdpServer second(parse_endpoint("", address), 2, store_.maker(),
                           [](const std::string &) {});
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_EQ(error.what(), "cannot listen on " + address + ": Address already in use");
  }
}

// While the disk is slow, datagrams wait in the kernel, as many as a program may ask for.
TEST_F(UdpServerTest, HasRoomForWhatComesWhileItWrites) {
  const auto room = [](int socket) {
    int bytes = 0;
    socklen_t size = sizeof bytes;
    EXPECT_EQ(getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, &size), 0);
    return bytes;
  };
  const int wanted = 8 << 20;
  const UniqueFd other(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (setsockopt(other.get(), SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof wanted) != 0) {
    EXPECT_EQ(setsockopt(other.get(), SOL_SOCKET, SO_RCVBUF, &wanted, sizeof wanted), 0);
  }
  std::vector<pollfd> polls;
  server_.add(polls);
  ASSERT_EQ(polls.size(), 1u);
  EXPECT_EQ(room(polls[0].fd), room(other.get()));
  EXPECT_EQ(fcntl(polls[0].fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST_F(UdpServerTest, ReportsWhereATraceIsAndWhatCameOfIt) {
  plain(1, 1);
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_NE(told_[0].find(" sends; written to memory/127.0.0.1_"), std::string::npos) << told_[0];
  plain(2, 2);
  plain(2, 2); // once more
  server_.finish();
  ASSERT_EQ(told_.size(), 2u);
  EXPECT_EQ(told_[1].find("memory/127.0.0.1_"), 0u);
  EXPECT_TRUE(told_[1].ends_with(" is complete: 2 datagrams, 0 lost")) << told_[1];
}

} // namespace
} // namespace ovnitrace
