// SPDX-License-Identifier: BSD-2-Clause
// Which part of a trace is converted.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

/// All conditions must hold; a list that is empty admits all. Everything is replayed whatever the
/// cut, so that the states that hold at its begin are right.
struct Cut {
  uint64_t from = 0;        ///< ns from the start of the trace; it becomes time 0
  uint64_t to = UINT64_MAX; ///< ns from the start of the trace
  std::vector<uint32_t> pids, tids;
  std::vector<std::string> comms; ///< names of threads, as shell patterns
  std::vector<uint32_t> cpus;     ///< numbers; of the rows of cpu.prv

  bool keeps(const ThreadInfo &thread) const;
  bool keeps_cpu(uint32_t index) const;
};

} // namespace ovnitrace
