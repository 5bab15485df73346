// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/family_capture.h"

#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "user/bpf/bpf_log.h"
#include "user/bpf/kernel_functions.h"
#include "user/bpf/kernel_types.h"
#include "user/bpf/twins.h"
#include "user/launch/file_limit.h"
#include "user/launch/signals.h"

#include "families.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace ovnitrace {

FamilyCapture::FamilyCapture(const Capture &capture, FamilySet families,
                             std::vector<ProbedFile> probes, uint32_t recorder)
    : skeleton_(nullptr, families_bpf__destroy), families_(families), probes_(std::move(probes)),
      cpus_(capture.cpus()) {
  const KernelTypes types;
  if (load(capture, types, families_, recorder) != 0) {
    families_ = loadable(families_, [&](FamilySet one) {
      const int error = load(capture, types, one, recorder);
      if (error)
        refused_.push_back(fmt::format("the kernel refuses the programs of the family {}, which is "
                                       "not captured: {}",
                                       to_string(one), why_refused(error)));
      return error == 0;
    });
    if (const int error = load(capture, types, families_, recorder))
      fail_bpf("load the BPF programs of the families " + to_string(families_), error);
  }
  log_bpf_object(skeleton_->obj);
  fill_probes();
  counts_ = map_array<volatile family_count>(bpf_map__fd(skeleton_->maps.family_counts), cpus_,
                                             "map the counts of the families");
}

/// Loads the programs of some families into a skeleton of their own. 0 or an errno; the log says
/// more.
int FamilyCapture::load(const Capture &capture, const KernelTypes &types, FamilySet families,
                        uint32_t recorder) {
  collect_bpf_log();
  skeleton_.reset(); // before errno is set
  skeleton_.reset(families_bpf__open());
  families_bpf *const o = skeleton_.get();
  if (!o)
    fail_bpf("open the BPF object of the families", errno);
  capture.describe(*o->rodata);
  set_preempt_count(*o->rodata, types);
  o->rodata->kfuncs = use_kfuncs(o->obj, types);
  o->rodata->steal_distance = types.steal_distance();
  o->rodata->start_has_was_armed = types.tracepoint_arguments("hrtimer_start") >= 3;
  o->rodata->recorder_uid = recorder;
  o->bss->families = o->bss->chosen = families.bits();
  size_maps(families);
  if (const int error = capture.share_maps(o->obj))
    fail_bpf("share the maps of the scheduler's programs", error);
  choose_programs(types, families);
  o->rodata->has_twins = choose_twins(o->obj, types);
  choose_probes(families);
  return -load_skeleton(o->skeleton);
}

/// Makes arrays of all tids only for families that use them. In an LRU map each CPU takes up to
/// kSpare entries for itself (kernel/bpf/bpf_lru_list.c, LOCAL_FREE_TARGET). Without spare entries,
/// the map would evict some long before it is full.
void FamilyCapture::size_maps(FamilySet chosen) {
  constexpr uint32_t kSpare = 128;
  families_bpf *const o = skeleton_.get();
  bpf_map__set_max_entries(o->maps.family_counts, cpus_);
  bpf_map__set_max_entries(o->maps.stolen, cpus_);
  if (chosen.has(FTrace_EVT_set_priority & FTrace_family_mask))
    bpf_map__set_max_entries(o->maps.priorities, FTRACE_TID_MASK + 1);
  for (bpf_map *map : {o->maps.servers, o->maps.armed_timers, o->maps.disabled})
    bpf_map__set_max_entries(map, bpf_map__max_entries(map) + kSpare * cpus_);
}

/// Chooses the programs of the wanted families whose tracepoints this kernel has. Each program must
/// have a family, whichever are wanted.
void FamilyCapture::choose_programs(const KernelTypes &types, FamilySet chosen) {
  absent_.clear();
  bpf_program *program = nullptr;
  bpf_object__for_each_program(program, skeleton_->obj) {
    if (program == skeleton_->progs.on_user_probe)
      continue; // choose_probes()
    std::string_view section = bpf_program__section_name(program);
    std::string event(section.substr(section.find('/') + 1));
    const FamilySet families = families_of_program(bpf_program__name(program));
    bool wanted = (families & chosen).bits() != 0;
    bool there = wanted && types.has_tracepoint(event);
    if (wanted && !there)
      absent_.push_back(event);
    bpf_program__set_autoload(program, there);
  }
}

/// Loads the program of the probes only if there are probes.
void FamilyCapture::choose_probes(FamilySet chosen) {
  size_t count = 0;
  if ((chosen & families_of_programs()).bits())
    for (const ProbedFile &file : probes_)
      count += file.probes.size();
  bpf_program__set_autoload(skeleton_->progs.on_user_probe, count > 0);
  bpf_map__set_max_entries(skeleton_->maps.user_probes, uint32_t(std::max<size_t>(count, 1)));
  if (count > 0)
    links_.prepare(skeleton_->progs.on_user_probe);
}

/// Fills the map of probes by their numbers, which are the cookies of their places.
void FamilyCapture::fill_probes() {
  if (!(families_ & families_of_programs()).bits())
    return;
  uint32_t number = 0;
  const int map = bpf_map__fd(skeleton_->maps.user_probes);
  for (const ProbedFile &file : probes_)
    for (const Probe &probe : file.probes) {
      if (bpf_map_update_elem(map, &number, &probe.what, BPF_ANY) != 0)
        fail_bpf("give a probe to the BPF program", errno);
      number++;
    }
}

void FamilyCapture::attach() {
  collect_bpf_log();
  if (int error = families_bpf__attach(skeleton_.get()))
    fail_bpf("attach the BPF programs of the families " + to_string(families_), error);
  if ((families_ & families_of_programs()).bits())
    attach_probes();
  for (const ProbedFile &file : probes_)
    log_debug("{}: {} probes", file.path, file.probes.size());
  log_debug("attached the programs of the families {}", to_string(families_));
  probes_.clear(); // with their descriptors
}

/// Attaches the probes to the files that were read, even if their names now belong to other files.
void FamilyCapture::attach_probes() {
  size_t needed = probes_.size();
  for (const ProbedFile &file : probes_)
    needed += links_.files_needed(file.probes.size());
  raise_file_limit(needed);
  size_t number = 0;
  for (const ProbedFile &file : probes_) {
    end_if_signalled(); // where each probe has a link of its own this takes seconds
    std::vector<UprobeAt> places;
    for (const Probe &probe : file.probes)
      places.push_back({probe.offset, number++});
    const int error = links_.attach(fmt::format("/proc/self/fd/{}", file.fd.get()), places,
                                    UprobeLinks::kAllProcesses);
    if (error)
      refused_.push_back(
          fmt::format("the kernel refuses probes in {}: {}; events that it logs are not captured "
                      "(they need Linux 5.15 with CONFIG_UPROBES)",
                      file.path, std::strerror(error)));
    else if (file.not_understood)
      refused_.push_back(fmt::format(
          "{} of the probes in {} are unlike those of ovnitrace/usdt.h: their events are "
          "not captured",
          file.not_understood, file.path));
  }
}

void FamilyCapture::detach() {
  links_.detach();
  families_bpf__detach(skeleton_.get());
}

uint64_t FamilyCapture::user_refused() const {
  return __atomic_load_n(&skeleton_->bss->user_refused, __ATOMIC_RELAXED);
}

uint64_t FamilyCapture::skipped_runs() const {
  return skipped_runs_of(skeleton_->obj);
}

} // namespace ovnitrace
