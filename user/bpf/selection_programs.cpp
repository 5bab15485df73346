// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/selection_programs.h"

#include "emulator/base/error.h"
#include "user/bpf/bpf_log.h"
#include "user/bpf/kernel_types.h"
#include "user/select/name_glob.h"

#include "ovnitrace.skel.h"

#include <bpf/bpf.h>
#include <ovnitrace/capture.h>

#include <algorithm>
#include <cerrno>

namespace ovnitrace {

namespace {

uint32_t needed_fits(const Selection &selection, bool everywhere) {
  if (!selection.any())
    return 0;
  const auto bit = [](bool is_given, select_fit fit) { return is_given ? uint32_t(fit) : 0u; };
  return FITS_BORN | bit(!everywhere, FITS_SCOPE) | bit(!selection.tids.empty(), FITS_TID) |
         bit(!selection.comms.empty() || !selection.refused_comms.empty(), FITS_COMM) |
         bit(!selection.uids.empty(), FITS_UID) | bit(!selection.cgroups.empty(), FITS_CGROUP) |
         bit(!selection.cpus.empty() || !selection.refused_cpus.empty(), FITS_CPU) |
         bit(selection.no_kernel_threads, FITS_KIND);
}

template <class Value> void put(bpf_map *map, uint32_t key, const Value &value) {
  if (bpf_map_update_elem(bpf_map__fd(map), &key, &value, BPF_ANY) != 0)
    fail_bpf("give a filter to the BPF programs", errno);
}

} // namespace

void prepare_selection(ovnitrace_bpf &o, const Selection &selection, bool everywhere,
                       const KernelTypes &types) {
  const uint32_t needed = needed_fits(selection, everywhere);
  const bool has_cgroups = needed & FITS_CGROUP;
  const bool visits_threads = o.rodata->kfuncs & 1u << KFUNC_ITER_TASK_NEW;
  if (has_cgroups && !visits_threads && !types.has_function("cgroup_move_task"))
    throw Error("--cgroup, --unit and --container need Linux 6.7, or CONFIG_CGROUPS and "
                "CONFIG_FUNCTION_TRACER");
  for (bpf_program *program : {o.progs.on_cgroup_mkdir, o.progs.on_cgroup_rmdir})
    bpf_program__set_autoload(program, has_cgroups);
  bpf_program__set_autoload(o.progs.on_cgroup_move, has_cgroups && !visits_threads);
  bpf_program__set_autoload(o.progs.on_setuid, needed & FITS_UID);
  o.rodata->needed_fits = needed;
  o.rodata->globs_used = uint32_t(selection.comms.size() + selection.refused_comms.size());
  o.rodata->globs_chosen = uint32_t(selection.comms.size());
  o.rodata->uids_used = uint32_t(selection.uids.size());
  std::copy(selection.uids.begin(), selection.uids.end(), o.rodata->chosen_uids);
  o.rodata->tids_used = uint32_t(selection.tids.size());
  std::copy(selection.tids.begin(), selection.tids.end(), o.rodata->target_tids);
  for (auto &word : o.rodata->chosen_cpus)
    word = selection.cpus.empty() ? ~0ull : 0;
  for (const uint32_t cpu : selection.cpus)
    o.rodata->chosen_cpus[cpu / 64] |= 1ull << cpu % 64;
  for (const uint32_t cpu : selection.refused_cpus)
    o.rodata->chosen_cpus[cpu / 64] &= ~(1ull << cpu % 64);
  if (o.rodata->globs_used)
    bpf_map__set_max_entries(o.maps.name_globs, o.rodata->globs_used);
  if (!has_cgroups)
    return;
  size_t names = 0;
  for (const CgroupChoice &choice : selection.cgroups)
    names += choice.names.size();
  o.rodata->cgroup_names_used = uint32_t(names);
  bpf_map__set_max_entries(o.maps.chosen_cgroups, SELECT_CGROUPS);
  bpf_map__set_max_entries(o.maps.cgroup_names, uint32_t(std::max<size_t>(names, 1)));
}

void fill_selection(ovnitrace_bpf &o, const Selection &selection) {
  uint32_t number = 0;
  for (const std::string &pattern : selection.comms)
    put(o.maps.name_globs, number++, make_name_glob("--comm", pattern));
  for (const std::string &pattern : selection.refused_comms) {
    name_glob glob = make_name_glob("--no-comm", pattern);
    glob.refuses = 1;
    put(o.maps.name_globs, number++, glob);
  }
  number = 0;
  for (const CgroupChoice &choice : selection.cgroups)
    for (const cgroup_name &name : choice.names)
      put(o.maps.cgroup_names, number++, name);
}

/// Chooses the cgroups that exist at the start, from the last place down. The kernel side fills the
/// places from the first one up.
std::vector<std::vector<std::string>> choose_living_cgroups(ovnitrace_bpf &o,
                                                            const Selection &selection) {
  std::vector<std::vector<std::string>> paths;
  uint32_t place = SELECT_CGROUPS;
  const std::vector<CgroupMount> mounts = cgroup_mounts();
  for (const CgroupChoice &choice : selection.cgroups) {
    std::vector<std::string> &found = paths.emplace_back();
    for (const FoundCgroup &one : find_cgroups(choice, mounts)) {
      if (place == SELECT_CGROUPS / 2)
        throw Error("{}: there are more than {} such cgroups; name one that contains them",
                    choice.asked, SELECT_CGROUPS / 2);
      put(o.maps.chosen_cgroups, --place, one.cgroup);
      found.push_back(one.path);
    }
  }
  return paths;
}

} // namespace ovnitrace
