// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/family_programs.h"

#include "user/bpf/kernel_functions.h"
#include "user/bpf/kernel_types.h"
#include "user/bpf/twins.h"

#include "families.skel.h"

#include <bpf/libbpf.h>

#include <algorithm>
#include <string_view>

namespace ovnitrace {

namespace {

/// Makes arrays of all tids only for families that use them. In an LRU map each CPU takes up to
/// kSpare entries for itself (kernel/bpf/bpf_lru_list.c, LOCAL_FREE_TARGET). Without spare entries,
/// the map would evict some long before it is full.
void size_maps(families_bpf &o, const FamilyParameters &wanted) {
  constexpr uint32_t kSpare = 128;
  bpf_map__set_max_entries(o.maps.family_counts, wanted.cpus);
  bpf_map__set_max_entries(o.maps.stolen, wanted.cpus);
  if (wanted.families.has(FTrace_EVT_set_priority & FTrace_family_mask))
    bpf_map__set_max_entries(o.maps.priorities, FTRACE_TID_MASK + 1);
  for (bpf_map *map : {o.maps.servers, o.maps.armed_timers, o.maps.disabled})
    bpf_map__set_max_entries(map, bpf_map__max_entries(map) + kSpare * wanted.cpus);
  bpf_map__set_max_entries(o.maps.user_probes, uint32_t(std::max<size_t>(wanted.probes, 1)));
}

/// Chooses the programs of the wanted families whose tracepoints this kernel has. Each program must
/// have a family, whichever are wanted. Returns the tracepoints that it does not have, each once.
std::vector<std::string> choose_programs(families_bpf &o, const FamilyParameters &wanted,
                                         const KernelTypes &types) {
  std::vector<std::string> absent;
  bpf_program *program = nullptr;
  bpf_object__for_each_program(program, o.obj) {
    if (program == o.progs.on_user_probe)
      continue;
    const std::string_view section = bpf_program__section_name(program);
    const std::string event(section.substr(section.find('/') + 1));
    const FamilySet families = families_of_program(bpf_program__name(program));
    const bool is_wanted = (families & wanted.families).bits() != 0;
    const bool there = is_wanted && types.has_tracepoint(event);
    if (is_wanted && !there && std::find(absent.begin(), absent.end(), event) == absent.end())
      absent.push_back(event);
    bpf_program__set_autoload(program, there);
  }
  bpf_program__set_autoload(o.progs.on_user_probe, wanted.probes > 0);
  return absent;
}

} // namespace

std::vector<std::string> prepare_families(families_bpf &o, const FamilyParameters &wanted,
                                          const KernelTypes &types) {
  set_preempt_count(*o.rodata, types);
  o.rodata->kfuncs = use_kfuncs(o.obj, types);
  o.rodata->steal_distance = types.steal_distance();
  o.rodata->start_has_was_armed = types.tracepoint_arguments("hrtimer_start") >= 3;
  o.rodata->recorder_uid = wanted.recorder;
  o.bss->families = o.bss->chosen = wanted.families.bits();
  size_maps(o, wanted);
  std::vector<std::string> absent = choose_programs(o, wanted, types);
  o.rodata->has_twins = choose_twins(o.obj, types);
  return absent;
}

} // namespace ovnitrace
