// SPDX-License-Identifier: BSD-2-Clause
// Maps the contexts of a chunk to threads.
#pragma once

#include "emulator/format/event.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// A hash table of what id records bound to contexts. Small: hundreds of files are open at once,
/// and each has as many bindings as its chunk has threads.
class Bindings {
public:
  struct Binding {
    uint32_t tid = 0;
    uint32_t thread = kNone; ///< index into Catalog::threads
    uint16_t context = 0;    ///< 0: a free slot
  };

  Bindings() : slots_(16) {}

  /// Returns the thread of a context, kNone if it has none.
  uint32_t thread(uint16_t context) const { return slots_[place(context)].thread; }

  /// Prefetches the slot of a context.
  void prefetch(uint16_t context) const {
    __builtin_prefetch(&slots_[context & (slots_.size() - 1)], 1);
  }

  /// Returns the binding of a context, nullptr if it has none.
  Binding *find(uint16_t context) {
    Binding &slot = slots_[place(context)];
    return slot.context ? &slot : nullptr;
  }

  /// Binds a context, which is not 0, to another thread.
  void bind(uint16_t context, uint32_t tid, uint32_t thread) {
    Binding *slot = &slots_[place(context)];
    if (!slot->context && ++count_ * 2 > slots_.size()) {
      grow();
      slot = &slots_[place(context)];
    }
    *slot = {tid, thread, context};
  }

  void clear() {
    if (count_)
      slots_.assign(slots_.size(), {});
    count_ = 0;
  }

private:
  /// Returns the slot of the context, or the free one where it belongs. Contexts are mostly small
  /// successive numbers, so they need no hash. Half of the slots are free.
  size_t place(uint16_t context) const {
    const size_t mask = slots_.size() - 1;
    size_t at = context & mask;
    while (slots_[at].context != context && slots_[at].context)
      at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Binding> before(slots_.size() * 2);
    before.swap(slots_);
    for (const Binding &binding : before)
      if (binding.context)
        slots_[place(binding.context)] = binding;
  }

  std::vector<Binding> slots_;
  size_t count_ = 0;
};

} // namespace ovnitrace
