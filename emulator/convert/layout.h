// SPDX-License-Identifier: BSD-2-Clause
// Lays out the rows of the two traces, and names them.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/core/system.h"
#include "emulator/prv/prv_writer.h"
#include "emulator/prv/row.h"

#include <vector>

namespace ovnitrace {

/// The rows of one trace. Threads and CPUs are by index in the System.
struct Layout {
  PrvHeader header;
  std::vector<PrvRow> rows;
  RowNames names;
  std::vector<uint32_t> row_of;     ///< by thread (or CPU): its row, kNone if left out
  std::vector<uint32_t> cpu_number; ///< by CPU: its number in the header, 0 if it has none
};

/// Lays out threads by process, then thread, on real hosts and CPUs. Throws Error if the cut leaves
/// no thread.
Layout thread_layout(const System &system, const Cut &cut);

/// Lays out CPUs by number, each as a row of one task, as ovni writes them: "0:1:1(nrows:1)". The
/// virtual CPU is last. Throws Error if the cut leaves no CPU.
Layout cpu_layout(const System &system, const Cut &cut);

} // namespace ovnitrace
