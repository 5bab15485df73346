// SPDX-License-Identifier: BSD-2-Clause
// Sockets at the address of an endpoint, and how addresses are written: user/net/endpoint.
#include "tests/unit/support/error_from.h"
#include "user/net/endpoint.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

uint16_t port_of(const addrinfo &address) {
  return ntohs(reinterpret_cast<const sockaddr_in *>(address.ai_addr)->sin_port);
}

TEST(OpenSocket, TriesTheAddressAndPortOfTheTransport) {
  const auto expect = [](const std::string &text, int type, uint16_t port) {
    int tried = 0;
    const UniqueFd made =
        open_socket(parse_endpoint("", text), "send to", [&](const addrinfo &address) {
          tried++;
          EXPECT_EQ(address.ai_socktype, type);
          EXPECT_EQ(address_text(address.ai_addr, address.ai_addrlen), text.substr(6));
          EXPECT_EQ(port_of(address), port);
          return UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
        });
    EXPECT_TRUE(made);
    EXPECT_EQ(tried, 1) << "the first one does";
  };
  expect("tcp://127.0.0.1:1234", SOCK_STREAM, 1234);
  expect("udp://127.0.0.1:7", SOCK_DGRAM, 7);
}

TEST(OpenSocket, SaysWhatFailedWhereAndWhy) {
  const auto error_with = [](int number, const char *what) {
    return test::failure_from([&] {
      open_socket(parse_endpoint("", "udp://127.0.0.1:7"), what, [&](const addrinfo &) {
        errno = number;
        return UniqueFd();
      });
    });
  };
  EXPECT_EQ(error_with(EACCES, "listen on"),
            "cannot listen on udp://127.0.0.1:7: Permission denied");
  EXPECT_EQ(error_with(ECONNREFUSED, "send to"),
            "cannot send to udp://127.0.0.1:7: Connection refused; is `ovnitrace collect` running "
            "there?");
}

TEST(OpenSocket, AHostThatIsNoAddressIsNotTried) {
  EXPECT_EQ(test::failure_from([] {
              open_socket(parse_endpoint("", "tcp://[::1%none]:7"), "send to",
                          [](const addrinfo &) -> UniqueFd {
                            ADD_FAILURE();
                            return UniqueFd();
                          });
            }),
            "cannot send to tcp://[::1%none]:7: Name or service not known");
}

TEST(ListenOn, GivesASocketThatTakesConnectionsAndWaitsForNone) {
  const UniqueFd socket = listen_on(parse_endpoint("", "tcp://127.0.0.1:0"));
  const auto option = [&](int name) {
    int value = -1;
    socklen_t size = sizeof value;
    EXPECT_EQ(getsockopt(socket.get(), SOL_SOCKET, name, &value, &size), 0);
    return value;
  };
  EXPECT_EQ(option(SO_TYPE), SOCK_STREAM);
  EXPECT_EQ(option(SO_ACCEPTCONN), 1);
  EXPECT_EQ(option(SO_REUSEADDR), 1) << "a collector that starts again needs its port";
  EXPECT_EQ(fcntl(socket.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  EXPECT_LT(accept(socket.get(), nullptr, nullptr), 0);
  EXPECT_EQ(errno, EAGAIN);
}

TEST(ListenOn, ManyMayConnectBeforeTheyAreTaken) {
  const UniqueFd socket = listen_on(parse_endpoint("", "tcp://127.0.0.1:0"));
  const Endpoint endpoint = parse_endpoint("", "tcp://" + local_text(socket.get()));
  std::vector<UniqueFd> connected;
  for (int n = 0; n < 20; n++)
    connected.push_back(open_socket(endpoint, "send to", [](const addrinfo &to) {
      UniqueFd fd(::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      EXPECT_TRUE(connect(fd.get(), to.ai_addr, to.ai_addrlen) == 0 || errno == EINPROGRESS);
      return fd;
    }));
  for (int n = 0; n < 20; n++)
    EXPECT_TRUE(UniqueFd(accept(socket.get(), nullptr, nullptr))) << n;
}

TEST(ListenOn, APortIsForOne) {
  const UniqueFd socket = listen_on(parse_endpoint("", "tcp://127.0.0.1:0"));
  const std::string taken = "tcp://" + local_text(socket.get());
  EXPECT_EQ(test::failure_from([&] { listen_on(parse_endpoint("", taken)); }),
            "cannot listen on " + taken + ": Address already in use");
}

TEST(AddressText, HasBracketsForIpv6) {
  sockaddr_in four = {};
  four.sin_family = AF_INET;
  four.sin_port = htons(20000);
  four.sin_addr.s_addr = htonl(0xc0000201);
  EXPECT_EQ(address_text(reinterpret_cast<sockaddr *>(&four), sizeof four), "192.0.2.1:20000");
  sockaddr_in6 six = {};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(80);
  six.sin6_addr = in6addr_loopback;
  EXPECT_EQ(address_text(reinterpret_cast<sockaddr *>(&six), sizeof six), "[::1]:80");
  EXPECT_EQ(address_text(reinterpret_cast<sockaddr *>(&four), 1), "") << "no whole address";
}

TEST(AddressText, OfWhatIsNoSocketIsEmpty) {
  EXPECT_EQ(local_text(-1), "");
  const UniqueFd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(local_text(file.get()), "");
}

} // namespace
} // namespace ovnitrace
