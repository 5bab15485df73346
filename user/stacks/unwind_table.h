// SPDX-License-Identifier: BSD-2-Clause
// Publishes rules of unwinding to the kernel side.
#pragma once

#include <ovnitrace/unwind.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ovnitrace {

/// Writes the hash table that bpf/scheduler/unwind.bpf.h reads at the same time. For one thread.
class UnwindTable {
public:
  /// Borrows UNWIND_RULES slots and UNWIND_ASKS counts, all 0.
  UnwindTable(unwind_slot *slots, unwind_ask *asks) : slots_(slots), asks_(asks) {}

  /// Returns the rule for an address of a process image; UNWIND_UNKNOWN without one.
  uint64_t find(uint64_t image, uint64_t address) const;
  /// Adds a rule, or does nothing if there is one. When the table is half full, all rules are
  /// removed first: those in use come back as the kernel side asks for them.
  void add(uint64_t image, uint64_t address, uint64_t rule);
  /// Removes the rules of an image for addresses from `start` to `end`. All rules may be asked for
  /// again.
  void forget(uint64_t image, uint64_t start, uint64_t end);

private:
  struct Entry {
    uint32_t place;
    uint64_t address;
  };

  void clear();
  void reset_asks();

  unwind_slot *const slots_;
  unwind_ask *const asks_;
  std::unordered_map<uint64_t, std::vector<Entry>> entries_; ///< by image
  uint32_t used_ = 0; ///< slots, those of removed rules included
};

} // namespace ovnitrace
