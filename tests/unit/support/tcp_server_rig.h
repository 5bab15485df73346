// SPDX-License-Identifier: BSD-2-Clause
// A server of user/net/tcp_server with senders on the loopback. Time is what the test says.
#pragma once

#include "tests/unit/support/memory_sink.h"
#include "user/net/tcp_link.h"
#include "user/net/tcp_server.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <list>

namespace ovnitrace::test {

constexpr uint64_t kSecond = 1'000'000'000; // ns

class TcpServerRig : public testing::Test {
protected:
  explicit TcpServerRig(const std::optional<PresharedKey> &key = {}) : key_(key) {}
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

} // namespace ovnitrace::test
