// SPDX-License-Identifier: BSD-2-Clause
// Sums up where threads were off their CPUs: the time of each stack. Profiles and flame graphs are
// made from it.
#pragma once

#include "emulator/input/stacks.h"
#include "emulator/slices/slice.h"
#include "emulator/slices/start_gate.h"
#include "emulator/why/explanation.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace ovnitrace {

struct OffCpuOptions {
  bool per_thread = false; ///< each thread separately; otherwise those of one name together
  std::vector<uint32_t> programs = {}; ///< started_threads(): waits for their start are left out
};

/// Sums up the time in which threads were blocked or waited for a CPU. Memory grows with distinct
/// stacks and threads, not with the length of the trace.
class OffCpuTimes final : public SliceSink {
public:
  /// A thread, or all threads of one name, while they had their names. A name is empty if it is not
  /// known.
  struct Owner {
    uint32_t thread = kNone; ///< index in the catalog; one of several without `per_thread`
    std::string process, name;
  };
  /// What a sum is about.
  struct Key {
    uint32_t owner = 0, host = 0;
    uint32_t stack = kNone; ///< number in the table of stacks; kNone: no stack
    Block block = {};       ///< if it was blocked
    WaitKind wait = WaitKind::not_known;
    bool waits = false; ///< for a CPU; false: blocked
    auto operator<=>(const Key &) const = default;
  };
  struct Sum {
    uint64_t ns = 0, count = 0;
  };
  using Sums = std::map<Key, Sum>;

  /// Borrows both.
  OffCpuTimes(const Catalog &catalog, const Stacks &stacks, OffCpuOptions options);

  void on_event(const Event &event, const System &) override { gate_.event(event); }
  void on_slice(const Slice &slice) override;

  const Sums &sums() const { return sums_; }
  const std::vector<Owner> &owners() const { return owners_; }
  const Catalog &catalog() const { return catalog_; }
  const StackTable &stacks(uint32_t host) const { return stacks_.of_host(host); }
  /// Returns the system call or the kind of wait as `why` prints it: "futex", "after a wakeup".
  std::string cause(const Key &key) const;
  /// Returns what is shown in place of a function inside the innermost frame: "[waiting for a
  /// CPU]", and "[read]" or "[blocked]" where there is no stack. Empty: nothing.
  std::string innermost(const Key &key) const;

  uint64_t blocked() const { return blocked_; }   ///< ns
  uint64_t waiting() const { return waiting_; }   ///< ns: for a CPU
  uint64_t no_stack() const { return no_stack_; } ///< ns of blocked() without a stack

private:
  struct Current {
    uint32_t owner = kNone;
    uint64_t until = 0; ///< ns: until then the names stay
  };

  uint32_t owner_of(uint32_t thread, uint64_t time);
  const ThreadInfo &main_thread_of(uint32_t thread) const;

  const Catalog &catalog_;
  const Stacks &stacks_;
  const OffCpuOptions options_;
  StartGate gate_;
  std::vector<Current> current_;                                               ///< by thread
  std::map<std::tuple<uint32_t, std::string, std::string>, uint32_t> numbers_; ///< of owners
  std::vector<Owner> owners_;
  Sums sums_;
  uint64_t blocked_ = 0, waiting_ = 0, no_stack_ = 0;
};

} // namespace ovnitrace
