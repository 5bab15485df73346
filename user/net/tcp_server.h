// SPDX-License-Identifier: BSD-2-Clause
// The senders of a collector that come by TCP.
#pragma once

#include "emulator/base/unique_fd.h"
#include "user/net/endpoint.h"
#include "user/net/server.h"
#include "user/net/tcp_session.h"

#include <cstdint>
#include <list>
#include <string>

namespace ovnitrace {

class TcpServer final : public Server {
public:
  /// Listens. `make_sink` and `tell` are called on the thread of the caller of handle(). Throws
  /// Error.
  TcpServer(const Endpoint &endpoint, const std::string &key, unsigned most_senders,
            MakeTraceSink make_sink, Tell tell);

  std::string address() const override { return "tcp://" + local_text(socket_.get()); }
  void add(std::vector<pollfd> &polls) override;
  void handle(std::span<const pollfd> polls, uint64_t now) override;
  void finish() override;
  bool incomplete() const override { return incomplete_; }

private:
  struct Connection {
    UniqueFd fd;
    std::string peer;
    TcpSession session;
    uint64_t deadline = 0; ///< ns: until when it must be introduced, or closed; 0: none
    bool told_begin = false;
    bool told_end = false;
    bool gone = false; ///< to be closed
  };
  void accept_all(uint64_t now);
  void add_connection(UniqueFd fd, uint64_t now);
  void handle(Connection &connection, short events, uint64_t now);
  void read(Connection &connection);
  void write(Connection &connection);
  void lose(Connection &connection);
  void tell_about(Connection &connection, uint64_t now);
  unsigned introduced() const;

  const UniqueFd socket_;
  const std::string key_;
  const unsigned most_senders_;
  const MakeTraceSink make_sink_;
  const Tell tell_;
  std::list<Connection> connections_;
  std::string buffer_;
  bool incomplete_ = false;
};

} // namespace ovnitrace
