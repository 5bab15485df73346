// SPDX-License-Identifier: BSD-2-Clause
// Controls what is traced: a program that we run, living processes, or the whole machine.
#pragma once

#include "emulator/base/identity.h"
#include "user/bpf/capture.h"
#include "user/bpf/cause_capture.h"
#include "user/bpf/family_capture.h"
#include "user/bpf/trigger_capture.h"
#include "user/control/controller.h"
#include "user/launch/process_watch.h"
#include "user/launch/program.h"
#include "user/launch/signals.h"
#include "user/record/command_lines.h"
#include "user/record/record.h"
#include "user/stacks/stack_capture.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// Chooses the cgroups of the selection, and prints which these are. `waits`: for those that do not
/// exist yet.
void choose_cgroups(Capture &capture, const RecordOptions &options, bool waits);

/// Prints which cgroups were chosen. `paths`: the cgroups of each choice, in the same order.
void print_cgroups(const std::vector<CgroupChoice> &choices,
                   const std::vector<std::vector<std::string>> &paths, bool quiet, bool waits);

/// Warns if no living thread passes the filters.
void warn_if_none_passes(const Selection &selection, uint32_t threads_found);

/// Returns the families that are captured of those `asked` for. The kernel accepted only
/// `loaded` of `wanted`.
FamilySet captured_of(FamilySet asked, FamilySet wanted, FamilySet loaded);

/// Says in words how a capture ended that was limited to `duration` ns.
std::string time_over(uint64_t duration);

/// Returns what the kernel side needs to know of the options.
CaptureParameters capture_parameters(const RecordOptions &options);

/// Opens the processes of `options`. Those that a name has found may have ended. Throws Error if
/// another one has, or all have.
std::deque<ProcessWatch> watch_processes(const RecordOptions &options);

/// Waits until processes that are not our children have ended, and prints that they have; a signal
/// or -d ends the wait earlier. Returns why it is over.
std::string wait_for_processes(const std::deque<ProcessWatch> &processes,
                               const RecordOptions &options, StopSignals &signals);

/// Describes in words what is traced without a program.
std::string what_is_traced(const RecordOptions &options, const std::deque<ProcessWatch> &processes);

/// Warns of a --trigger whose name no living thread has: perhaps it lacks a *.
void warn_of_unknown_names(const std::vector<RuleOption> &rules);

/// Loads, attaches and detaches a capture. Events are logged from attach() to detach(). Members are
/// destroyed in the reverse order.
class Traced {
public:
  /// How it ended.
  struct End {
    std::string how; ///< in words
    int exit_status = 0;
  };

  /// Loads the BPF programs. `options`, `owner` (of the trace) and `runs_as` (the program) outlive
  /// it. Throws Error.
  Traced(const RecordOptions &options, const Identity &owner, const Identity &runs_as);

  /// Starts to log events; those of a program come with start_program(). Throws Error.
  void attach();
  /// Forks the program, which is traced from its first instant and waits for open_gate(). Does
  /// nothing without a program. Throws Error.
  void start_program();
  /// Returns the processes by whose numbers `ovnitrace ctl` finds this capture.
  std::vector<uint32_t> ctl_pids() const;
  /// Lets the program run.
  void open_gate();
  /// Gives up after a failure: if the program already runs, waits for its end without tracing it.
  void give_up();
  /// Waits until the program or the processes have ended, a signal came or the time was over.
  End wait();
  /// Stops logging events.
  void detach();
  /// Gives signals their usual effect again.
  void release_signals() { signals_.reset(); }

  uid_t owner() const { return owner_.uid; } ///< of the trace
  bool is_program() const { return !options_.command.empty(); }
  /// Returns the name of the program or the first process, or "system".
  std::string name() const;
  /// Describes in words what is traced without a program.
  std::string description() const { return what_is_traced(options_, processes_); }

  Capture &capture() { return capture_; }
  /// Returns the families that were asked for, except those that the kernel refuses. REQUIRES:
  /// attach()
  FamilySet captured_families() const;
  /// Returns the program that the started one (env, taskset) executed in its place, if that has
  /// probes: without --probe, ovnitrace looked only for those of the started one. Else empty.
  std::string unwatched_program(const CommandLines &lines) const;
  CauseCapture *causes() { return causes_ ? &*causes_ : nullptr; } ///< after attach()
  StackCapture *stacks() { return stacks_ ? &*stacks_ : nullptr; } ///< after attach()
  control::Controller *controller() { return controller_ ? &*controller_ : nullptr; }
  std::deque<TriggerCapture> &triggers() { return triggers_; } ///< of options.rules, after attach()
  FamilyCapture *families() { return families_ ? &*families_ : nullptr; } ///< after attach()

private:
  void attach_families();
  void attach_control();
  std::vector<ProbedFile> find_user_probes();

  const RecordOptions &options_;
  const Identity &owner_, &runs_as_;
  std::optional<StopSignals> signals_; ///< without a program
  Capture capture_;
  std::optional<CauseCapture> causes_;            ///< with the scheduler's family
  std::optional<StackCapture> stacks_;            ///< with options.stacks
  std::deque<ProcessWatch> processes_;            ///< of watch_processes()
  FamilySet wanted_families_;                     ///< of families_
  std::optional<FamilyCapture> families_;         ///< with families beyond the scheduler's
  std::deque<TriggerCapture> triggers_;           ///< for options.rules
  std::optional<control::Controller> controller_; ///< with options.control
  std::optional<Program> program_;
};

} // namespace ovnitrace
