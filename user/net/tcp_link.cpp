// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/tcp_link.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "user/net/handshake.h"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace ovnitrace {

namespace {

constexpr uint64_t kMillisecond = 1'000'000; // ns
constexpr int kConnectMs = 10'000;

/// The socket, connected; none with errno set.
UniqueFd connect_to(const addrinfo &address) {
  UniqueFd fd(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd)
    return fd;
  if (connect(fd.get(), address.ai_addr, address.ai_addrlen) == 0)
    return fd;
  int error = errno;
  if (error == EINPROGRESS) {
    pollfd connected = {fd.get(), POLLOUT, 0};
    int ready;
    do
      ready = poll(&connected, 1, kConnectMs);
    while (ready < 0 && errno == EINTR);
    socklen_t size = sizeof error;
    if (ready == 0)
      error = ETIMEDOUT;
    else if (ready < 0 || getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0)
      error = errno;
  }
  if (!error)
    return fd;
  errno = error;
  return UniqueFd();
}

} // namespace

TcpLink::TcpLink(const Endpoint &endpoint, const std::string &key, const std::string &name,
                 uint64_t patience)
    : endpoint_(endpoint), patience_(patience), fd_(open_socket(endpoint, "send to", connect_to)) {
  const int on = 1;
  setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  introduce(key, name);
}

void TcpLink::introduce(const std::string &key, const std::string &name) {
  SenderHandshake handshake(key);
  const std::string greeting = receive(MessageType::greeting);
  try {
    send(MessageType::identify, handshake.identify(greeting, name));
    const std::string accept = receive(MessageType::accept);
    directory_ = handshake.check(accept);
  } catch (const Error &error) {
    if (!fd_)
      throw;
    fail(error.what());
  }
  if (handshake.keyed()) {
    writer_.set_key(handshake.keys().to_collector);
    parser_.set_key(handshake.keys().to_sender);
  }
}

void TcpLink::send(MessageType type, std::string_view payload, std::string_view more) {
  std::string_view bytes = writer_.write(type, payload, more);
  since_ = monotonic_ns();
  while (!bytes.empty()) {
    wait(POLLIN | POLLOUT);
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      const std::string why = std::strerror(errno);
      check_input(); // it may have said more
      fail(why);
    }
    if (sent > 0)
      since_ = monotonic_ns();
    bytes.remove_prefix(sent > 0 ? size_t(sent) : 0);
  }
}

std::string TcpLink::receive(MessageType type) {
  since_ = monotonic_ns();
  for (;;) {
    try {
      if (const std::optional<Message> message = parser_.next()) {
        check_refusal(*message);
        if (message->type == type)
          return std::string(message->payload);
        throw Error(fmt::format("it sent a message of type {} where one of type {} belongs",
                                uint32_t(message->type), uint32_t(type)));
      }
    } catch (const Error &error) {
      fail(error.what());
    }
    wait(POLLIN);
  }
}

/// Until the socket is ready for one of them; input is taken in at once. That something is said
/// does not prolong it: a collector could keep us for ever so.
void TcpLink::wait(short events) {
  if (!fd_)
    throw Error(fmt::format("the connection to {} is closed", endpoint_.text()));
  pollfd ready = {fd_.get(), events, 0};
  int count;
  do {
    const uint64_t waited = monotonic_ns() - since_;
    count = waited > patience_ ? 0 : poll(&ready, 1, int((patience_ - waited) / kMillisecond) + 1);
  } while (count < 0 && errno == EINTR);
  if (count == 0)
    fail(fmt::format("it took and said nothing of use for {} s", patience_ / 1000 / kMillisecond));
  if (!(ready.revents & (POLLIN | POLLHUP | POLLERR)))
    return;
  if (events & POLLOUT)
    check_input();
  else
    take_input();
}

void TcpLink::take_input() {
  char part[4096];
  const ssize_t got = recv(fd_.get(), part, sizeof part, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (got <= 0)
    fail(got < 0 ? std::strerror(errno) : "it closed the connection");
  parser_.feed({part, size_t(got)});
}

/// While we send, it only speaks to refuse.
void TcpLink::check_input() {
  take_input();
  try {
    if (const std::optional<Message> message = parser_.next())
      check_refusal(*message);
  } catch (const Error &error) {
    fail(error.what());
  }
}

void TcpLink::check_refusal(const Message &message) const {
  if (message.type == MessageType::refuse)
    throw Error("it says: " + printable(message.payload));
}

void TcpLink::fail(const std::string &why) {
  fd_ = UniqueFd();
  throw Error(fmt::format("cannot send to {}: {}", endpoint_.text(), why));
}

} // namespace ovnitrace
