// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/programs.h"

#include "user/bpf/bpf_log.h"
#include "user/bpf/kfuncs.h"
#include "user/bpf/preflight.h"
#include "user/bpf/visit_tasks.h"

#include "control.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ovnitrace::control {

struct Programs::Skeleton {
  control_bpf *object = nullptr;
  ~Skeleton() { control_bpf__destroy(object); }
  const volatile control_bpf::control_bpf__bss &counters() const { return *object->bss; }
};

namespace {

/// The tables, in the memory of the object that is read-only once it is loaded.
template <class Rodata> void fill_tables(const Plan &plan, Rodata &data) {
  std::memcpy(const_cast<control_alarm *>(data.alarms), plan.alarm_table.data(),
              plan.alarm_table.size() * sizeof(control_alarm));
  std::memcpy(const_cast<control_chain *>(data.chains), plan.chain_table.data(),
              plan.chain_table.size() * sizeof(control_chain));
  data.alarm_count = uint32_t(plan.alarm_table.size());
  data.chain_count = uint32_t(plan.chain_table.size());
  data.starts_open = !plan.has_start();
  for (size_t a = 0; a < plan.alarm_table.size(); a++) {
    const control_alarm &alarm = plan.alarm_table[a];
    const uint64_t bit = 1ull << a;
    if (alarm.flags & CONTROL_IMMEDIATE)
      data.immediate_alarms |= bit;
    if (alarm.type == CONTROL_ICOUNT)
      data.count_mask |= bit;
    if (alarm.type == CONTROL_EXIT_FUNC) {
      data.exit_mask |= bit;
      data.exit_alarms[data.exit_count++] = uint8_t(a);
    }
  }
}

void share(bpf_map *map, int fd) {
  if (fd >= 0)
    if (const int error = bpf_map__reuse_fd(map, fd))
      fail_bpf("share the maps of the scheduler's programs", error);
}

} // namespace

Programs::Programs(const Plan &plan, const SharedMaps &shared, const ProgramOptions &options)
    : skeleton_(std::make_unique<Skeleton>()) {
  collect_bpf_log();
  control_bpf *o = skeleton_->object = control_bpf__open();
  if (!o)
    fail_bpf("open the BPF object of --control", errno);
  fill_tables(plan, *o->rodata);
  o->rodata->has_regions = true;
  o->rodata->region_by_thread = options.region_by_thread;
  o->rodata->holds = options.holds;
  o->rodata->preempt_count_distance = preempt_count_distance();
  o->rodata->kfuncs = use_kfuncs(o->obj);
  share(o->maps.marks, shared.marks);
  share(o->maps.regions, shared.regions);
  share(o->maps.life, shared.life);
  share(o->maps.life_lost, shared.life_lost);
  alarm_.prepare(o->progs.on_alarm);
  library_.prepare(o->progs.on_library);
  bpf_program__set_autoload(o->progs.on_alarm_return, plan.has(CONTROL_EXIT_FUNC));
  bpf_program__set_autoload(o->progs.on_pcontrol, plan.has(CONTROL_PCONTROL));
  if (plan.has(CONTROL_EXIT_FUNC))
    alarm_return_.prepare(o->progs.on_alarm_return, true);
  if (plan.has(CONTROL_PCONTROL))
    pcontrol_.prepare(o->progs.on_pcontrol);
  for (bpf_program *iterator : {o->progs.begin_living, o->progs.visit_living})
    bpf_program__set_autoattach(iterator, false);
  if (const int error = control_bpf__load(o))
    fail_bpf(plan.has(CONTROL_PCONTROL)
                 ? "load the BPF programs of --control (pcontrol needs a program that may sleep, "
                   "which uprobes have since Linux 6.0)"
                 : "load the BPF programs of --control",
             error);
  control_process process = {};
  for (size_t c = 0; c < plan.chain_table.size(); c++)
    if (plan.chain_table[c].waits)
      process.broadcast[c] = uint64_t(CONTROL_WAITING) << CONTROL_POSITION_SHIFT;
  const control_thread thread = {};
  const uint32_t zero = 0;
  if (bpf_map_update_elem(bpf_map__fd(o->maps.fresh_process), &zero, &process, BPF_ANY) != 0 ||
      bpf_map_update_elem(bpf_map__fd(o->maps.fresh_thread), &zero, &thread, BPF_ANY) != 0)
    fail_bpf("set how the chains of --control start", errno);
}

Programs::~Programs() = default;

void Programs::attach() {
  collect_bpf_log();
  if (const int error = control_bpf__attach(skeleton_->object))
    fail_bpf("attach the BPF programs of --control", error);
}

void Programs::begin_living() {
  visit_tasks(skeleton_->object->progs.begin_living, "find the threads that have chains");
}

UprobeLinks &Programs::links(ProbeKind kind) {
  switch (kind) {
  case ProbeKind::alarm_return:
    return alarm_return_;
  case ProbeKind::pcontrol:
    return pcontrol_;
  case ProbeKind::library:
    return library_;
  default:
    return alarm_;
  }
}

int Programs::add_probes(ProbeKind kind, const std::string &path,
                         std::span<const UprobeAt> places) {
  return links(kind).attach(path, places);
}

size_t Programs::files_needed(size_t places) const {
  return alarm_.files_needed(places);
}

void Programs::detach() {
  for (UprobeLinks *links : {&alarm_, &alarm_return_, &pcontrol_, &library_})
    links->detach();
  control_bpf__detach(skeleton_->object);
}

control_hit Programs::hit(uint32_t pid, uint32_t tid, uint64_t alarms) const {
  control_hit request = {};
  request.pid = pid;
  request.tid = tid;
  request.alarms = alarms;
  bpf_test_run_opts options = {};
  options.sz = sizeof(options);
  options.ctx_in = &request;
  options.ctx_size_in = sizeof(request);
  if (const int error =
          bpf_prog_test_run_opts(bpf_program__fd(skeleton_->object->progs.hit_alarm), &options))
    fail_bpf("let an alarm of --control hit", error);
  return request;
}

void Programs::stop_for_tracer(bool on) {
  skeleton_->object->bss->steps = on;
}

void Programs::visit(const control_message &message) {
  skeleton_->object->bss->loader_visits = message;
  visit_tasks(skeleton_->object->progs.visit_living, "record the threads of a region");
}

int Programs::messages_fd() const {
  return bpf_map__fd(skeleton_->object->maps.control_messages);
}

int Programs::processes_map() const {
  return bpf_map__fd(skeleton_->object->maps.control_processes);
}

int Programs::threads_map() const {
  return bpf_map__fd(skeleton_->object->maps.control_threads);
}

std::vector<std::pair<uint32_t, uint32_t>> Programs::threads(uint32_t pid) const {
  std::vector<std::pair<uint32_t, uint32_t>> found;
  uint32_t tid = 0, next = 0;
  for (bool first = true; bpf_map_get_next_key(threads_map(), first ? nullptr : &tid, &next) == 0;
       first = false) {
    control_thread thread;
    tid = next;
    if (bpf_map_lookup_elem(threads_map(), &tid, &thread) == 0 && (!pid || thread.pid == pid))
      found.emplace_back(tid, thread.pid);
  }
  return found;
}

int Programs::life_map() const {
  return bpf_map__fd(skeleton_->object->maps.life);
}

uint64_t Programs::full() const {
  return skeleton_->counters().control_full;
}

uint64_t Programs::messages_lost() const {
  return skeleton_->counters().messages_lost;
}

uint64_t Programs::skipped_runs() const {
  return skipped_runs_of(skeleton_->object->obj);
}

} // namespace ovnitrace::control
