// SPDX-License-Identifier: BSD-2-Clause
// Who or what made a thread wait, or woke it.
#pragma once

#include "emulator/input/source.h"
#include "emulator/slices/slice.h"

#include <cstdint>
#include <string>

namespace ovnitrace {

/// A thread, traced or not, or what there is in its place.
class Who {
public:
  enum class Kind : uint8_t {
    not_known, ///< events are missing, or nothing says it
    thread,    ///< number(): index into Catalog::threads
    untraced,  ///< number(): its tid
    idle,      ///< nobody: the CPU was idle
    unseen,    ///< no traced thread: the CPU was idle, or others had it
    interrupt, ///< number(): InterruptSource
    softirq,   ///< number(): the thread that ran where a soft interrupt was served, index into
               ///< Catalog::threads: that of a packet is often served where it was sent
    softirq_untraced, ///< the same, where that thread is not traced; number(): its tid
    nobody,           ///< nobody yet: it still waits when the range ends
    others,           ///< of holders of a CPU: there are too many to tell them apart
  };

  constexpr Who(Kind kind = Kind::not_known, uint32_t number = 0)
      : code_(uint32_t(kind) << kBits | number) {}
  /// A peer that an event names: the thread that runs instead, or a waker in task context.
  static constexpr Who of(const Peer &peer) {
    return peer.thread != kNone ? Who(Kind::thread, peer.thread)
           : peer.tid == kNone  ? Who()
           : peer.tid == 0      ? Who(Kind::idle)
                                : Who(Kind::untraced, peer.tid);
  }

  /// A soft interrupt while this thread ran, traced or not.
  static constexpr Who softirq_while(const Peer &ran) {
    return ran.thread != kNone ? Who(Kind::softirq, ran.thread)
                               : Who(Kind::softirq_untraced, ran.tid);
  }

  constexpr Kind kind() const { return Kind(code_ >> kBits); }
  constexpr uint32_t number() const { return code_ & ((1u << kBits) - 1); }
  constexpr uint32_t code() const { return code_; } ///< as a key
  constexpr bool is_softirq() const {
    return kind() == Kind::softirq || kind() == Kind::softirq_untraced;
  }
  /// Of a soft interrupt: who ran meanwhile.
  constexpr Who interrupted() const {
    return Who(kind() == Kind::softirq ? Kind::thread : Kind::untraced, number());
  }
  static constexpr Who from_code(uint32_t code) {
    return Who(Kind(code >> kBits), code & ((1u << kBits) - 1));
  }
  constexpr bool operator==(const Who &) const = default;

private:
  static constexpr uint32_t kBits = 28; // a tid has 22, and no trace as many threads
  uint32_t code_;
};

/// kNone: it is no thread. The idle task is thread 0.
uint32_t tid_of(const Catalog &catalog, Who who);

/// Its name alone: of a thread that has none, "". `node` is where an untraced one runs.
std::string name_of(const Catalog &catalog, Who who, uint32_t node);

} // namespace ovnitrace
