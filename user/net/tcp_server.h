// SPDX-License-Identifier: BSD-2-Clause
// Serves the senders of a collector that come by TCP.
#pragma once

#include "user/net/secure_channel.h"
#include "user/net/server.h"
#include "user/net/tcp_session.h"

#include <cstdint>
#include <list>
#include <optional>
#include <string>

namespace ovnitrace {

/// Serves TCP senders. A connection has a time limit to prove the key and say who it is, to
/// describe its trace, and to close after its session.
///
/// Few connections may be undescribed or ended. A new one takes the place of the oldest one of the
/// host that has most of them. Connections that have proved the key are counted apart. A host that
/// only connects therefore keeps nobody out. What is wrong with connections that never sent a trace
/// is reported ten times, and then only counted.
class TcpServer final : public Server {
public:
  /// Listens. Throws Error.
  TcpServer(const Endpoint &endpoint, const std::optional<PresharedKey> &key, unsigned most_senders,
            MakeTraceSink make_sink, Report report);

  std::string address() const override { return "tcp://" + local_text(socket_.get()); }
  void add(std::vector<pollfd> &polls) override;
  void handle(std::span<const pollfd> polls, uint64_t now) override;
  void finish() override;

private:
  struct Connection {
    SecureChannel channel;
    std::string peer; ///< address and port
    TcpSession session;
    uint64_t since = 0;   ///< ns: when it came, or ended
    bool proved = false;  ///< that it has the key
    bool serving = false; ///< it has described its trace
    bool ended = false;   ///< its session has, and that was reported
    bool gone = false;    ///< to be closed
    bool is_idle() const { return !serving || ended; }
  };
  void add_connection(UniqueFd fd, const std::string &peer);
  void make_room(bool proved);
  void handle(Connection &connection, short events);
  void read(Connection &connection);
  void write(Connection &connection);
  void refuse(Connection &connection, const std::string &why);
  void follow(Connection &connection);
  void check_room() const;

  const std::optional<PresharedKey> key_;
  std::list<Connection> connections_;
  std::string buffer_;
  uint64_t now_ = 0;         ///< ns, of this handle()
  uint64_t next_accept_ = 0; ///< ns: until then, there was no descriptor for another connection
};

} // namespace ovnitrace
