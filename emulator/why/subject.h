// SPDX-License-Identifier: BSD-2-Clause
// Finds one name for all threads that `why` explains.
#pragma once

#include "emulator/input/trace_info.h"
#include "emulator/why/explanation.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

struct Subject {
  std::string name;              ///< "redis-server (18210)", "make", "nginx"
  std::string count;             ///< " (13 threads of 9 processes)"; empty for one thread
  bool is_machine = false;       ///< all threads of a machine
  std::vector<uint32_t> threads; ///< by index in the Catalog
  std::vector<uint32_t> mains;   ///< main_threads(); empty for one thread
  size_t programs = 1;           ///< different names of processes in `name`
};

/// Returns the subject for the threads that `why` shows. Its name is that of the only thread, of
/// the program that was started, of the process, or of the processes.
Subject subject_of(const TraceInfo &info, const Catalog &catalog, const Explanation &why);

} // namespace ovnitrace
