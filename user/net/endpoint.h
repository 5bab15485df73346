// SPDX-License-Identifier: BSD-2-Clause
// Parses and opens the addresses to which a trace is sent, or at which a collector listens.
#pragma once

#include "emulator/base/unique_fd.h"

#include <cstdint>
#include <functional>
#include <string>

struct addrinfo;
struct sockaddr;

namespace ovnitrace {

inline constexpr uint16_t kDefaultPort = 20000; ///< of the S.Ha.R.K. tracer's receiver

/// tcp://HOST:PORT or udp://HOST:PORT.
struct Endpoint {
  enum Transport { kTcp, kUdp } transport = kTcp;
  std::string host;
  uint16_t port = kDefaultPort;

  std::string text() const; ///< with scheme
};

/// Parses "tcp://HOST[:PORT]" or "udp://…"; an IPv6 address is in brackets. Throws Error with
/// kExitUsage; `option` is named in it.
Endpoint parse_endpoint(const std::string &option, const std::string &text);
/// Parses the address to listen at: tcp:// can be left out. A number alone is a port of 127.0.0.1,
/// because as a host 8080 would be 0.0.31.144.
Endpoint listen_address(const std::string &option, const std::string &text);

/// Calls `try_one` with each address of the endpoint until it gives a socket. It returns none with
/// errno set. Throws Error: "cannot WHAT tcp://…: why".
UniqueFd open_socket(const Endpoint &endpoint, const std::string &what,
                     const std::function<UniqueFd(const addrinfo &)> &try_one);

/// Opens a TCP socket that listens, and does not block. Throws Error, as open_socket() does.
UniqueFd listen_on(const Endpoint &endpoint);

/// Returns ADDRESS:PORT, numeric.
std::string address_text(const sockaddr *address, unsigned size);

/// Returns the address to which a socket is bound, or nothing.
std::string local_text(int socket);

} // namespace ovnitrace
