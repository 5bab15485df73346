// SPDX-License-Identifier: BSD-2-Clause
// Which interrupt a CPU serves, and what it stands for.
#pragma once

#include "emulator/format/event.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace ovnitrace {

inline constexpr uint16_t kNoInterrupt = 0xffff;

/// Follows the interrupts of each CPU, where they were recorded, and the devices that wake threads.
/// What a timer of a thread does when it expires is an interrupt, too. Memory depends on CPUs.
class ServedInterrupts {
public:
  explicit ServedInterrupts(size_t cpus) : served_(cpus) {}

  void event(const Event &event);
  /// Parameter 1 of interrupt_start of the one that a CPU serves; kNoInterrupt: none is known.
  uint16_t innermost(uint32_t cpu) const {
    return cpu < served_.size() && !served_[cpu].empty() ? served_[cpu].back() : kNoInterrupt;
  }

  /// The number of the block device that makes this wakeup, the last event (FTrace_EXT_device);
  /// kNone: none is known to.
  uint32_t device(const Event &wakeup) const {
    return device_.thread == wakeup.thread && device_.time == wakeup.time &&
                   device_.cpu == wakeup.cpu
               ? device_.par2
               : kNone;
  }

private:
  void start(uint32_t cpu, uint16_t interrupt);
  void end(uint32_t cpu, uint16_t interrupt);

  Event device_ = {};                         ///< the last that named a device
  std::vector<std::vector<uint16_t>> served_; ///< by CPU, the innermost last
};

/// What an interrupt brought.
enum class InterruptSource : uint8_t {
  timer,   ///< the end of a time
  network, ///< a packet
  device,  ///< the answer of a disk or another device
  other,   ///< something else, or it is not known which interrupt it was
};

InterruptSource source_of(uint16_t interrupt);

/// "timer", "network", "I/O", "interrupt".
std::string_view source_name(InterruptSource source);
/// The same in a sentence: "a timer", "the network".
std::string_view source_phrase(InterruptSource source);

/// Whether a system call of this name (call_name()) ends when a time is over: if an interrupt woke
/// a thread in it, a timer did.
bool is_sleep(std::string_view call);

} // namespace ovnitrace
