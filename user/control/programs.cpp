// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/programs.h"

#include "user/bpf/bpf_log.h"
#include "user/bpf/kernel_functions.h"
#include "user/bpf/kernel_types.h"
#include "user/bpf/preflight.h"
#include "user/bpf/twins.h"
#include "user/bpf/visit_tasks.h"
#include "user/chunk/service_thread.h"
#include "user/control/program_tables.h"

#include "control.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace ovnitrace::control {

namespace {

/// Removes many probes at a time. Each removal waits for all CPUs, and removals that wait together
/// wait once.
void drop_all(std::vector<UprobeHold> holds) {
  constexpr size_t kTogether = 32;
  std::atomic<size_t> next = 0;
  std::vector<std::thread> threads;
  for (size_t n = 0; n < std::min(holds.size(), kTogether); n++)
    threads.emplace_back([&] {
      for (size_t at; (at = next++) < holds.size();)
        holds[at] = {};
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace

/// Removes probes on a thread of its own, because removing takes long.
class Programs::Dropper {
public:
  Dropper() : thread_([this] { run(); }) {}
  ~Dropper() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    there_is_work_.notify_one();
    thread_.join();
  }
  void drop(UprobeHold hold) {
    {
      const std::lock_guard lock(mutex_);
      holds_.push_back(std::move(hold));
    }
    there_is_work_.notify_one();
  }

private:
  void run() {
    block_signals();
    for (std::unique_lock lock(mutex_); !ending_ || !holds_.empty();) {
      there_is_work_.wait(lock, [this] { return ending_ || !holds_.empty(); });
      std::vector<UprobeHold> dropped = std::exchange(holds_, {});
      lock.unlock();
      drop_all(std::move(dropped));
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable there_is_work_;
  std::vector<UprobeHold> holds_;
  bool ending_ = false;
  std::thread thread_;
};

Programs::Programs(const Plan &plan, const Capture *capture, const ProgramOptions &options)
    : skeleton_(nullptr, control_bpf__destroy) {
  const KernelTypes types;
  if (plan.has(CONTROL_PCONTROL))
    require_kernel(KernelPart::pcontrol, types);
  collect_bpf_log();
  skeleton_.reset(control_bpf__open());
  control_bpf *const o = skeleton_.get();
  if (!o)
    fail_bpf("open the BPF object of --control", errno);
  fill_tables(plan, options, *o);
  set_preempt_count(*o->rodata, types);
  o->rodata->kfuncs = use_kfuncs(o->obj, types);
  o->rodata->has_twins = choose_twins(o->obj, types);
  if (!types.has_function("bpf_mem_alloc_init"))
    preallocate(*o);
  if (const int error = capture ? capture->share_maps(o->obj) : 0)
    fail_bpf("share the maps of the scheduler's programs", error);
  alarm_.prepare(o->progs.on_alarm);
  library_.prepare(o->progs.on_library);
  choose_programs(plan, *o);
  if (plan.has(CONTROL_EXIT_FUNC))
    leave_.prepare(o->progs.on_alarm_leave);
  if (plan.has(CONTROL_PCONTROL))
    pcontrol_.prepare(o->progs.on_pcontrol);
  if (const int error = load_skeleton(o->skeleton))
    fail_bpf("load the BPF programs of --control", error);
  const control_process process = fresh_process(plan);
  const control_thread thread = {};
  const uint32_t zero = 0;
  if (bpf_map_update_elem(bpf_map__fd(o->maps.fresh_process), &zero, &process, BPF_ANY) != 0 ||
      bpf_map_update_elem(bpf_map__fd(o->maps.fresh_thread), &zero, &thread, BPF_ANY) != 0)
    fail_bpf("set how the chains of --control start", errno);
}

Programs::~Programs() = default;

void Programs::attach() {
  collect_bpf_log();
  if (const int error = control_bpf__attach(skeleton_.get()))
    fail_bpf("attach the BPF programs of --control", error);
  dropper_ = std::make_unique<Dropper>();
}

void Programs::begin_living() {
  visit_tasks(skeleton_->progs.begin_living, "find the threads that have chains");
}

UprobeLinks &Programs::links(ProbeKind kind) {
  switch (kind) {
  case ProbeKind::leave:
    return leave_;
  case ProbeKind::pcontrol:
    return pcontrol_;
  case ProbeKind::library:
    return library_;
  default:
    return alarm_;
  }
}

int Programs::add_probes(ProbeKind kind, uint32_t pid, const std::string &path,
                         std::span<const UprobeAt> places, bool own) {
  const uint8_t probed = own ? 2 : 1;
  if (kind != ProbeKind::library)
    bpf_map_update_elem(probed_map(), &pid, &probed, own ? BPF_ANY : BPF_NOEXIST);
  return links(kind).attach(path, places, pid);
}

void Programs::drop_probes(uint32_t pid, bool now) {
  bpf_map_delete_elem(probed_map(), &pid);
  for (UprobeLinks *links : {&alarm_, &leave_, &pcontrol_, &library_})
    if (UprobeHold hold = links->take(pid); !now && dropper_)
      dropper_->drop(std::move(hold));
}

size_t Programs::files_needed(size_t places) const {
  return alarm_.files_needed(places);
}

volatile bool *Programs::holds() {
  return &skeleton_->bss->holds;
}

void Programs::stop_holding() {
  *holds() = false;
  syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0); // waits for BPF programs that are running
}

void Programs::detach() {
  control_bpf__detach(skeleton_.get());
  dropper_.reset();
  std::vector<UprobeHold> holds;
  for (UprobeLinks *links : {&alarm_, &leave_, &pcontrol_, &library_})
    for (UprobeHold &hold : links->take_all())
      holds.push_back(std::move(hold));
  drop_all(std::move(holds));
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
          bpf_prog_test_run_opts(bpf_program__fd(skeleton_->progs.hit_alarm), &options))
    fail_bpf("run the BPF program that makes an alarm of --control hit", error);
  return request;
}

uint64_t Programs::hits_of(uint32_t pid, uint32_t tid, uint32_t alarm) const {
  const auto &tables = *skeleton_->rodata;
  if (tables.alarms[alarm].flags & CONTROL_GLOBAL) {
    control_process process = {};
    bpf_map_lookup_elem(processes_map(), &pid, &process);
    return process.counts[alarm] & CONTROL_COUNT_MASK;
  }
  control_thread thread = {};
  bpf_map_lookup_elem(threads_map(), &tid, &thread);
  for (uint32_t c = 0; c < tables.chain_count; c++)
    if (alarm - tables.chains[c].first < tables.chains[c].alarms)
      return thread.places[c].count;
  return 0;
}

void Programs::stop_for_tracer(bool on) {
  skeleton_->bss->steps = on;
}

void Programs::visit(const control_message &message) {
  skeleton_->bss->loader_visits = message;
  visit_tasks(skeleton_->progs.visit_living, "record the threads of a region");
}

int Programs::messages_fd() const {
  return bpf_map__fd(skeleton_->maps.control_messages);
}

int Programs::processes_map() const {
  return bpf_map__fd(skeleton_->maps.control_processes);
}

int Programs::threads_map() const {
  return bpf_map__fd(skeleton_->maps.control_threads);
}

int Programs::probed_map() const {
  return bpf_map__fd(skeleton_->maps.control_probed);
}

int Programs::held_map() const {
  return bpf_map__fd(skeleton_->maps.control_held);
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

ProgramLosses Programs::losses() const {
  const volatile auto &now = *skeleton_->bss;
  return {now.control_full, now.control_unheld, now.messages_lost, skipped_runs_of(skeleton_->obj)};
}

} // namespace ovnitrace::control
