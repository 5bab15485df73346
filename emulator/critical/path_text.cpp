// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/critical/path_text.h"

#include "emulator/base/printable.h"
#include "emulator/format/call_names.h"
#include "emulator/format/value_names.h"

#include <fmt/format.h>

#include <array>

namespace ovnitrace {

namespace {

struct CauseWords {
  std::string_view text, label;
  Color color;
};

/// By Cause.
constexpr std::array<CauseWords, kCauses> kWords = {{
    {"running", "Running", palette::kRunning},
    {"waiting for CPU", "Waiting for a CPU", palette::kRobbed},
    {"throttled", "Throttled: its CPU quota was used up", palette::series(5)},
    {"timer", "Blocked until a timer", palette::series(0)},
    {"I/O", "Blocked until I/O", palette::series(3)},
    {"network", "Blocked until the network", palette::series(4)},
    {"interrupt", "Blocked until an interrupt", palette::series(2)},
    {"outside", "Blocked until a thread that is not traced", palette::series(6)},
    {"blocked", "Blocked, no wakeup known", palette::kBlocked},
    {"ended", "Has ended", palette::kGone},
    {"unknown", "Not known", palette::kNothing},
}};

std::string outside_text(const PathSegment &segment, const Catalog &catalog) {
  if (segment.peer.tid == 0)
    return "outside: the idle task";
  const std::vector<PeerName> &peers = catalog.nodes[catalog.threads[segment.thread].node].peers;
  const PeerName *peer = find_peer(peers, segment.peer.tid, segment.to);
  return peer && !peer->name.empty()
             ? fmt::format("outside: {} ({})", printable_line(peer->name), segment.peer.tid)
             : fmt::format("outside: thread {}", segment.peer.tid);
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

std::string_view call_text(const PathSegment &segment, std::string_view machine) {
  return call_name(machine, segment.call);
}

std::string cause_text(const PathSegment &segment, const Catalog &catalog,
                       std::string_view machine) {
  const std::string word(kWords[size_t(segment.cause)].text);
  switch (segment.cause) {
  case Cause::outside:
    return outside_text(segment, catalog);
  case Cause::interrupt:
    return interrupt_text(segment.interrupt);
  case Cause::blocked: {
    const std::string_view call = call_text(segment, machine);
    return call.empty() ? word : fmt::format("{} in {}", word, call);
  }
  default:
    return word;
  }
}

} // namespace ovnitrace
