// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/endpoint.h"

#include "emulator/base/error.h"
#include "emulator/base/to_number.h"

#include <fmt/core.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <regex>
#include <string_view>

namespace ovnitrace {

namespace {

constexpr std::string_view kSchemes[] = {"tcp://", "udp://"}; // by Transport

struct FreeAddresses {
  void operator()(addrinfo *list) const { freeaddrinfo(list); }
};

} // namespace

std::string Endpoint::text() const {
  const bool v6 = host.find(':') != host.npos;
  return fmt::format("{}{}{}{}:{}", kSchemes[transport], v6 ? "[" : "", host, v6 ? "]" : "", port);
}

Endpoint parse_endpoint(const std::string &option, const std::string &text) {
  static const std::regex form(
      R"((tcp|udp)://(?:\[([^\]]{1,255})\]|([^:\[\]]{1,255}))(?::(\d{1,5}))?)");
  std::smatch part;
  Endpoint endpoint;
  const bool matches = std::regex_match(text, part, form);
  const std::string port = matches ? part.str(4) : "";
  const std::optional<uint16_t> number = port.empty() ? endpoint.port : to_number<uint16_t>(port);
  if (!matches || !number)
    throw UsageError("{} {}: give tcp://HOST:PORT; an IPv6 address goes into brackets, and a port "
                     "is at most 65535",
                     option, text);
  endpoint.port = *number;
  endpoint.transport = part.str(1) == "tcp" ? Endpoint::kTcp : Endpoint::kUdp;
  endpoint.host = part.str(2) + part.str(3); // one of them
  return endpoint;
}

Endpoint listen_address(const std::string &option, const std::string &text) {
  const bool is_port = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  const bool has_scheme = text.find("://") != text.npos;
  return parse_endpoint(option, is_port      ? "tcp://127.0.0.1:" + text
                                : has_scheme ? text
                                             : "tcp://" + text);
}

UniqueFd open_socket(const Endpoint &endpoint, const std::string &what,
                     const std::function<UniqueFd(const addrinfo &)> &try_one) {
  const auto fail = [&](const std::string &why) {
    return Error("cannot {} {}: {}", what, endpoint.text(), why);
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

UniqueFd listen_on(const Endpoint &endpoint) {
  return open_socket(endpoint, "listen on", [](const addrinfo &address) {
    UniqueFd fd(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    if (fd && (setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
               bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0 ||
               listen(fd.get(), SOMAXCONN) != 0))
      return UniqueFd();
    return fd;
  });
}

std::string address_text(const sockaddr *address, unsigned size) {
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (getnameinfo(address, size, host, sizeof host, port, sizeof port,
                  NI_NUMERICHOST | NI_NUMERICSERV))
    return {};
  const bool v6 = address->sa_family == AF_INET6;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

std::string local_text(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  if (getsockname(socket, reinterpret_cast<sockaddr *>(&address), &size) != 0)
    return {};
  return address_text(reinterpret_cast<const sockaddr *>(&address), size);
}

} // namespace ovnitrace
