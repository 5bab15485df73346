// SPDX-License-Identifier: BSD-2-Clause
// The sender's end of a connection, and collectors that are none: user/net/tcp_link.
#include "emulator/base/error.h"
#include "user/net/tcp_link.h"

#include <gtest/gtest.h>

#include <netdb.h>
#include <sys/socket.h>

#include <atomic>
#include <string>
#include <thread>

namespace ovnitrace {
namespace {

// It never ends to say who it is, byte by byte: as long as the sender would listen.
TEST(TcpLink, IsNotKeptByACollectorThatGoesOnTalking) {
  const UniqueFd listening =
      open_socket({.transport = Endpoint::kTcp, .host = "127.0.0.1", .port = 0}, "listen on",
                  [](const addrinfo &at) {
                    UniqueFd fd(socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
                    EXPECT_EQ(bind(fd.get(), at.ai_addr, at.ai_addrlen), 0);
                    EXPECT_EQ(listen(fd.get(), 1), 0);
                    return fd;
                  });
  const std::string address = local_text(listening.get());
  const auto port = uint16_t(std::stoi(address.substr(address.rfind(':') + 1)));
  std::atomic<bool> refused = false;
  std::thread collector([&] {
    const UniqueFd fd(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const char header[8] = {1, 0, 0, 0, 0, 4, 0, 0}; // a greeting of 1024 bytes
    send(fd.get(), header, sizeof header, MSG_NOSIGNAL);
    const timespec pause = {0, 50'000'000};
    for (int n = 0; n < 1000 && !refused; n++) { // less than it promised
      if (send(fd.get(), "x", 1, MSG_NOSIGNAL) < 0)
        refused = true;
      nanosleep(&pause, nullptr);
    }
  });
  std::string why;
  try {
    TcpLink link({.transport = Endpoint::kTcp, .host = "127.0.0.1", .port = port}, "", "app",
                 100'000'000);
  } catch (const Error &error) {
    why = error.what();
  }
  collector.join();
  EXPECT_TRUE(refused) << "it hung up while the other was talking";
  EXPECT_NE(why.find("it took and said nothing of use"), why.npos) << why;
}

} // namespace
} // namespace ovnitrace
