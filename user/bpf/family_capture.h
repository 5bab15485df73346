// SPDX-License-Identifier: BSD-2-Clause
// Loads the BPF object for the families other than the scheduler's.
#pragma once

#include "user/bpf/capture.h"
#include "user/bpf/family_set.h"
#include "user/bpf/uprobe_links.h"
#include "user/probe/find_probes.h"

#include <memory>
#include <string>
#include <vector>

struct families_bpf;

namespace ovnitrace {

class KernelTypes;

/// Loads the programs of the families that are chosen, and of those only. Their events go into the
/// rings of a Capture. A kernel may lack tracepoints (absent()) or refuse the programs of a family
/// (refused()): the others are captured.
class FamilyCapture {
public:
  /// `capture` outlives it. `probes` are those of the program's own events. Throws Error.
  /// A program's FTrace_set_filter is obeyed from processes of the user `recorder` and of the
  /// program that this process starts.
  FamilyCapture(const Capture &capture, FamilySet families, std::vector<ProbedFile> probes,
                uint32_t recorder);

  /// Starts to log events.
  void attach();
  /// Stops the start of programs. Capture::detach(), to be called afterwards, waits for those that
  /// run.
  void detach();

  /// Returns the families that are captured.
  FamilySet families() const { return families_; }
  /// Tracepoints and functions that this kernel does not have, such as "local_timer_entry".
  const std::vector<std::string> &absent() const { return absent_; }
  /// Returns which families the kernel refuses and, after attach(), which probes, and why, in
  /// words.
  const std::vector<std::string> &refused() const { return refused_; }

  /// Returns what CPU `cpu` has logged so far; being written until detach().
  volatile family_count &count(uint32_t cpu) { return counts_[cpu]; }
  /// Returns what Capture::skipped_runs() does, for these programs.
  uint64_t skipped_runs() const;
  /// Returns how many events a program logged with codes that are not for programs.
  uint64_t user_refused() const;

private:
  int load(const Capture &capture, const KernelTypes &types, FamilySet families, uint32_t recorder);
  void fill_probes();
  void attach_probes();

  std::unique_ptr<families_bpf, void (*)(families_bpf *)> skeleton_;
  FamilySet families_;
  std::vector<ProbedFile> probes_;
  UprobeLinks links_; ///< before the skeleton they go
  std::vector<std::string> absent_, refused_;
  uint32_t cpus_ = 0;
  MappedArray<volatile family_count> counts_;
};

} // namespace ovnitrace
