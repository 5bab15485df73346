// SPDX-License-Identifier: BSD-2-Clause
// Sorts the threads of a summary, and sums them up by process and by name.
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
  uint32_t pid = 0; ///< 0: several processes
  std::string name; ///< of the main thread, or shared by all; empty: not known
  size_t threads = 0;
  ThreadSummary sum;
};

/// Returns the words by which threads can be sorted, the default first.
std::vector<std::string> sort_words();
/// Returns the words for the columns of `top`, which the functions below take, too.
std::vector<std::string> top_sort_words();

/// Returns the indices of the threads that the cut keeps, the largest by one of sort_words() first.
/// Equal ones are in row order.
std::vector<uint32_t> sorted_threads(const Summary &summary, const std::string &word);

/// Returns the main thread of each thread's process: indices into Catalog::threads. It may be
/// outside the cut. If the trace does not have it, as after -t TID, the first thread stands for it.
std::vector<uint32_t> main_threads(const Catalog &catalog);

/// Returns the name of a process: that of its main thread at `time`, ns, traced or not; empty if
/// the trace does not have it. `main`: one of main_threads().
std::string process_name(const Catalog &catalog, const ThreadInfo &main,
                         uint64_t time = UINT64_MAX);

/// Returns how many processes the threads have that are 1 in `shown`, by index in the Catalog. A
/// pid that was used again is several processes.
size_t count_processes(const Catalog &catalog, const std::vector<uint8_t> &shown);

/// Groups the threads that the cut keeps. The largest group comes first; equal ones are in row
/// order.
std::vector<ThreadGroup> by_process(const Catalog &catalog, const Summary &summary,
                                    const std::string &word);
std::vector<ThreadGroup> by_name(const Catalog &catalog, const Summary &summary,
                                 const std::string &word);
/// By group_of() (emulator/input/thread_group.h) at the end of the part shown.
std::vector<ThreadGroup> by_cgroup(const Catalog &catalog, const Summary &summary,
                                   const std::string &word);

} // namespace ovnitrace
