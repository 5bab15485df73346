// SPDX-License-Identifier: BSD-2-Clause
// Where a trace is sent to: user/net/endpoint.
#include "emulator/base/error.h"
#include "user/net/endpoint.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

TEST(Endpoint, IsATransportAHostAndAPort) {
  const Endpoint tcp = parse_endpoint("--send", "tcp://example.org:1234");
  EXPECT_EQ(tcp.transport, Endpoint::kTcp);
  EXPECT_EQ(tcp.host, "example.org");
  EXPECT_EQ(tcp.port, 1234);
  const Endpoint udp = parse_endpoint("--send", "udp://[::1]:0");
  EXPECT_EQ(udp.transport, Endpoint::kUdp);
  EXPECT_EQ(udp.host, "::1");
  EXPECT_EQ(udp.port, 0);
  EXPECT_EQ(udp.text(), "udp://[::1]:0");
  EXPECT_EQ(parse_endpoint("--send", "tcp://localhost").port, 20000) << "the manual's";
  EXPECT_EQ(parse_endpoint("--send", "tcp://[::1]").port, 20000);
}

TEST(Endpoint, ANumberAloneIsAPortOfTheLoopback) {
  EXPECT_EQ(listen_address("--listen", "0").text(), "tcp://127.0.0.1:0");
  EXPECT_EQ(listen_address("--listen", "8080").text(), "tcp://127.0.0.1:8080");
  EXPECT_EQ(listen_address("--listen", "192.0.2.1").text(), "tcp://192.0.2.1:20000");
  EXPECT_EQ(listen_address("--listen", "udp://[::1]:5").text(), "udp://[::1]:5");
  EXPECT_EQ(listen_address("--listen", "host:7").text(), "tcp://host:7");
  EXPECT_EQ(listen_address("--listen", "[::1]:7").text(), "tcp://[::1]:7");
  EXPECT_THROW(listen_address("--listen", "65536"), Error);
}

TEST(Endpoint, RefusesEverythingElse) {
  for (const char *text :
       {"", "tcp://", "localhost:1", "http://localhost", "tcp://:1", "tcp://host:", "tcp://host:1x",
        "tcp://host:65536", "tcp://host:-1", "tcp://::1:5", "tcp://[::1", "tcp://[::1]5",
        "tcp://[]:5", "tcp://host:000080", "xtcp://host", "TCP://host", "tcp://host:5 "}) {
    try {
      parse_endpoint("--send", text);
      ADD_FAILURE() << text;
    } catch (const Error &error) {
      EXPECT_EQ(error.status(), kExitUsage);
      EXPECT_EQ(std::string(error.what()).find("--send "), 0u);
    }
  }
  try {
    parse_endpoint("--send", "http://localhost:1");
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_EQ(std::string(error.what()),
              "--send http://localhost:1: give tcp://HOST:PORT; an IPv6 address goes into "
              "brackets, and a port is at most 65535");
  }
  try {
    listen_address("--listen", "");
    ADD_FAILURE() << "it is no port, either";
  } catch (const Error &error) {
    EXPECT_EQ(std::string(error.what()).find("--listen tcp://: give tcp://HOST:PORT"), 0u);
  }
  EXPECT_THROW(parse_endpoint("--send", "tcp://" + std::string(256, 'a')), Error);
  EXPECT_EQ(parse_endpoint("--send", "tcp://" + std::string(255, 'a')).host.size(), 255u);
  EXPECT_THROW(parse_endpoint("--send", "tcp://[" + std::string(256, 'a') + "]"), Error);
  EXPECT_EQ(parse_endpoint("--send", "tcp://[" + std::string(255, 'a') + "]").host.size(), 255u);
  EXPECT_EQ(parse_endpoint("--send", "tcp://host:00080").port, 80);
  EXPECT_EQ(parse_endpoint("--send", "tcp://host:65535").port, 65535);
  EXPECT_THROW(parse_endpoint("--send", "tcp://host:" + std::string(100'000, '1')), Error)
      << "std::regex would need the stack for it";
}

} // namespace
} // namespace ovnitrace
