// SPDX-License-Identifier: BSD-2-Clause
// Who or what made a thread wait, or woke it.
#pragma once

#include "emulator/input/source.h"
#include "emulator/slices/interrupts.h"
#include "emulator/slices/slice.h"

#include <cstdint>
#include <string>

namespace ovnitrace {

/// A thread, traced or not, or what there is in its place.
class Culprit {
public:
  enum class Kind : uint8_t {
    not_known, ///< events are missing, or nothing says it
    thread,    ///< number(): index into Catalog::threads
    untraced,  ///< number(): its tid
    idle,      ///< nobody: the CPU was idle
    unseen,    ///< no thread of the trace, which does not say who else: nobody, or others
    interrupt, ///< number(): InterruptSource
    device,    ///< a block device: device_number()
    nobody,    ///< nobody yet: it still waits when the range ends
    others,    ///< of holders of a CPU: there are too many to tell them apart
  };

  constexpr Culprit(Kind kind = Kind::not_known, uint32_t number = 0)
      : code_(uint32_t(kind) << kBits | number) {}
  /// A peer that an event names: the thread that runs instead, or a waker in task context.
  static constexpr Culprit of(const Peer &peer) {
    return peer.thread != kNone ? Culprit(Kind::thread, peer.thread)
           : peer.tid == kNone  ? Culprit()
           : peer.tid == 0      ? Culprit(Kind::idle)
                                : Culprit(Kind::untraced, peer.tid);
  }

  /// A block device by its number (dev_t); "I/O" for one whose number does not fit.
  static constexpr Culprit of_device(uint32_t device) {
    const uint32_t major = device >> FTRACE_DEVICE_MAJOR_SHIFT;
    const uint32_t minor = device & FTRACE_DEVICE_MINOR_MASK;
    return device == 0 || minor > kMinorMask
               ? Culprit(Kind::interrupt, uint32_t(InterruptSource::device))
               : Culprit(Kind::device, major << kMinorBits | minor);
  }

  constexpr Kind kind() const { return Kind(code_ >> kBits); }
  constexpr uint32_t number() const { return code_ & ((1u << kBits) - 1); }
  constexpr uint32_t code() const { return code_; } ///< as a key
  /// Whether the trace says who it is.
  constexpr bool is_known() const { return kind() != Kind::not_known && kind() != Kind::unseen; }
  /// Of a block device: its number (dev_t).
  constexpr uint32_t device_number() const {
    return number() >> kMinorBits << FTRACE_DEVICE_MAJOR_SHIFT | (number() & kMinorMask);
  }
  static constexpr Culprit from_code(uint32_t code) {
    return Culprit(Kind(code >> kBits), code & ((1u << kBits) - 1));
  }
  constexpr bool operator==(const Culprit &) const = default;

private:
  static constexpr uint32_t kBits = 28; // a tid has 22, and no trace as many threads
  static constexpr uint32_t kMinorBits = 16, kMinorMask = (1u << kMinorBits) - 1; // a major has 12
  uint32_t code_;
};

/// kNone: it is no thread. The idle task is thread 0.
uint32_t tid_of(const Catalog &catalog, Culprit culprit);

/// Its name alone: of a thread that has none, "". `host` is where an untraced one runs.
std::string name_of(const Catalog &catalog, Culprit culprit, uint32_t host);

} // namespace ovnitrace
