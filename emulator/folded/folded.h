// SPDX-License-Identifier: BSD-2-Clause
// Makes a flame graph of where threads were off their CPUs, in the folded format: a line for each
// stack, "process;thread;main;f;read;ksys_read_[k] 1234".
#pragma once

#include "emulator/input/stacks.h"
#include "emulator/slices/slice.h"
#include "emulator/slices/start_gate.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace ovnitrace {

struct FoldedOptions {
  bool per_thread = false; ///< each process and thread separately, with its id; otherwise by name
  /// Index of the main thread of a program that ovnitrace started: its wait for the start is left
  /// out.
  uint32_t program = kNone;
};

/// Sums up by stack the time in which threads were blocked or waited for a CPU. Memory grows with
/// distinct stacks and threads, not with the length of the trace.
class Folded final : public SliceSink {
public:
  /// Borrows both.
  Folded(const Catalog &catalog, const Stacks &stacks, FoldedOptions options);

  void on_event(const Event &event, const System &) override { gate_.event(event); }
  void on_slice(const Slice &slice) override;
  /// Calls `take` for each line, without line end, in order.
  void lines(const std::function<void(std::string_view)> &take) const;

  uint64_t blocked() const { return blocked_; }   ///< ns
  uint64_t waiting() const { return waiting_; }   ///< ns: for a CPU
  uint64_t no_stack() const { return no_stack_; } ///< ns of blocked() without a stack

private:
  /// Which threads had which stack, and whether they waited or were blocked.
  struct Key {
    uint32_t root, host, stack;
    uint16_t call;
    bool waits; ///< for a CPU; false: blocked
    auto operator<=>(const Key &) const = default;
  };

  uint32_t root_of(uint32_t thread);
  std::string text_of(const Key &key) const;

  const Catalog &catalog_;
  const Stacks &stacks_;
  const FoldedOptions options_;
  StartGate gate_;
  std::vector<uint32_t> roots_; ///< by thread: index in names_; kNone: not set yet
  std::map<std::string, uint32_t> root_names_;
  std::vector<std::string> names_; ///< "process;thread"
  std::map<Key, uint64_t> times_;  ///< ns
  uint64_t blocked_ = 0, waiting_ = 0, no_stack_ = 0;
};

} // namespace ovnitrace
