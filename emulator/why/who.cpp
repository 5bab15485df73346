// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/who.h"

namespace ovnitrace {

uint32_t tid_of(const Catalog &catalog, Who who) {
  switch (who.kind()) {
  case Who::Kind::thread:
    return catalog.threads[who.number()].tid;
  case Who::Kind::untraced:
    return who.number();
  case Who::Kind::idle:
    return 0;
  default:
    return kNone;
  }
}

std::string name_of(const Catalog &catalog, Who who, uint32_t node) {
  switch (who.kind()) {
  case Who::Kind::thread:
    return catalog.threads[who.number()].name;
  case Who::Kind::untraced: {
    const PeerName *peer = find_peer(catalog.nodes[node].peers, who.number(), catalog.end);
    return peer ? peer->name : "";
  }
  case Who::Kind::idle:
    return "idle";
  case Who::Kind::unseen:
    return "no traced thread";
  case Who::Kind::interrupt:
    return std::string(source_name(InterruptSource(who.number())));
  case Who::Kind::device:
    return device_name(catalog.nodes[node].devices, who.device_number());
  case Who::Kind::nobody:
    return "nobody yet";
  case Who::Kind::others:
    return "others";
  case Who::Kind::not_known:
    break;
  }
  return "not known";
}

} // namespace ovnitrace
