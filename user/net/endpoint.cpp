// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/endpoint.h"

#include "emulator/base/error.h"

#include <fmt/core.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>

namespace ovnitrace {

namespace {

constexpr std::string_view kSchemes[] = {"tcp://", "udp://"}; // by Transport
constexpr size_t kLongestHost = 255;

[[noreturn]] void refuse(const std::string &option, const std::string &text,
                         const std::string &why) {
  throw Error(fmt::format("{} {}: {}; give tcp://HOST:PORT or udp://HOST:PORT", option, text, why),
              kExitUsage);
}

struct FreeAddresses {
  void operator()(addrinfo *list) const { freeaddrinfo(list); }
};

} // namespace

std::string Endpoint::text() const {
  const bool v6 = host.find(':') != host.npos;
  return fmt::format("{}{}{}{}:{}", kSchemes[transport], v6 ? "[" : "", host, v6 ? "]" : "", port);
}

bool has_transport(const std::string &text) {
  return text.starts_with(kSchemes[Endpoint::kTcp]) || text.starts_with(kSchemes[Endpoint::kUdp]);
}

Endpoint parse_endpoint(const std::string &option, const std::string &text) {
  Endpoint endpoint;
  if (const size_t scheme = text.find("://"); !has_transport(text) && scheme != text.npos)
    refuse(option, text,
           fmt::format("there is no {}://, only tcp:// and udp://", text.substr(0, scheme)));
  if (!has_transport(text))
    refuse(option, text, "no transport is named");
  endpoint.transport = text.starts_with(kSchemes[Endpoint::kTcp]) ? Endpoint::kTcp : Endpoint::kUdp;
  std::string_view rest(text);
  rest.remove_prefix(kSchemes[0].size());
  size_t colon = rest.rfind(':');
  if (rest.starts_with('[')) {
    const size_t bracket = rest.find(']');
    if (bracket == rest.npos || (bracket + 1 < rest.size() && rest[bracket + 1] != ':'))
      refuse(option, text, "the bracket of the address is not closed");
    endpoint.host = rest.substr(1, bracket - 1);
    colon = bracket + 1 < rest.size() ? bracket + 1 : rest.npos;
  } else {
    endpoint.host = rest.substr(0, colon);
    if (endpoint.host.find(':') != endpoint.host.npos)
      refuse(option, text, "put an IPv6 address into brackets");
  }
  if (endpoint.host.empty() || endpoint.host.size() > kLongestHost)
    refuse(option, text, "no host is named");
  if (colon == rest.npos)
    return endpoint;
  const std::string_view port = rest.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (error != std::errc() || end != port.data() + port.size())
    refuse(option, text, "the port is no number up to 65535");
  return endpoint;
}

UniqueFd open_socket(const Endpoint &endpoint, const std::string &what,
                     const std::function<UniqueFd(const addrinfo &)> &try_one) {
  const auto fail = [&](const std::string &why) {
    return Error(fmt::format("cannot {} {}: {}", what, endpoint.text(), why));
  };
  addrinfo hints = {};
  hints.ai_socktype = endpoint.transport == Endpoint::kTcp ? SOCK_STREAM : SOCK_DGRAM;
  addrinfo *found = nullptr;
  const int error =
      getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (error)
    throw fail(error == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(error));
  const std::unique_ptr<addrinfo, FreeAddresses> addresses(found);
  int why = EADDRNOTAVAIL;
  for (const addrinfo *one = found; one; one = one->ai_next) {
    if (UniqueFd fd = try_one(*one))
      return fd;
    why = errno;
  }
  throw fail(why == ECONNREFUSED
                 ? fmt::format("{}; is `ovnitrace collect` running there?", std::strerror(why))
                 : std::strerror(why));
}

std::string address_text(const sockaddr *address, unsigned size) {
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (getnameinfo(address, size, host, sizeof host, port, sizeof port,
                  NI_NUMERICHOST | NI_NUMERICSERV))
    return {};
  const bool v6 = address->sa_family == AF_INET6;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

namespace {

std::string name_of(int socket, int (*get)(int, sockaddr *, socklen_t *) noexcept) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  if (get(socket, reinterpret_cast<sockaddr *>(&address), &size) != 0)
    return {};
  return address_text(reinterpret_cast<const sockaddr *>(&address), size);
}

} // namespace

std::string peer_text(int socket) {
  return name_of(socket, getpeername);
}
std::string local_text(int socket) {
  return name_of(socket, getsockname);
}

} // namespace ovnitrace
