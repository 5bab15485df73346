// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/tcp_link.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "emulator/base/printable.h"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ovnitrace {

namespace {

constexpr uint64_t kMillisecond = 1'000'000; // ns
constexpr uint64_t kConnectTime = 10'000 * kMillisecond;
constexpr uint64_t kCheckTime = 200 * kMillisecond; ///< between two calls of `check`
constexpr unsigned kMostEmptyReads = 10'000;        ///< TLS has records that are not for us
constexpr size_t kLongestText = 300; ///< bytes of what the collector says, in a message of ours

/// ns, as poll(2) has it, rounded up.
int poll_time(uint64_t time) {
  return int(time / kMillisecond) + 1;
}

/// Until it is connected or has failed; 0: neither in time, negative: errno says why.
int wait_until_connected(int fd, const std::function<void()> &check) {
  const uint64_t limit = monotonic_ns() + kConnectTime;
  for (;;) {
    if (check)
      check();
    const uint64_t now = monotonic_ns();
    if (now >= limit)
      return 0;
    pollfd connected = {fd, POLLOUT, 0};
    const int ready = poll(&connected, 1, poll_time(std::min(limit - now, kCheckTime)));
    if (ready > 0 || (ready < 0 && errno != EINTR))
      return ready;
  }
}

/// The socket, connected; none with errno set.
UniqueFd connect_to(const addrinfo &address, const std::function<void()> &check) {
  UniqueFd fd(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd)
    return fd;
  if (connect(fd.get(), address.ai_addr, address.ai_addrlen) == 0)
    return fd;
  int error = errno;
  if (error == EINPROGRESS) {
    const int ready = wait_until_connected(fd.get(), check);
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

TcpLink::TcpLink(const Endpoint &endpoint, const std::optional<PresharedKey> &key,
                 const std::string &name, const std::function<void()> &check, uint64_t patience)
    : endpoint_(endpoint), patience_(patience), changed_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      check_(check),
      channel_(open_socket(endpoint, "send to",
                           [&](const addrinfo &address) { return connect_to(address, check); }),
               SecureChannel::Side::sender, key) {
  if (!changed_)
    fail(fmt::format("no eventfd: {}", std::strerror(errno)));
  const int on = 1;
  setsockopt(channel_.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  introduce(name);
  check_ = {};
}

void TcpLink::introduce(const std::string &name) {
  since_ = monotonic_ns();
  const auto is_proved = [this] {
    try {
      return channel_.handshake();
    } catch (const Error &error) {
      fail(error.what());
    }
  };
  while (!is_proved())
    wait(channel_.waits_for());
  send(MessageType::identify, write_identify(name));
  const std::string directory = receive(MessageType::accept);
  directory_ = printable_line(std::string_view(directory).substr(0, kLongestText));
}

void TcpLink::send(MessageType type, std::string_view payload, std::string_view more) {
  std::string_view bytes = writer_.write(type, payload, more);
  since_ = monotonic_ns();
  while (!bytes.empty()) {
    if (wait(POLLIN | POLLOUT))
      check_input();
    size_t sent = 0;
    try {
      sent = channel_.send(bytes);
    } catch (const Error &error) {
      const std::string why = error.what();
      check_input(); // it may have said more
      fail(why);
    }
    if (sent)
      since_ = monotonic_ns();
    bytes.remove_prefix(sent);
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
    if (wait(POLLIN))
      take_input();
  }
}

void TcpLink::end_by(uint64_t time) noexcept {
  end_by_ = time;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(changed_.get(), &one, sizeof one);
}

/// Until the socket is ready for one of them; whether there is input. That something is said does
/// not prolong it: a collector could keep us for ever so.
bool TcpLink::wait(short events) {
  if (!open())
    throw Error(fmt::format("the connection to {} is closed", endpoint_.text()));
  pollfd ready[] = {{channel_.fd(), events, 0}, {changed_.get(), POLLIN, 0}};
  for (int count = 0; !ready[0].revents;) {
    const uint64_t now = monotonic_ns(), end = end_by_, patient = since_ + patience_;
    if (now >= end)
      fail("the capture has ended, and the time to send the rest of it is over");
    if (now >= patient)
      fail(
          fmt::format("it took and said nothing of use for {} s", patience_ / 1000 / kMillisecond));
    if ((events & POLLIN) && channel_.has_input())
      return true;
    if (check_)
      check_();
    const uint64_t left = std::min(end, patient) - now;
    count = poll(ready, 2, poll_time(check_ ? std::min(left, kCheckTime) : left));
    if (count < 0 && errno != EINTR)
      fail(std::strerror(errno));
    uint64_t times;
    if (count > 0 && ready[1].revents) [[maybe_unused]]
      const ssize_t got = read(changed_.get(), &times, sizeof times);
  }
  return ready[0].revents & (POLLIN | POLLHUP | POLLERR);
}

void TcpLink::take_input() {
  char part[4096];
  std::optional<size_t> got;
  try {
    got = channel_.receive(part);
  } catch (const Error &error) {
    fail(error.what());
  }
  if (got == 0u)
    fail("it closed the connection");
  if (got)
    parser_.feed({part, *got});
  else if (++empty_reads_ > kMostEmptyReads)
    fail("it goes on sending what is no message");
}

/// Reads what the collector says while we send: only a refusal is allowed. The size is therefore
/// bounded by one message that is not complete yet.
void TcpLink::check_input() {
  take_input();
  try {
    if (const std::optional<Message> message = parser_.next()) {
      check_refusal(*message);
      throw Error(fmt::format("it sent a message of type {}, which has no place here",
                              uint32_t(message->type)));
    }
  } catch (const Error &error) {
    fail(error.what());
  }
}

void TcpLink::check_refusal(const Message &message) const {
  if (message.type == MessageType::refuse)
    throw Error("it says: " + printable_line(message.payload.substr(0, kLongestText)));
}

void TcpLink::fail(const std::string &why) {
  channel_.close();
  throw Error(fmt::format("cannot send to {}: {}", endpoint_.text(), why));
}

} // namespace ovnitrace
