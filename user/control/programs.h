// SPDX-License-Identifier: BSD-2-Clause
// Loads and attaches the BPF side of --control: the state machine of the chains, and its probes.
#pragma once

#include "user/bpf/capture.h"
#include "user/bpf/uprobe_links.h"
#include "user/control/chains.h"
#include "user/control/plan.h"
#include "user/control/probes.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

struct control_bpf;

namespace ovnitrace::control {

struct ProgramOptions {
  bool region_by_thread = false;
  bool holds = false; ///< a process stops (SIGSTOP) when it has loaded code, until release()
  uint32_t continues_uid = UINT32_MAX; ///< only processes of this user; UINT32_MAX: of all
};

/// What the kernel side could not do so far.
struct ProgramLosses {
  uint64_t full;     ///< threads and processes that have no chains, as there were too many
  uint64_t unheld;   ///< processes that went on without probes in their new code
  uint64_t messages; ///< that found no room
  uint64_t skipped;  ///< runs of programs that the kernel skipped
};

/// Loads the programs; the destructor detaches and frees everything.
class Programs final : public Probes, public Chains {
public:
  /// `capture`: whose maps they share; null: they have their own. Throws Error if the kernel
  /// refuses the programs.
  Programs(const Plan &plan, const Capture *capture, const ProgramOptions &options);
  ~Programs() override;

  /// Gives chains to new processes and threads from here on. REQUIRES: Capture::attach(). Throws
  /// Error.
  void attach();
  /// Gives chains to the traced threads that are alive. Throws Error.
  void begin_living();
  int add_probes(ProbeKind kind, uint32_t pid, const std::string &path,
                 std::span<const UprobeAt> places, bool own) override;
  void drop_probes(uint32_t pid, bool now) override;
  size_t files_needed(size_t places) const override;
  /// Returns the flag that says whether processes are stopped. The BPF side reads it. It is shared
  /// memory: a child that fork() makes may write it, too.
  volatile bool *holds();
  /// Ends the stops of processes that fork, execute or load. When it returns, no process is stopped
  /// for that any more.
  void stop_holding();
  void detach();

  control_hit hit(uint32_t pid, uint32_t tid, uint64_t alarms) const override;
  /// Returns how many hits an armed alarm of the thread has.
  uint64_t hits_of(uint32_t pid, uint32_t tid, uint32_t alarm) const;
  void stop_for_tracer(bool on) override;
  /// Carries out a CONTROL_VISIT. Throws Error.
  void visit(const control_message &message);

  int messages_fd() const;
  static constexpr size_t kMessageBytes = 1 << 20;
  int processes_map() const; ///< control_process by tgid
  int threads_map() const;   ///< control_thread by tid
  std::vector<std::pair<uint32_t, uint32_t>> threads(uint32_t pid) const override;
  int held_map() const;   ///< processes that are stopped, by tgid
  int probed_map() const; ///< by tgid: 1: probes are only in libraries, 2: also in the program
  ProgramLosses losses() const;

private:
  class Dropper;
  UprobeLinks &links(ProbeKind kind);

  std::unique_ptr<control_bpf, void (*)(control_bpf *)> skeleton_;
  UprobeLinks alarm_, leave_, pcontrol_, library_; ///< before the skeleton they go
  std::unique_ptr<Dropper> dropper_;
};

} // namespace ovnitrace::control
