// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/capture.h"

#include "emulator/base/clock.h"
#include "emulator/base/messages.h"
#include "user/bpf/bpf_log.h"
#include "user/bpf/capture_programs.h"
#include "user/bpf/kernel_types.h"
#include "user/bpf/preflight.h"
#include "user/bpf/selection_programs.h"
#include "user/bpf/visit_tasks.h"

#include "ovnitrace.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

namespace ovnitrace {

namespace {

/// Returns whether a CPU exists, online or offline. Firmware of virtual machines often promises
/// hundreds of CPUs that could be added some day. A ring for each would be gigabytes.
bool cpu_exists(uint32_t cpu) {
  return access(fmt::format("/sys/devices/system/cpu/cpu{}", cpu).c_str(), F_OK) == 0;
}

/// Programs run inside RCU read sections, and so do switches: a grace period later each that was
/// under way is over (membarrier(2), MEMBARRIER_CMD_GLOBAL).
void await_running_programs() {
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0)
    usleep(100'000);
}

/// Runs a program of type `syscall` in this thread. `context` is its argument, which it may change.
/// Returns 0 or a negative errno.
template <class Context> int run_once(const bpf_program *program, Context &context) {
  bpf_test_run_opts options = {};
  options.sz = sizeof(options);
  options.ctx_in = &context;
  options.ctx_size_in = sizeof(context);
  return bpf_prog_test_run_opts(bpf_program__fd(program), &options);
}

/// Maps an array of a BPF object. Children do not get it.
template <class Value> MappedArray<Value> map_for_writing(const bpf_map *map, size_t count) {
  constexpr const char *kWhat = "map the table of unwind rules";
  auto values = map_array<Value>(bpf_map__fd(map), count, kWhat);
  if (madvise(values.get(), values.get_deleter().bytes, MADV_DONTFORK) != 0)
    fail_bpf(kWhat, errno);
  return values;
}

} // namespace

Capture::Capture(const CaptureParameters &parameters)
    : skeleton_(nullptr, ovnitrace_bpf__destroy), ring_bytes_(parameters.ring_bytes),
      trace_all_(parameters.trace_all && !parameters.selection.any()),
      transitions_(parameters.transitions), selection_(parameters.selection),
      visits_(visits_living(parameters)), regions_(parameters.regions),
      region_by_thread_(parameters.region_by_thread), cmdlines_(parameters.cmdlines),
      stack_depth_(parameters.stack_depth) {
  check_can_capture();
  if (parameters.stacks)
    require_kernel_pids("--stacks");
  const KernelTypes types;
  require_kernel(KernelPart::recording, types);
  collect_bpf_log();
  int cpus = libbpf_num_possible_cpus();
  if (cpus < 0)
    fail_bpf("count the CPUs", cpus);
  cpus_ = uint32_t(cpus);

  skeleton_.reset(ovnitrace_bpf__open());
  ovnitrace_bpf *const o = skeleton_.get();
  if (!o)
    fail_bpf("open the BPF object", errno);
  describe(*o->rodata);
  prepare_capture(*o, parameters, cpus_, types);
  unwinds_ = o->rodata->unwinds;

  if (int error = load_skeleton(o->skeleton))
    fail_bpf("load the BPF programs", error);
  log_bpf_object(o->obj);
  fill_selection(*o, selection_);
  if (parameters.only_looks)
    return;
  create_rings();
  map_stages();
  if (parameters.stacks)
    map_stacks();
}

void Capture::create_rings() {
  int rings = bpf_map__fd(skeleton_->maps.rings);
  ring_fds_.resize(cpus_);
  for (uint32_t cpu = 0; cpu < cpus_; cpu++) {
    if (!cpu_exists(cpu)) {
      log_debug("CPU {} is not there: no ring", cpu);
      continue;
    }
    int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ovnitrace_ring", 0, 0, uint32_t(ring_bytes_),
                            nullptr);
    if (fd < 0)
      fail_bpf(fmt::format("create a ring buffer of {} bytes for CPU {}", ring_bytes_, cpu), errno);
    ring_fds_[cpu] = UniqueFd(fd);
    if (bpf_map_update_elem(rings, &cpu, &fd, BPF_ANY) != 0)
      fail_bpf(fmt::format("install the ring buffer of CPU {}", cpu), errno);
    log_debug("CPU {}: a ring of {} bytes", cpu, ring_bytes_);
  }
}

void Capture::map_stages() {
  const auto &maps = skeleton_->maps;
  stages_ =
      map_array<const volatile cpu_stage>(bpf_map__fd(maps.stages), cpus_, "map the staging areas");
  life_lost_ = map_array<const volatile uint64_t>(bpf_map__fd(maps.life_lost), 1,
                                                  "map the count of lost life events");
}

void Capture::map_stacks() {
  const auto &maps = skeleton_->maps;
  slots_ = map_array<const stack_slot>(bpf_map__fd(maps.stack_slots), CAPTURE_STACKS,
                                       "map the table of stacks");
  if (!unwinds_)
    return;
  rules_ = map_for_writing<unwind_slot>(maps.unwind_rules, UNWIND_RULES);
  asks_ = map_for_writing<unwind_ask>(maps.unwind_asks, UNWIND_ASKS);
}

int Capture::stack_copies_fd() const {
  return unwinds_ ? bpf_map__fd(skeleton_->maps.stack_copies) : -1;
}

const stack_slot *Capture::stack(uint32_t place_and_1) const {
  return written_stack(slots_.get(), place_and_1);
}

void Capture::attach() {
  collect_bpf_log();
  if (int error = ovnitrace_bpf__attach(skeleton_.get()))
    fail_bpf("attach the BPF programs to the scheduler's tracepoints", error);
  __atomic_store_n(&skeleton_->data->complete_since, monotonic_ns(), __ATOMIC_RELEASE);
  switches_seen_ = transitions_;
  log_debug("attached the programs of the scheduler");
}

void Capture::detach() {
  switches_seen_ = false;
  ovnitrace_bpf__detach(skeleton_.get());
  await_running_programs();
}

void Capture::follow_children_of_caller(bool follow) {
  follow_request request = {follow};
  if (int error = run_once(skeleton_->progs.follow_caller, request))
    fail_bpf("mark the traced program", error);
}

int Capture::find_quota_timers(quota_timers &found) const {
  return -run_once(skeleton_->progs.find_quota_timers, found);
}

/// Marks the targets and their threads. A thread that an unmarked one creates in the meantime needs
/// another visit.
void Capture::mark_targets() {
  constexpr int kMostVisits = 64; // a process may create others faster than we visit them
  auto &marked = skeleton_->bss->newly_traced;
  for (int visit = 0; visit < kMostVisits; visit++) {
    __atomic_store_n(&marked, 0, __ATOMIC_RELAXED);
    visit_tasks(skeleton_->progs.mark_targets, "find the threads to trace");
    if (__atomic_load_n(&marked, __ATOMIC_RELAXED) == 0)
      break;
  }
}

/// Takes the snapshot after a wait: a switch that began while its thread was untraced was not
/// logged, and the snapshot could have the state from before it.
void Capture::snapshot() {
  if (visits_)
    mark_targets();
  await_running_programs();
  visit_tasks(skeleton_->progs.snapshot, "take the snapshot of the threads that are alive");
}

std::vector<std::vector<std::string>> Capture::choose_cgroups() {
  return choose_living_cgroups(*skeleton_, selection_);
}

std::vector<listed_thread> Capture::list() {
  if (visits_)
    mark_targets();
  const std::string bytes = visit_tasks(skeleton_->progs.list_traced, "list the threads");
  std::vector<listed_thread> threads(bytes.size() / sizeof(listed_thread));
  std::memcpy(threads.data(), bytes.data(), threads.size() * sizeof(listed_thread));
  return threads;
}

CaptureCounts Capture::counts() const {
  const volatile auto &now = *skeleton_->bss;
  return {now.stacks_lost, now.cmdlines_lost, now.cgroups_left_out, now.threads_found};
}

std::vector<uint32_t> Capture::target_pids() const {
  const auto &found = skeleton_->bss->found_pids;
  std::vector<uint32_t> pids(std::begin(found), std::end(found));
  std::erase(pids, 0);
  return pids;
}

uint32_t Capture::program_pid() const {
  return __atomic_load_n(&skeleton_->bss->program_pid, __ATOMIC_RELAXED);
}

int Capture::life_fd() const {
  return bpf_map__fd(skeleton_->maps.life);
}

int Capture::regions_map() const {
  return bpf_map__fd(skeleton_->maps.regions);
}

int Capture::share_maps(bpf_object *other) const {
  const auto &maps = skeleton_->maps;
  for (const bpf_map *map : {maps.marks, maps.rings, maps.regions, maps.life, maps.life_lost,
                             maps.stages, maps.throttled})
    if (bpf_map *const theirs = bpf_object__find_map_by_name(other, bpf_map__name(map)))
      if (const int error = bpf_map__reuse_fd(theirs, bpf_map__fd(map)))
        return error;
  return 0;
}

int Capture::cgroups_fd() const {
  return bpf_map__fd(skeleton_->maps.cgroup_paths);
}

int Capture::cmdlines_fd() const {
  return cmdlines_ ? bpf_map__fd(skeleton_->maps.cmdlines) : -1;
}

uint64_t Capture::life_lost() const {
  return life_lost_[0];
}

void Capture::await_last_switch() const {
  constexpr timespec kPause = {0, 100'000};     // ns
  constexpr uint64_t kPatience = 1'000'000'000; // ns
  const uint64_t latest = monotonic_ns() + kPatience;
  while (switches_seen_ && __atomic_load_n(&skeleton_->bss->program_threads, __ATOMIC_RELAXED) &&
         monotonic_ns() < latest)
    nanosleep(&kPause, nullptr);
}

uint64_t Capture::skipped_runs() const {
  // Without on_waking(), on_wakeup() still logs the wakeup. Its waker is not known, then.
  return skipped_runs_of(skeleton_->obj, "on_waking");
}

} // namespace ovnitrace
