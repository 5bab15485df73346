// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/culprit.h"

#include "emulator/input/thread_group.h"

namespace ovnitrace {

Culprit Culprit::named_at(const Catalog &catalog, uint32_t host, uint64_t time) const {
  Culprit named = *this;
  if (kind() == Kind::thread) {
    named.name_ = catalog.threads[number()].name_number(time);
  } else if (kind() == Kind::untraced) {
    const std::vector<PeerName> &peers = catalog.hosts[host].peers;
    if (const PeerName *peer = find_peer(peers, number(), time))
      named.name_ = uint32_t(peer - peers.data()) + 1;
  }
  return named;
}

uint32_t tid_of(const Catalog &catalog, Culprit culprit) {
  switch (culprit.kind()) {
  case Culprit::Kind::thread:
    return catalog.threads[culprit.number()].tid;
  case Culprit::Kind::untraced:
    return culprit.number();
  case Culprit::Kind::idle:
    return 0;
  default:
    return kNone;
  }
}

const PeerName *peer_of(const Catalog &catalog, Culprit culprit, uint32_t host) {
  const std::vector<PeerName> &peers = catalog.hosts[host].peers;
  return culprit.name() ? &peers[culprit.name() - 1]
                        : find_peer(peers, culprit.number(), catalog.end);
}

std::string name_of(const Catalog &catalog, Culprit culprit, uint32_t host) {
  switch (culprit.kind()) {
  case Culprit::Kind::thread:
    return catalog.threads[culprit.number()].numbered_name(culprit.name());
  case Culprit::Kind::untraced: {
    const PeerName *peer = peer_of(catalog, culprit, host);
    return peer ? peer->name : "";
  }
  case Culprit::Kind::idle:
    return "idle";
  case Culprit::Kind::unseen:
    return "no traced thread";
  case Culprit::Kind::interrupt:
    return std::string(source_name(InterruptSource(culprit.number())));
  case Culprit::Kind::device:
    return device_name(catalog.hosts[host].devices, culprit.device_number());
  case Culprit::Kind::nobody:
    return "nobody yet";
  case Culprit::Kind::others:
    return "others";
  case Culprit::Kind::not_known:
    break;
  }
  return "not known";
}

std::string_view group_of(const Catalog &catalog, Culprit culprit, uint32_t host, uint64_t time) {
  if (culprit.kind() == Culprit::Kind::thread)
    return group_of(catalog, catalog.threads[culprit.number()], time);
  if (culprit.kind() != Culprit::Kind::untraced)
    return "";
  const PeerName *peer = peer_of(catalog, culprit, host);
  return peer ? group_of(catalog.hosts[host], *peer) : "";
}

} // namespace ovnitrace
