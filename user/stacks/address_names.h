// SPDX-License-Identifier: BSD-2-Clause
// Finds functions by address in lists: the kernel's, and those of JIT compilers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

class AddressNames {
public:
  struct Function {
    std::string_view name;   ///< empty: none is known there
    std::string_view module; ///< of the kernel, "[ext4]"; empty: in none
    uint64_t offset = 0;     ///< bytes from its start
  };

  /// Reads the names of the running kernel's code from an open /proc/kallsyms. Empty if the kernel
  /// hid the addresses from the user who opened it.
  static AddressNames of_kernel(int kallsyms);
  /// Reads the names of a process from /tmp/perf-PID.map, as JIT compilers write it. Only a regular
  /// file is read, and only one that belongs to root, to us or to the user of the process. It must
  /// not be older than the process, or an earlier process with this pid has left it. The start of a
  /// process that has ended is not known; `since` (ns, CLOCK_REALTIME) counts instead. Code in
  /// whose place there was other code at another time has no name. Reads at most `most` bytes, and
  /// subtracts what it has read.
  static AddressNames of_process(uint32_t pid, uint64_t since, uint64_t &most);

  bool empty() const { return entries_.empty(); }
  Function find(uint64_t address) const;

private:
  struct Entry {
    uint64_t start, end; ///< end: of what has no size, the next one's start
    uint32_t text, size, module_size;
  };
  static constexpr size_t kMost = 4 << 20;         ///< functions
  static constexpr size_t kMostBytes = 512u << 20; ///< of their names

  void add(uint64_t start, uint64_t size, std::string_view name, std::string_view module);
  void sort();
  void leave_out_doubtful();

  std::vector<Entry> entries_; ///< by start
  std::string texts_;          ///< names, each followed by its module
};

} // namespace ovnitrace
