// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/slices/interrupts.h"

#include <algorithm>
#include <array>

namespace ovnitrace {

namespace {

constexpr size_t kMostNested = 16; // more than any hardware nests
constexpr uint16_t kTimer = FTRACE_INTERRUPT_VECTOR | 0xec;

struct SourceWords {
  std::string_view name, phrase;
};

/// The names, by InterruptSource.
constexpr std::array<SourceWords, 4> kSources = {{
    {"timer", "a timer"},
    {"network", "the network"},
    {"I/O", "I/O"},
    {"interrupt", "an interrupt"},
}};

} // namespace

void ServedInterrupts::event(const Event &event) {
  switch (event.kind) {
  case FTrace_EVT_interrupt_start:
    return start(event.cpu, event.par1);
  case FTrace_EVT_interrupt_end:
    return end(event.cpu, event.par1);
  case FTrace_EXT_device:
    device_ = event;
    return;
  case FTrace_EVT_timer_wakeup_start:
    return start(event.cpu, kTimer);
  case FTrace_EVT_timer_wakeup_end:
    return end(event.cpu, kTimer);
  case FTrace_EVT_blackout_start:
  case FTrace_EVT_blackout_end:
    if (event.cpu < served_.size())
      served_[event.cpu].clear(); // what ended is not known
    return;
  case FTrace_filter_interrupt:
  case FTrace_filter_timer:
    for (auto &served : served_)
      served.clear();
    return;
  }
}

void ServedInterrupts::start(uint32_t cpu, uint16_t interrupt) {
  if (cpu < served_.size() && served_[cpu].size() < kMostNested)
    served_[cpu].push_back(interrupt);
}

/// Ends an interrupt. An end without a start is ignored: it began before the capture, or was lost.
void ServedInterrupts::end(uint32_t cpu, uint16_t interrupt) {
  if (cpu >= served_.size())
    return;
  std::vector<uint16_t> &served = served_[cpu];
  const auto last = std::find(served.rbegin(), served.rend(), interrupt);
  if (last != served.rend())
    served.erase(last.base() - 1, served.end());
}

InterruptSource source_of(uint16_t interrupt) {
  if (interrupt == kNoInterrupt)
    return InterruptSource::other;
  const uint16_t number = interrupt & 0xff;
  if (interrupt & FTRACE_INTERRUPT_SOFT)
    switch (number) {
    case 1: // TIMER
    case 8: // HRTIMER
      return InterruptSource::timer;
    case 2: // NET_TX
    case 3: // NET_RX
      return InterruptSource::network;
    case 4: // BLOCK
    case 5: // IRQ_POLL
      return InterruptSource::device;
    default:
      return InterruptSource::other;
    }
  if (interrupt & FTRACE_INTERRUPT_VECTOR) // of the CPU itself
    return interrupt == kTimer ? InterruptSource::timer : InterruptSource::other;
  return InterruptSource::device; // a request of a device
}

std::string_view source_name(InterruptSource source) {
  return kSources[size_t(source)].name;
}

std::string_view source_phrase(InterruptSource source) {
  return kSources[size_t(source)].phrase;
}

bool ends_sleep(std::string_view call, uint32_t context) {
  return context == FTRACE_WAKER_HARDIRQ &&
         (call.starts_with("nanosleep") || call.starts_with("clock_nanosleep"));
}

} // namespace ovnitrace
