// SPDX-License-Identifier: BSD-2-Clause
// Serves the programs that send their records to a collector by UDP (libovnitrace).
#pragma once

#include "user/net/server.h"
#include "user/net/udp_session.h"

#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace ovnitrace {

class UdpServer final : public Server {
public:
  /// Listens. Throws Error.
  UdpServer(const Endpoint &endpoint, unsigned most_senders, MakeTraceSink make_sink,
            Report report);

  std::string address() const override { return "udp://" + local_text(socket_.get()); }
  void add(std::vector<pollfd> &polls) override { polls.push_back({socket_.get(), POLLIN, 0}); }
  void handle(std::span<const pollfd> polls, uint64_t now) override;
  void finish() override;

private:
  struct Sender {
    Sender(const std::string &from, const MakeTraceSink &make_sink) : session(from, make_sink) {}
    UdpSession session;
    uint64_t last = 0; ///< ns: when something came
    std::string first; ///< its datagram 1: another one begins a trace
    bool announced = false;
  };
  using Senders = std::map<std::string, Sender>; ///< by address
  void take(const std::string &from, std::string_view bytes, uint64_t now);
  Senders::iterator sender_of(const std::string &from, bool begins, std::string_view bytes,
                              uint64_t now);
  void announce(Senders::iterator at);
  bool make_room(uint64_t now);
  void end(Senders::iterator at, std::string why = "");

  Senders senders_;
  std::deque<std::string> ended_; ///< the last of them: what still comes is theirs
};

} // namespace ovnitrace
