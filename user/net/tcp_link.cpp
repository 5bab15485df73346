// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/tcp_link.h"

#include "emulator/base/error.h"
#include "emulator/base/printable.h"

#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ovnitrace {

namespace {

constexpr uint64_t kSecond = 1'000'000'000; // ns
constexpr uint64_t kConnectTime = 10 * kSecond;
/// The collector must take something in this time, or send all of the answer that is waited for.
constexpr uint64_t kPatience = 60 * kSecond;
constexpr int kCheckMs = 200;                ///< between two looks at what may end a call
constexpr unsigned kMostEmptyReads = 10'000; ///< TLS has records that are not for us

/// Returns a connected socket, or none with errno set.
UniqueFd connect_to(const addrinfo &address, const std::function<void()> &check,
                    const TcpLink::Clock &now) {
  UniqueFd fd(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd || connect(fd.get(), address.ai_addr, address.ai_addrlen) == 0)
    return fd;
  const uint64_t limit = now() + kConnectTime;
  int error = errno;
  while (error == EINPROGRESS) {
    if (check)
      check();
    pollfd connected = {fd.get(), POLLOUT, 0};
    const int ready = poll(&connected, 1, kCheckMs);
    socklen_t size = sizeof error;
    if (ready > 0)
      getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    else if (ready < 0 && errno != EINTR)
      error = errno;
    else if (now() >= limit)
      error = ETIMEDOUT;
  }
  if (error)
    fd = UniqueFd();
  errno = error;
  return fd;
}

} // namespace

/// Closes the connection if `talk` throws, and says in the error whom it is about.
template <typename Talk> auto TcpLink::talk(const Talk &talk) {
  try {
    return talk();
  } catch (const Error &error) {
    channel_.close();
    if (!checked_)
      throw;
    throw Error("cannot send to {}: {}", endpoint_.text(), error.what());
  }
}

TcpLink::TcpLink(const Endpoint &endpoint, const std::optional<PresharedKey> &key,
                 const std::string &name, const std::function<void()> &check, Clock now)
    : endpoint_(endpoint), now_(std::move(now)), check_(check),
      channel_(
          open_socket(endpoint, "send to",
                      [&](const addrinfo &address) { return connect_to(address, check, now_); }),
          SecureChannel::Side::sender, key) {
  const int on = 1;
  setsockopt(channel_.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  since_ = now_();
  talk([&] {
    while (!channel_.handshake())
      wait(channel_.waits_for());
  });
  send(MessageType::identify, write_identify(name));
  directory_ = printable_line(receive(MessageType::accept).substr(0, kLongestText));
  check_ = {};
}

void TcpLink::send(MessageType type, std::string_view payload, std::string_view more) {
  const std::string message = write_message(type, payload, more);
  const auto take_refusal = [this] {
    take_input(); // its size is bounded: one message that is not complete yet
    if (const std::optional<Message> said = next_message())
      throw Error("it sent a message of type {}, which is not expected here", uint32_t(said->type));
  };
  talk([&] {
    since_ = now_();
    for (std::string_view left = message; !left.empty();) {
      if (wait(POLLIN | POLLOUT))
        take_refusal();
      size_t sent = 0;
      try {
        sent = channel_.send(left);
      } catch (const Error &) {
        take_refusal(); // it may have said more
        throw;
      }
      if (sent)
        since_ = now_();
      left.remove_prefix(sent);
    }
  });
}

std::string TcpLink::receive(MessageType type) {
  return talk([&] {
    since_ = now_();
    for (;;) {
      if (const std::optional<Message> message = next_message()) {
        if (message->type == type)
          return std::string(message->payload);
        throw Error("it sent a message of type {}, but type {} is expected",
                    uint32_t(message->type), uint32_t(type));
      }
      if (wait(POLLIN))
        take_input();
    }
  });
}

/// Waits until the socket is ready for one of `events`. Returns whether there is input. Input does
/// not extend the time limit: otherwise a collector could hold the sender for ever.
bool TcpLink::wait(short events) {
  if (!open())
    throw Error("the connection is closed");
  for (;;) {
    const uint64_t now = now_();
    if (now >= end_by_)
      throw Error("the capture has ended, and its rest could not be sent in time");
    if (now >= since_ + kPatience)
      throw Error("it took no data and sent no valid message for {} s", kPatience / kSecond);
    if ((events & POLLIN) && channel_.has_input())
      return true;
    checked_ = !check_;
    if (check_)
      check_();
    checked_ = true;
    pollfd ready = {channel_.fd(), events, 0};
    if (poll(&ready, 1, kCheckMs) < 0 && errno != EINTR)
      throw Error(std::strerror(errno));
    if (ready.revents)
      return ready.revents & (POLLIN | POLLHUP | POLLERR);
  }
}

void TcpLink::take_input() {
  char part[4096];
  const std::optional<size_t> got = channel_.receive(part);
  if (got == 0u)
    throw Error("it closed the connection");
  if (got)
    parser_.feed({part, *got});
  else if (++empty_reads_ > kMostEmptyReads)
    throw Error("it keeps sending bytes that are not a message");
}

std::optional<Message> TcpLink::next_message() {
  const std::optional<Message> message = parser_.next();
  if (message && message->type == MessageType::refuse)
    throw Error("it says: " + printable_line(message->payload.substr(0, kLongestText)));
  return message;
}

} // namespace ovnitrace
