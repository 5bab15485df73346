// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/critical/path_text.h"

#include "emulator/base/human.h"
#include "emulator/base/printable.h"
#include "emulator/format/value_names.h"
#include "emulator/input/call_name.h"

#include <fmt/format.h>

#include <array>

namespace ovnitrace {

namespace {

struct CauseWords {
  std::string_view text, label;
  Color color;
};

/// The texts, by Cause.
constexpr std::array<CauseWords, kCauses> kWords = {{
    {"running", "Running", palette::kRunning},
    {"waiting for a CPU", "Waiting for a CPU", palette::kPreempted},
    {"throttled", "Throttled: no CPU quota or budget left", palette::kThrottled},
    {"timer", "Blocked until a timer woke it", palette::series(0)},
    {"I/O", "Blocked until I/O ended", palette::series(3)},
    {"network", "Blocked until the network woke it", palette::series(4)},
    {"interrupt", "Blocked until an interrupt woke it", palette::series(2)},
    {"outside", "Blocked until an untraced thread woke it", palette::series(6)},
    {"blocked", "Blocked, no wakeup known", palette::kBlocked},
    {"ended", "Has ended", palette::kGone},
    {"unknown", "Not known", palette::kNothing},
    {"kernel worker", "In a kernel worker", palette::series(7)},
    {"kernel worker", "In a kernel worker, queued by unknown", palette::series(8)},
    {"spins in sched_yield", "Spins in sched_yield", palette::series(9)},
    {"blocked", "Blocked, not woken yet", palette::kBlocked},
}};
static_assert(!kWords.back().text.empty(), "each cause has words");

const HostInfo &host_of(const PathSegment &segment, const Catalog &catalog) {
  return catalog.hosts[catalog.threads[segment.thread].host];
}

/// Returns "name (tid)" of the other thread of a segment.
std::string peer_text(const PathSegment &segment, const Catalog &catalog) {
  const std::string name = printable_line(peer_name(segment, catalog));
  const uint32_t tid = peer_tid(segment, catalog);
  if (tid == 0 || tid == kNone)
    return name;
  return name_and_number(name, "thread", tid);
}

std::string interrupt_text(uint16_t interrupt) {
  const bool soft = interrupt & FTRACE_INTERRUPT_SOFT;
  const std::string_view name =
      interrupt == kNoInterrupt
          ? std::string_view()
          : name_of(soft ? ValueNames(kSoftirqNames) : kVectorNames, interrupt & 0xff);
  return name.empty() ? "interrupt" : fmt::format("interrupt {}", name);
}

} // namespace

std::string_view cause_label(Cause cause) {
  return kWords[size_t(cause)].label;
}

Color cause_color(Cause cause) {
  return kWords[size_t(cause)].color;
}

std::string_view call_text(const PathSegment &segment, const Catalog &catalog) {
  return call_name(catalog, segment.thread, segment.call);
}

std::string cause_text(const PathSegment &segment, const Catalog &catalog) {
  const std::string word(kWords[size_t(segment.cause)].text);
  switch (segment.cause) {
  case Cause::outside:
    return word + ": " + peer_text(segment, catalog);
  case Cause::worker:
    return word + " " + peer_text(segment, catalog);
  case Cause::unowned:
    return peer_text(segment, catalog) + ", queued by unknown";
  case Cause::io:
    return segment.device == kNone || segment.device == 0
               ? word
               : word + ": " + device_name(host_of(segment, catalog).devices, segment.device);
  case Cause::interrupt:
    return interrupt_text(segment.interrupt);
  case Cause::blocked:
  case Cause::not_woken: {
    const std::string_view call = call_text(segment, catalog);
    return (call.empty() ? word : fmt::format("{} in {}", word, call)) +
           (segment.cause == Cause::not_woken ? ", not woken yet" : "");
  }
  default:
    return word;
  }
}

uint32_t peer_tid(const PathSegment &segment, const Catalog &catalog) {
  const Peer &peer = segment.peer;
  if (peer.thread != kNone)
    return catalog.threads[peer.thread].tid;
  return peer.tid;
}

std::string peer_name(const PathSegment &segment, const Catalog &catalog) {
  const Peer &peer = segment.peer;
  if (peer.thread != kNone)
    return catalog.threads[peer.thread].name_at(segment.from);
  if (peer.tid == 0)
    return "idle";
  const PeerName *name = find_peer(host_of(segment, catalog).peers, peer.tid, segment.to);
  return name ? name->name : std::string();
}

std::string holder_text(const PathSegment &segment, const Catalog &catalog) {
  const Peer &peer = segment.peer;
  const bool known = peer.thread != kNone || peer.tid != kNone;
  return segment.cause == Cause::waiting && known ? peer_text(segment, catalog) : std::string();
}

} // namespace ovnitrace
