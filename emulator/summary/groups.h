// SPDX-License-Identifier: BSD-2-Clause
// Threads of a summary in order, and summed up by process and by name.
#pragma once

#include "emulator/input/source.h"
#include "emulator/summary/summary.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

/// Several threads as one.
struct ThreadGroup {
  uint32_t host = 0;
  uint32_t pid = 0; ///< 0: of several processes
  std::string name; ///< of its main thread, or the one that all have; empty: not known
  size_t threads = 0;
  ThreadSummary sum;
};

/// The words that threads can be sorted by, the default first.
std::vector<std::string> sort_words();

/// Indices of the threads that the cut keeps, the largest by one of sort_words() first, then by
/// row.
std::vector<uint32_t> sorted_threads(const Summary &summary, const std::string &word);

/// The name of the process of a thread, an index into Catalog::threads: that of its main thread,
/// which need not be in the cut.
std::string process_name(const Catalog &catalog, size_t thread);

/// Those threads by process, and by name; the largest group first, then by row.
std::vector<ThreadGroup> by_process(const Catalog &catalog, const Summary &summary,
                                    const std::string &word);
std::vector<ThreadGroup> by_name(const Catalog &catalog, const Summary &summary,
                                 const std::string &word);

} // namespace ovnitrace
