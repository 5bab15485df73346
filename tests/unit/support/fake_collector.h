// SPDX-License-Identifier: BSD-2-Clause
// A peer of a sender that says and takes what a test wants.
#pragma once

#include "user/net/tcp_link.h"

#include <gtest/gtest.h>

#include <netdb.h>
#include <sys/socket.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace ovnitrace::test {

/// Takes one connection, on a thread of its own.
class FakeCollector {
public:
  using Talk = std::function<void(int fd)>;
  explicit FakeCollector(Talk talk)
      : listening_(open_socket({.transport = Endpoint::kTcp, .host = "127.0.0.1", .port = 0},
                               "listen on",
                               [](const addrinfo &at) {
                                 UniqueFd fd(socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
                                 EXPECT_EQ(bind(fd.get(), at.ai_addr, at.ai_addrlen), 0);
                                 EXPECT_EQ(listen(fd.get(), 1), 0);
                                 return fd;
                               })),
        thread_([this, talk = std::move(talk)] {
          const UniqueFd fd(accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
          char first; // a collector has nothing to say before the sender says who it is
          recv(fd.get(), &first, 1, MSG_PEEK);
          talk(fd.get());
        }) {}
  ~FakeCollector() { thread_.join(); }
  Endpoint endpoint() const { return parse_endpoint("", "tcp://" + local_text(listening_.get())); }

  /// Whether it could say all of it.
  static bool say(int fd, MessageType type, std::string_view payload) {
    const std::string bytes = write_message(type, payload);
    return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == ssize_t(bytes.size());
  }
  static void wait_until_closed(int fd) {
    char bytes[1000];
    while (recv(fd, bytes, sizeof bytes, 0) > 0) {
    }
  }

private:
  const UniqueFd listening_;
  std::thread thread_;
};

} // namespace ovnitrace::test
