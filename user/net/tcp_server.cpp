// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/tcp_server.h"

#include "emulator/base/error.h"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ovnitrace {

namespace {

constexpr uint64_t kSecond = 1'000'000'000; // ns
constexpr uint64_t kIntroductionTime = 10 * kSecond, kClosingTime = 5 * kSecond;
constexpr unsigned kMostIdle = 64; ///< connections that have not said who they are, or have ended:
                                   ///< a new one takes the oldest's place
constexpr size_t kReadSize = 256 << 10;

UniqueFd listen_on(const addrinfo &address) {
  UniqueFd fd(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (fd && (setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
             bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0 ||
             listen(fd.get(), SOMAXCONN) != 0))
    return UniqueFd();
  return fd;
}

/// A sender may be quiet for long; one whose machine is gone is noticed after two minutes.
void keep_alive(int fd) {
  const std::pair<int, int> options[] = {{TCP_KEEPIDLE, 60}, {TCP_KEEPINTVL, 10}, {TCP_KEEPCNT, 6}};
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  for (const auto &[option, value] : options)
    setsockopt(fd, IPPROTO_TCP, option, &value, sizeof value);
}

} // namespace

TcpServer::TcpServer(const Endpoint &endpoint, const std::string &key, unsigned most_senders,
                     MakeTraceSink make_sink, Tell tell)
    : socket_(open_socket(endpoint, "listen on", listen_on)), key_(key),
      most_senders_(most_senders), make_sink_(std::move(make_sink)), tell_(std::move(tell)),
      buffer_(kReadSize, '\0') {}

void TcpServer::add(std::vector<pollfd> &polls) {
  polls.push_back({socket_.get(), POLLIN, 0});
  for (Connection &connection : connections_)
    polls.push_back({connection.fd.get(),
                     short(POLLIN | (connection.session.output().empty() ? 0 : POLLOUT)), 0});
}

void TcpServer::handle(std::span<const pollfd> polls, uint64_t now) {
  size_t n = 1;
  for (auto at = connections_.begin(); at != connections_.end(); n++) {
    handle(*at, polls[n].revents, now);
    at = at->fd ? std::next(at) : connections_.erase(at);
  }
  if (polls[0].revents)
    accept_all(now);
}

void TcpServer::accept_all(uint64_t now) {
  for (;;) {
    UniqueFd fd(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) // none waits; or no descriptor is free: it waits
      return;
    add_connection(std::move(fd), now);
  }
}

void TcpServer::add_connection(UniqueFd fd, uint64_t now) {
  const auto idle = [](const Connection &connection) {
    return !connection.session.introduced() || connection.session.ended();
  };
  if (unsigned(std::count_if(connections_.begin(), connections_.end(), idle)) >= kMostIdle)
    connections_.erase(std::find_if(connections_.begin(), connections_.end(), idle));
  keep_alive(fd.get());
  const std::string peer = peer_text(fd.get());
  const MakeTraceSink make_sink = [this](const std::string &name) {
    if (introduced() >= most_senders_)
      throw Error(fmt::format("{} senders are being served, no more are allowed (--max-senders)",
                              most_senders_));
    return make_sink_(name);
  };
  try {
    connections_.push_back(
        {std::move(fd), peer, TcpSession(key_, make_sink), now + kIntroductionTime});
    write(connections_.back());
  } catch (const Error &error) {
    tell_(fmt::format("{}: {}", peer, error.what()));
  }
}

unsigned TcpServer::introduced() const {
  return unsigned(
      std::count_if(connections_.begin(), connections_.end(), [](const Connection &connection) {
        return connection.session.introduced() && !connection.session.ended();
      }));
}

void TcpServer::handle(Connection &connection, short events, uint64_t now) {
  if (events & (POLLIN | POLLHUP | POLLERR))
    read(connection);
  if (connection.deadline && now > connection.deadline) {
    connection.gone |= connection.session.ended();
    connection.session.refuse("it did not say who it is in time");
  }
  write(connection);
  tell_about(connection, now);
  if (connection.gone)
    connection.fd = UniqueFd();
}

/// What comes after the end of a session is thrown away.
void TcpServer::read(Connection &connection) {
  const ssize_t got = recv(connection.fd.get(), buffer_.data(), buffer_.size(), 0);
  if (got > 0)
    connection.session.receive({buffer_.data(), size_t(got)});
  else if (got == 0 || (errno != EAGAIN && errno != EINTR))
    lose(connection);
}

/// What is to be said; then, after the end, that nothing follows. The connection stays until the
/// other side closes it too, lest it loses what was said last.
void TcpServer::write(Connection &connection) {
  std::string &output = connection.session.output();
  while (!connection.gone && !output.empty()) {
    const ssize_t sent = send(connection.fd.get(), output.data(), output.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN)
      return;
    if (sent < 0 && errno != EINTR)
      return lose(connection);
    output.erase(0, sent > 0 ? size_t(sent) : 0);
  }
  if (!connection.gone && connection.session.ended())
    shutdown(connection.fd.get(), SHUT_WR);
}

void TcpServer::lose(Connection &connection) {
  connection.session.disconnect();
  connection.gone = true;
}

void TcpServer::tell_about(Connection &connection, uint64_t now) {
  const TcpSession &session = connection.session;
  if (session.introduced() && !connection.told_begin) {
    connection.told_begin = true;
    connection.deadline = 0;
    tell_(fmt::format("{} sends; written to {}", connection.peer, session.sink()->path()));
  }
  if (session.ended() && !connection.told_end) {
    connection.told_end = true;
    connection.deadline = now + kClosingTime;
    incomplete_ |= session.introduced() && !session.complete();
    const std::string what = session.introduced() ? session.sink()->path() : connection.peer;
    tell_(session.complete()
              ? fmt::format("{} is complete: {} bytes", what, session.sink()->bytes())
              : fmt::format("{}: error: {}", what, session.error()));
  }
}

void TcpServer::finish() {
  for (Connection &connection : connections_) {
    connection.session.refuse("the collector was stopped");
    write(connection);
    tell_about(connection, 0);
  }
  connections_.clear();
}

} // namespace ovnitrace
