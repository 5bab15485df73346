// SPDX-License-Identifier: BSD-2-Clause
// Names the thread, device or interrupt that made a thread wait, or woke it.
#pragma once

#include "emulator/input/source.h"
#include "emulator/slices/interrupts.h"
#include "emulator/slices/slice.h"

#include <cstdint>
#include <string>

namespace ovnitrace {

/// A thread, traced or not, or whatever takes its place.
class Culprit {
public:
  enum class Kind : uint8_t {
    not_known, ///< events are missing, or nothing says who
    thread,    ///< number(): index into Catalog::threads
    untraced,  ///< number(): its tid
    idle,      ///< nobody: the CPU was idle
    unseen,    ///< not a thread of the trace, which does not say more: nobody, or any other thread
    interrupt, ///< number(): InterruptSource
    device,    ///< a block device: device_number()
    nobody,    ///< nobody yet: the thread still waits when the range ends
    others,    ///< holders of a CPU that are too many to be distinguished
  };

  constexpr Culprit(Kind kind = Kind::not_known, uint32_t number = 0)
      : code_(uint32_t(kind) << kBits | number) {}
  /// Returns the thread that an event names: the one that runs next, or a waker in task context.
  static constexpr Culprit of(const Peer &peer) {
    return peer.thread != kNone ? Culprit(Kind::thread, peer.thread)
           : peer.tid == kNone  ? Culprit()
           : peer.tid == 0      ? Culprit(Kind::idle)
                                : Culprit(Kind::untraced, peer.tid);
  }

  /// Returns a block device by its number (dev_t); "I/O" for a number that does not fit.
  static constexpr Culprit of_device(uint32_t device) {
    const uint32_t major = device >> FTRACE_DEVICE_MAJOR_SHIFT;
    const uint32_t minor = device & FTRACE_DEVICE_MINOR_MASK;
    return device == 0 || minor > kMinorMask
               ? Culprit(Kind::interrupt, uint32_t(InterruptSource::device))
               : Culprit(Kind::device, major << kMinorBits | minor);
  }

  /// Returns the thread as an event names it. Neither a tid nor a thread is known of the others.
  constexpr Peer peer() const {
    return kind() == Kind::thread     ? Peer{.thread = number()}
           : kind() == Kind::untraced ? Peer{.tid = number()}
                                      : Peer{};
  }

  constexpr Kind kind() const { return Kind(code_ >> kBits); }
  constexpr uint32_t number() const { return code_ & ((1u << kBits) - 1); }
  /// Returns a key of the culprit under its name.
  constexpr uint64_t code() const { return uint64_t(name_) << 32 | code_; }
  /// Returns the same culprit; a thread under the name that it had at `time`, ns. `host` is where
  /// an untraced thread runs.
  Culprit named_at(const Catalog &catalog, uint32_t host, uint64_t time) const;
  /// Returns the number of its name: that of ThreadInfo, or of an untraced thread, 1 + its
  /// place in HostInfo::peers. 0: its last name.
  constexpr uint32_t name() const { return name_; }
  constexpr bool is_thread(uint32_t thread) const {
    return kind() == Kind::thread && number() == thread;
  }
  /// Returns whether the trace says who it is.
  constexpr bool is_known() const { return kind() != Kind::not_known && kind() != Kind::unseen; }
  /// Returns the number (dev_t) of a block device. REQUIRES: kind() == Kind::device.
  constexpr uint32_t device_number() const {
    return number() >> kMinorBits << FTRACE_DEVICE_MAJOR_SHIFT | (number() & kMinorMask);
  }
  static constexpr Culprit from_code(uint64_t code) {
    const auto low = uint32_t(code);
    Culprit culprit(Kind(low >> kBits), low & ((1u << kBits) - 1));
    culprit.name_ = uint32_t(code >> 32);
    return culprit;
  }
  constexpr bool operator==(const Culprit &) const = default;

private:
  static constexpr uint32_t kBits = 28; // a tid has 22, and no trace as many threads
  static constexpr uint32_t kMinorBits = 16, kMinorMask = (1u << kMinorBits) - 1; // a major has 12
  uint32_t code_;
  uint32_t name_ = 0;
};

/// Returns the tid of a culprit, 0 for the idle task, kNone if it is not a thread.
uint32_t tid_of(const Catalog &catalog, Culprit culprit);

/// Returns the entry of an untraced thread in HostInfo::peers, nullptr if it has no entry.
/// REQUIRES: kind() == Culprit::Kind::untraced.
const PeerName *peer_of(const Catalog &catalog, Culprit culprit, uint32_t host);

/// Returns the plain name of a culprit, "" if it has none. A thread has the name that it had when
/// it held the CPU, or woke the other. `host` is where an untraced thread runs.
std::string name_of(const Catalog &catalog, Culprit culprit, uint32_t host);

/// Returns the group of a thread (emulator/input/thread_group.h) at `time`, ns, that of an untraced
/// one when it was first seen; "" if it is no thread or not known.
std::string_view group_of(const Catalog &catalog, Culprit culprit, uint32_t host, uint64_t time);

} // namespace ovnitrace
