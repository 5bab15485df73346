// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/tcp_server.h"

#include "emulator/base/error.h"

#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

namespace ovnitrace {

namespace {

constexpr uint64_t kSecond = 1'000'000'000; // ns
constexpr uint64_t kIntroductionTime = 10 * kSecond, kDescriptionTime = 60 * kSecond,
                   kClosingTime = 5 * kSecond;
constexpr unsigned kMostIdle = 64; ///< connections not described yet, or ended
constexpr size_t kReadSize = 256 << 10;

/// Keeps the connection alive. A sender may be silent for long; if its machine is gone, this is
/// noticed after two minutes.
void keep_alive(int fd) {
  const std::pair<int, int> options[] = {{TCP_KEEPIDLE, 60}, {TCP_KEEPINTVL, 10}, {TCP_KEEPCNT, 6}};
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  for (const auto &[option, value] : options)
    setsockopt(fd, IPPROTO_TCP, option, &value, sizeof value);
}

} // namespace

TcpServer::TcpServer(const Endpoint &endpoint, const std::optional<PresharedKey> &key,
                     unsigned most_senders, MakeTraceSink make_sink, Report report)
    : Server(listen_on(endpoint), most_senders, std::move(make_sink), std::move(report)), key_(key),
      buffer_(kReadSize, '\0') {}

void TcpServer::add(std::vector<pollfd> &polls) {
  polls.push_back({now_ < next_accept_ ? -1 : socket_.get(), POLLIN, 0});
  for (const Connection &connection : connections_) {
    const short writes = connection.session.output().empty() ? 0 : POLLOUT;
    polls.push_back(
        {connection.channel.fd(), short(POLLIN | connection.channel.waits_for() | writes), 0});
  }
}

void TcpServer::handle(std::span<const pollfd> polls, uint64_t now) {
  now_ = now;
  size_t n = 1;
  for (auto at = connections_.begin(); at != connections_.end(); n++) {
    handle(*at, polls[n].revents);
    at = at->channel.open() ? std::next(at) : connections_.erase(at);
  }
  // Until none waits. If no descriptor is free, those that wait do not keep the collector awake.
  while (polls[0].revents) {
    sockaddr_storage storage = {};
    auto *const address = reinterpret_cast<sockaddr *>(&storage);
    socklen_t size = sizeof storage;
    UniqueFd fd(accept4(socket_.get(), address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        next_accept_ = now_ + kSecond;
      return;
    }
    add_connection(std::move(fd), address_text(address, size));
  }
}

void TcpServer::add_connection(UniqueFd fd, const std::string &peer) {
  make_room(false);
  make_room(true);
  keep_alive(fd.get());
  const MakeTraceSink make_sink = [this](const std::string &name) {
    check_room();
    return make_sink_(name);
  };
  try {
    connections_.push_back(
        {.channel = SecureChannel(std::move(fd), SecureChannel::Side::collector, key_),
         .peer = peer,
         .session = TcpSession(make_sink),
         .since = now_});
  } catch (const Error &error) {
    report_some(peer, error.what());
  }
}

/// Ends a connection, if there are too many that are not described yet or have ended.
void TcpServer::make_room(bool proved) {
  std::map<std::string, std::vector<Connection *>> idle; ///< by host
  unsigned all = 0;
  for (Connection &one : connections_)
    if (one.is_idle() && one.proved == proved)
      idle[one.peer.substr(0, one.peer.rfind(':'))].push_back(&one), all++;
  if (all < kMostIdle)
    return;
  const auto most = std::max_element(idle.begin(), idle.end(), [](const auto &a, const auto &b) {
    return a.second.size() < b.second.size();
  });
  Connection *const oldest = most->second.front();
  refuse(*oldest, "another connection needed its place");
  connections_.remove_if([oldest](const Connection &one) { return &one == oldest; });
}

/// Throws Error if no more senders are served.
void TcpServer::check_room() const {
  const auto serving = std::count_if(connections_.begin(), connections_.end(),
                                     [](const Connection &one) { return !one.is_idle(); });
  if (serving >= most_senders_)
    throw Error(full_text());
}

void TcpServer::handle(Connection &connection, short events) {
  if (events)
    read(connection);
  const uint64_t waited = now_ - connection.since;
  if (connection.ended)
    connection.gone |= waited > kClosingTime;
  else if (!connection.session.introduced() && waited > kIntroductionTime)
    connection.session.refuse("it did not identify itself in time");
  else if (!connection.serving && waited > kDescriptionTime)
    connection.session.refuse("it did not describe its trace in time");
  write(connection);
  follow(connection);
  if (connection.gone)
    connection.channel.close();
}

/// Reads from a connection. Bytes after the end of a session are thrown away.
void TcpServer::read(Connection &connection) {
  try {
    if (!connection.channel.handshake())
      return;
    connection.proved = key_.has_value();
    for (size_t read = 0; read < kReadSize;) {
      const std::optional<size_t> got = connection.channel.receive(buffer_);
      if (!got)
        return;
      if (*got == 0) {
        connection.session.disconnect();
        connection.gone = true;
        return;
      }
      connection.session.receive({buffer_.data(), *got});
      read += *got;
    }
  } catch (const Error &error) {
    connection.session.refuse(error.what());
    connection.gone |= connection.channel.encrypts(); // no word of ours can reach it
  }
}

/// Writes what is to be sent and then, after the end, that nothing follows. The connection stays
/// open until the other side closes it, so that the other side loses nothing.
void TcpServer::write(Connection &connection) {
  std::string &output = connection.session.output();
  try {
    while (!connection.gone && !output.empty()) {
      if (!connection.channel.handshake()) { // it has ended without one: nothing can be said
        connection.gone = true;
        return;
      }
      const size_t sent = connection.channel.send(output);
      if (!sent)
        return;
      output.erase(0, sent);
    }
  } catch (const Error &error) {
    connection.session.disconnect(error.what());
    connection.gone = true;
  }
  if (!connection.gone && connection.session.ended())
    shutdown(connection.channel.fd(), SHUT_WR);
}

void TcpServer::refuse(Connection &connection, const std::string &why) {
  connection.session.refuse(why);
  write(connection);
  follow(connection);
}

/// Reports what it has come to.
void TcpServer::follow(Connection &connection) {
  TcpSession &session = connection.session;
  if (session.described() && !session.ended() && !connection.serving) {
    try {
      check_room(); // others may have come first
    } catch (const Error &error) {
      return refuse(connection, error.what());
    }
    connection.serving = true;
    report_(fmt::format("{} sends; written to {}", connection.peer, session.sink()->path()));
  }
  if (!session.ended() || std::exchange(connection.ended, true))
    return;
  connection.since = now_;
  incomplete_ |= session.introduced() && !session.complete();
  const std::string what = session.introduced() ? session.sink()->path() : connection.peer;
  if (session.complete())
    report_(fmt::format("{} is complete: {} bytes", what, session.sink()->bytes()));
  else if (connection.serving)
    report_error(what, session.error());
  else
    report_some(what, session.error());
}

void TcpServer::finish() {
  for (Connection &connection : connections_)
    refuse(connection, "the collector was stopped");
  connections_.clear();
  report_rest();
}

} // namespace ovnitrace
