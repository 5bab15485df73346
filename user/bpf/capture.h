// SPDX-License-Identifier: BSD-2-Clause
// Loads and attaches the BPF side of a capture: rings, staging areas and counters.
#pragma once

#include "emulator/base/unique_fd.h"
#include "user/bpf/mapped_array.h"
#include "user/select/selection.h"

#include <ovnitrace/capture.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

struct bpf_object;
struct ovnitrace_bpf;

namespace ovnitrace {

struct CaptureParameters {
  bool trace_all = false;             ///< every thread of the machine
  bool transitions = true;            ///< false: the scheduler's family is filtered
  std::vector<uint32_t> targets = {}; ///< processes that are alive already: at most CAPTURE_TARGETS
  bool only_targets = false;          ///< and none of their children
  Selection selection = {};           ///< the filters that a thread must pass, too
  bool regions = false;               ///< only what is in a region of --control is recorded
  bool region_by_thread = false;      ///< a region is a thread's, and not its process's
  bool only_looks = false;            ///< nothing is recorded; for list()
  bool cmdlines = true;               ///< what processes execute is recorded
  uint32_t stacks = 0;                ///< enum stack_choice; 0: none
  /// Most frames of the program's part of a stack: 1 to CAPTURE_STACK_DEPTH.
  uint32_t stack_depth = CAPTURE_STACK_DEPTH;
  size_t ring_bytes = 8u << 20; ///< per CPU, a power of two and whole pages
};

/// What the kernel side has counted so far.
struct CaptureCounts {
  uint64_t stacks_lost;      ///< found no place
  uint64_t cmdlines_lost;    ///< found no room in the ring of cmdlines_fd()
  uint32_t cgroups_left_out; ///< that the filters name and have no room for
  uint32_t threads_found;    ///< by the last snapshot()
};

/// Loads the programs and creates the maps; the destructor detaches and frees everything. The
/// kernel does the same when the process dies, however it dies: nothing is pinned.
class Capture {
public:
  /// Needs CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN. Throws Error saying what is missing.
  explicit Capture(const CaptureParameters &parameters);

  /// Starts to log transitions.
  void attach();
  /// Stops logging. After it returns, no program of ours runs on any CPU.
  void detach();

  /// Sets whether children that the calling thread creates from now on are traced.
  void follow_children_of_caller(bool follow);
  /// Traces the targets and, unless only_targets, their living descendants. Then puts a
  /// LIFE_SNAPSHOT of each traced thread that is alive into the life ring. REQUIRES: attach().
  void snapshot();
  /// Chooses the existing cgroups that the filters name. Returns the paths of each choice. Cgroups
  /// that are created later are chosen, too. REQUIRES: attach(), or `only_looks`.
  std::vector<std::vector<std::string>> choose_cgroups();
  /// Returns the living threads that would be traced now. REQUIRES: `only_looks`, instead of
  /// attach().
  std::vector<listed_thread> list();
  CaptureCounts counts() const;
  /// Returns the pids of the targets as traces have them, without those that snapshot() did not
  /// find. In a PID namespace, these are other numbers than the caller's.
  std::vector<uint32_t> target_pids() const;
  /// Returns such a pid of the process that follow_children_of_caller() has followed; 0: none, or
  /// not known.
  uint32_t program_pid() const;

  uint32_t cpus() const { return cpus_; } ///< possible CPUs
  size_t ring_bytes() const { return ring_bytes_; }
  /// -1: the CPU did not exist. If it is added later, its events are counted as lost.
  int ring_fd(uint32_t cpu) const { return ring_fds_[cpu].get(); }
  int life_fd() const; ///< ring of CAPTURE_LIFE_BYTES
  /// Tells the programs of another object, before it is loaded, what is traced.
  template <class Rodata> void describe(Rodata &data) const {
    data.trace_all = trace_all_;
    data.has_regions = regions_;
    data.region_by_thread = region_by_thread_;
    data.wakeup_watermark = ring_bytes_ / 8;
  }
  /// Gives another object, before it is loaded, those of its maps that all objects share. Returns 0
  /// or an error, which is in errno, too.
  int share_maps(bpf_object *other) const;
  int regions_map() const; ///< descriptor of bpf/shared_maps.h's `regions`
  /// Returns 0, or an errno if the kernel cannot find them now.
  int find_quota_timers(quota_timers &found) const;
  int cgroups_fd() const; ///< ring of cgroup_record, CAPTURE_CGROUP_RING bytes
  /// Returns the ring of cmdline_record, of CAPTURE_CMDLINES_BYTES; -1 if they are not recorded.
  int cmdlines_fd() const;
  /// Waits until the last thread of the program that this process started has left its CPU for
  /// ever. waitpid() returns some instructions earlier than that. Waits for a second at most,
  /// because the kernel may have hidden the last switch. Does not wait if no switch is seen, or
  /// after detach(), which another thread may call meanwhile.
  void await_last_switch() const;
  /// Returns what CPU `cpu` has staged; being written until detach().
  const volatile cpu_stage &stage(uint32_t cpu) const { return stages_[cpu]; }
  uint64_t life_lost() const; ///< life events that found no room
  /// Returns the stack that a record names by its place + 1; null without a stack, or while it is
  /// still being written. Its contents stay as they are.
  const stack_slot *stack(uint32_t place_and_1) const;
  /// Returns whether stacks of programs are walked by call-frame information; false: by frame
  /// pointers.
  bool unwinds() const { return unwinds_; }
  uint32_t stack_depth() const { return stack_depth_; } ///< CaptureParameters::stack_depth
  /// Returns the table of UNWIND_RULES slots that the kernel side reads, with unwinds(), and
  /// UNWIND_ASKS counts of its questions.
  unwind_slot *unwind_rules() const { return rules_.get(); }
  unwind_ask *unwind_asks() const { return asks_.get(); }
  int stack_copies_fd() const; ///< ring of stack_copy; -1: without unwinds()
  /// Runs of our programs that the kernel skipped because one was running on that CPU already, on
  /// all CPUs together, from the kernel's own counters (bpf_prog_info::recursion_misses).
  uint64_t skipped_runs() const;

private:
  void create_rings();
  void map_stages();
  void map_stacks();
  void mark_targets();

  std::unique_ptr<ovnitrace_bpf, void (*)(ovnitrace_bpf *)> skeleton_;
  uint32_t cpus_ = 0;
  size_t ring_bytes_ = 0;
  bool trace_all_ = false; ///< every thread of the machine: there are no filters
  bool transitions_ = false;
  Selection selection_;
  bool visits_ = false; ///< living threads are looked for
  bool regions_ = false, region_by_thread_ = false, cmdlines_ = false;
  std::atomic<bool> switches_seen_ = false;
  std::vector<UniqueFd> ring_fds_;
  MappedArray<const volatile cpu_stage> stages_;
  MappedArray<const volatile uint64_t> life_lost_; ///< one
  bool unwinds_ = false;
  uint32_t stack_depth_ = CAPTURE_STACK_DEPTH;
  MappedArray<unwind_slot> rules_;
  MappedArray<unwind_ask> asks_;
  MappedArray<const stack_slot> slots_; ///< CAPTURE_STACKS; null: no stacks are taken
};

} // namespace ovnitrace
