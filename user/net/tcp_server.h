// SPDX-License-Identifier: BSD-2-Clause
// Serves the senders of a collector that come by TCP.
#pragma once

#include "emulator/base/unique_fd.h"
#include "user/net/endpoint.h"
#include "user/net/secure_channel.h"
#include "user/net/server.h"
#include "user/net/tcp_session.h"

#include <cstdint>
#include <list>
#include <map>
#include <string>

namespace ovnitrace {

/// Serves TCP senders. Each step of a connection has a time limit: to prove the key and say who it
/// is, to describe its trace, and to close after its session.
///
/// The number of connections that have not described a trace, or have ended, is limited. A new one
/// takes the place of the oldest one of the host that has most of them. Connections that have
/// proved the key are counted separately. A host that only connects therefore keeps nobody out.
/// What a host does wrong before it sends is reported ten times, and then only counted.
class TcpServer final : public Server {
public:
  /// Listens. `make_sink` and `report` are called on the thread of the caller of handle(). Throws
  /// Error.
  TcpServer(const Endpoint &endpoint, const std::optional<PresharedKey> &key, unsigned most_senders,
            MakeTraceSink make_sink, Report report);

  std::string address() const override { return "tcp://" + local_text(socket_.get()); }
  void add(std::vector<pollfd> &polls) override;
  void handle(std::span<const pollfd> polls, uint64_t now) override;
  void finish() override;
  bool incomplete() const override { return incomplete_; }

private:
  struct Connection {
    SecureChannel channel;
    std::string peer; ///< address and port
    TcpSession session;
    uint64_t last = 0;     ///< ns: when something came
    uint64_t deadline = 0; ///< ns: until when its next step must be done; 0: none
    bool proved = false;   ///< that it has the key
    bool introduced = false, serving = false, ended = false; ///< what was reported of it
    bool gone = false;                                       ///< to be closed
  };
  void accept_all();
  void add_connection(UniqueFd fd);
  void make_room(bool proved);
  void complain(const std::string &peer, const std::string &line);
  void handle(Connection &connection, short events);
  void read(Connection &connection);
  void write(Connection &connection);
  void lose(Connection &connection);
  void refuse(Connection &connection, const std::string &why);
  void follow(Connection &connection);
  bool is_full();
  std::string full_text() const;

  const UniqueFd socket_;
  const std::optional<PresharedKey> key_;
  const unsigned most_senders_;
  const MakeTraceSink make_sink_;
  const Report report_;
  std::list<Connection> connections_;
  std::map<std::string, uint64_t> complaints_; ///< by host; of very many hosts together
  std::string buffer_;
  uint64_t now_ = 0; ///< ns, of this handle()
  bool incomplete_ = false;
};

} // namespace ovnitrace
