// SPDX-License-Identifier: BSD-2-Clause
// Tells which interrupt a CPU serves, and what that interrupt stands for.
#pragma once

#include "emulator/format/event.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace ovnitrace {

inline constexpr uint16_t kNoInterrupt = 0xffff;

/// Follows the interrupts of each CPU, if they were recorded, and the devices that wake threads.
/// The expiry of a thread's timer counts as an interrupt. Memory grows with CPUs.
class ServedInterrupts {
public:
  explicit ServedInterrupts(size_t cpus) : served_(cpus) {}

  void event(const Event &event);
  /// Returns parameter 1 of interrupt_start of the interrupt that a CPU serves; kNoInterrupt if
  /// none is known.
  uint16_t innermost(uint32_t cpu) const {
    return cpu < served_.size() && !served_[cpu].empty() ? served_[cpu].back() : kNoInterrupt;
  }

  /// Returns the number of the block device that caused this wakeup, the last event
  /// (FTrace_EXT_device); kNone if none is known.
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

/// The cause of an interrupt.
enum class InterruptSource : uint8_t {
  timer,   ///< a timer expired
  network, ///< a packet arrived or was sent
  device,  ///< a disk or another device answered
  other,   ///< anything else, or it is not known which interrupt it was
};

InterruptSource source_of(uint16_t interrupt);

/// Returns "timer", "network", "I/O" or "interrupt".
std::string_view source_name(InterruptSource source);
/// Returns the source for use in a sentence: "a timer", "the network".
std::string_view source_phrase(InterruptSource source);

/// Returns whether an interrupt that is not known was the timer of the system call, of this name
/// (call_name()), in which it woke a thread. The kernel lets the timers of calls that wait for a
/// time expire in hard interrupts. A signal can also end these calls; most signals come from
/// threads and soft interrupts. `context`: of the wakeup.
bool ends_sleep(std::string_view call, uint32_t context);

} // namespace ovnitrace
