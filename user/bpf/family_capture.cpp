// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/family_capture.h"

#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "user/bpf/bpf_log.h"
#include "user/bpf/family_programs.h"
#include "user/bpf/kernel_types.h"
#include "user/launch/file_limit.h"
#include "user/launch/signals.h"

#include "families.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ovnitrace {

namespace {

size_t count_of(const std::vector<ProbedFile> &files) {
  size_t count = 0;
  for (const ProbedFile &file : files)
    count += file.probes.size();
  return count;
}

} // namespace

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
  const size_t probes = (families & families_of_programs()).bits() ? count_of(probes_) : 0;
  absent_ = prepare_families(*o, {families, cpus_, recorder, probes}, types);
  if (const int error = capture.share_maps(o->obj))
    fail_bpf("share the maps of the scheduler's programs", error);
  if (probes > 0)
    links_.prepare(o->progs.on_user_probe);
  return -load_skeleton(o->skeleton);
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
