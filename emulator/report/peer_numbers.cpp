// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/report/peer_numbers.h"

namespace ovnitrace {

uint32_t PeerNumbers::number(const Peer &peer, uint32_t host, uint64_t time) {
  if (peer.thread != kNone)
    return 1 + peer.thread;
  if (peer.tid == kNone)
    return 0;
  const PeerName *name = peer.tid ? find_peer(catalog_.hosts[host].peers, peer.tid, time) : nullptr;
  const auto next = uint32_t(1 + catalog_.threads.size() + untraced_.size());
  uint32_t &number =
      name ? named_[name] : nameless_[uint64_t(peer.tid ? host : 0) << 32 | peer.tid];
  if (number == 0) {
    number = next;
    untraced_.push_back({peer.tid, name ? name->name : std::string()});
  }
  return number;
}

} // namespace ovnitrace
