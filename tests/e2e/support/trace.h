// SPDX-License-Identifier: BSD-2-Clause
// A capture as its own commands show it: trace.json and `ovnitrace dump`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace::test {

/// The kernel's own figures of a thread that has ended.
struct KernelAccount {
  uint64_t run_ns = 0, wait_ns = 0, slices = 0, voluntary = 0, involuntary = 0;
};

struct ThreadRecord {
  uint32_t tid = 0, pid = 0, parent = 0;
  std::string name;
  std::optional<KernelAccount> account;
};

/// trace.json
struct TraceRecord {
  uint64_t begin = 0, end = 0; ///< ns, CLOCK_MONOTONIC; end 0: not reported
  uint64_t events = 0, logged = 0, forgotten = 0, lost = 0, skipped_runs = 0, life_lost = 0,
           records = 0, records_dropped = 0;
  std::string how, write_error;
  int exit_status = 0;
  uint32_t program_pid = 0; ///< 0: not reported
  std::vector<uint32_t> attached_pids;
  std::vector<ThreadRecord> threads;

  const ThreadRecord *thread(uint32_t tid) const; ///< null: none
};
TraceRecord read_trace_json(const std::string &trace);

/// One line of `ovnitrace dump`.
struct DumpEvent {
  uint64_t time = 0; ///< ns from the start of the trace, 0 also before it
  int cpu = -1;
  std::string event;
  std::string comm; ///< with '_' for a blank
  uint32_t tid = 0; ///< 0: about no thread
  std::string details;

  /// Returns the value of `key=` in the details; empty if the key is missing.
  std::string detail(const std::string &key) const;
  bool takes_cpu() const { return event == "task_dispatch"; }
  bool leaves_cpu() const {
    return event == "task_epilogue" || event == "task_sleep" || event == "task_end";
  }
};

/// Returns the tid of a thread as dump prints it: `comm(tid)` or `tid`.
uint32_t tid_of(const std::string &thread);

/// Runs `ovnitrace dump` on a trace that must be sound.
std::vector<DumpEvent> dump(const std::string &trace);
std::vector<DumpEvent> parse_dump(const std::string &text);
std::map<uint32_t, std::vector<DumpEvent>> by_thread(const std::vector<DumpEvent> &events);

/// Counts the kernel's transitions among the events. A switch between two traced threads is two
/// events.
uint64_t count_transitions(const std::vector<DumpEvent> &events);

} // namespace ovnitrace::test
