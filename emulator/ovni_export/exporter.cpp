// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/ovni_export/exporter.h"

#include "emulator/base/error.h"
#include "emulator/format/chunk_header.h"
#include "emulator/ovni/stream_format.h"
#include "emulator/ovni_export/legal_path.h"

#include <algorithm>
#include <cstring>

namespace ovnitrace::ovni {

namespace {

constexpr uint32_t kTidGeneration = 1u << 22; ///< above every Linux tid (PID_MAX_LIMIT)
constexpr size_t kLoomNameMost = 200;         ///< bytes of a file name

/// Returns a loom's name fit for a file name: ovni refuses a slash in it.
std::string loom_name(const std::string &host) {
  std::string name = host.substr(0, kLoomNameMost);
  for (char &c : name)
    if (c == '/' || uint8_t(c) < 0x20 || c == 0x7f)
      c = '_';
  return name.empty() ? "host" : name;
}

template <typename... T> std::string_view pack(char (&buffer)[kPayloadMax], T... values) {
  size_t size = 0;
  ((std::memcpy(buffer + size, &values, sizeof values), size += sizeof values), ...);
  return {buffer, size};
}

} // namespace

Exporter::Exporter(const Catalog &catalog, StreamStore &store)
    : catalog_(catalog), store_(store), threads_(catalog.threads.size()),
      cpus_(catalog.cpus.size()) {
  std::set<std::string> taken;
  for (const HostInfo &host : catalog.hosts) {
    std::string name = loom_name(host.name);
    while (!taken.insert(name).second)
      name += "." + std::to_string(looms_.size());
    looms_.push_back(std::move(name));
  }
  std::vector<int32_t> next(catalog.hosts.size());
  for (size_t i = 0; i < cpus_.size(); ++i)
    cpus_[i].index = next[catalog.cpus[i].host]++;
  for (size_t host = 0; host < next.size(); ++host)
    if (next[host] > int32_t(kMostCpus))
      throw Error("cannot export " + looms_[host] + ": its trace names " +
                  std::to_string(next[host]) + " CPUs, Linux has at most " +
                  std::to_string(kMostCpus));
}

void Exporter::change(uint64_t time, uint32_t id, ThreadState state, uint32_t cpu) {
  if (time != time_) {
    settle();
    time_ = time;
  }
  Thread &thread = threads_[id];
  thread.target = {state, cpu};
  if (!thread.pending && !thread.dropped) {
    thread.pending = true;
    pending_.push_back(id);
  }
}

void Exporter::settle() {
  if (time_ == catalog_.begin) // a snapshot finds all threads at once: by row
    std::sort(pending_.begin(), pending_.end());
  for (const uint32_t id : pending_)
    leave(id, threads_[id]);
  for (const uint32_t id : pending_)
    enter(id, threads_[id]);
  pending_.clear();
}

/// Takes all steps, except for taking a CPU to run on.
void Exporter::leave(uint32_t id, Thread &thread) {
  const Place from = thread.now, to = thread.target;
  if (from.state == to.state && from.cpu == to.cpu && !thread.gap)
    return;
  if (thread.stream == kNone && to.state != ThreadState::Unknown)
    begin_stream(id, thread);
  const bool stays_unknown = to.state == ThreadState::Unknown && from.state == ThreadState::Dead;
  if (thread.stream == kNone || stays_unknown)
    return;
  const uint64_t time = std::max(time_, thread.last);
  const bool frees = from.state == ThreadState::Running && from.cpu != kNone;
  if (to.state != ThreadState::Running)
    walk(thread, legal_path(from.state, to.state), time);
  else if (frees)
    set_cpu(thread, kNone, time);
  if (to.state == ThreadState::Unknown)
    set_gap(thread, true, time);
  if (frees) {
    cpus_[from.cpu].running = kNone;
    cpus_[from.cpu].free_since = time;
    cpus_[from.cpu].was_used = true;
  }
}

void Exporter::enter(uint32_t id, Thread &thread) {
  thread.pending = false;
  if (thread.target.state != ThreadState::Running || thread.stream == kNone ||
      (thread.now.state == ThreadState::Running && thread.now.cpu == thread.target.cpu))
    return;
  uint64_t time = std::max(time_, thread.last);
  if (thread.target.cpu != kNone) {
    Cpu &cpu = cpus_[thread.target.cpu];
    if (cpu.running != kNone) {
      ++counts_.conflicts;
      thread.target.cpu = kNone;
    } else {
      cpu.running = id;
      if (cpu.was_used)
        time = std::max(time, cpu.free_since + 1);
    }
  }
  walk(thread, legal_path(thread.now.state, ThreadState::Running), time);
}

/// Logs the steps and follows them.
void Exporter::walk(Thread &thread, Path steps, uint64_t time) {
  set_gap(thread, false, time);
  for (const char step : steps)
    if (step == kTakeCpu || step == kLeaveCpu)
      set_cpu(thread, step == kTakeCpu ? thread.target.cpu : kNone, time);
    else if (step == kStart || step == kExecute)
      execute(thread, step == kStart ? thread.target.cpu : kNone, time);
    else
      transition(thread, step, time);
  if (thread.now.state == ThreadState::Dead)
    thread.now.cpu = kNone;
}

void Exporter::execute(Thread &thread, uint32_t cpu, uint64_t time) {
  const uint32_t parent = catalog_.threads[size_t(&thread - threads_.data())].parent;
  char buffer[kPayloadMax];
  thread.now = {ThreadState::Running, cpu};
  log(thread, "OHx", time,
      pack(buffer, cpu_index(cpu), parent ? int32_t(parent) : int32_t(-1), uint64_t(0)));
}

void Exporter::transition(Thread &thread, char step, uint64_t time) {
  constexpr std::string_view kLetters = "xprcwe"; // in the order of ThreadAction
  const char letters[] = {'O', 'H', step, 0};
  log(thread, letters, time);
  thread.now.state = kStateAfter[kLetters.find(step)];
}

/// Moves a thread to a CPU. OAs is for active threads; a paused thread moves itself by OAr, which
/// ovni accepts from any thread.
void Exporter::set_cpu(Thread &thread, uint32_t cpu, uint64_t time) {
  if (thread.now.cpu == cpu)
    return;
  char buffer[kPayloadMax];
  thread.now.cpu = cpu;
  if (is_active(thread.now.state))
    log(thread, "OAs", time, pack(buffer, cpu_index(cpu)));
  else
    log(thread, "OAr", time, pack(buffer, cpu_index(cpu), tid_of(thread)));
}

/// Marks a time in which nothing is known with ovni's "flushing", which also belongs to the tracer.
void Exporter::set_gap(Thread &thread, bool gap, uint64_t time) {
  if (thread.gap == gap)
    return;
  thread.gap = gap;
  counts_.gaps += gap;
  log(thread, gap ? "OF[" : "OF]", time);
}

void Exporter::begin_stream(uint32_t id, Thread &thread) {
  const ThreadInfo &info = catalog_.threads[id];
  const int32_t tid = free_tid(info);
  if (!tid) {
    thread.dropped = true;
    ++counts_.unnamed;
    return;
  }
  StreamOwner owner;
  owner.loom = looms_[info.host];
  owner.pid = int32_t(info.pid);
  owner.tid = tid;
  owner.name = info.name;
  owner.parent = info.parent;
  owner.birth = info.birth;
  const auto app = app_ids_.emplace(std::pair(info.host, info.pid), int32_t(app_ids_.size() + 1));
  owner.app_id = app.first->second;
  if (looms_with_cpus_.insert(info.host).second)
    for (const CpuInfo &cpu : catalog_.cpus)
      if (cpu.host == info.host)
        owner.cpus.push_back(cpu.index);
  thread.stream = store_.add(std::move(owner));
  tids_.push_back(tid);
  ++streams_;
  // ovni's emulator refuses streams whose first events are more than an hour apart, and its time 0
  // is the first event of all. An empty sorting region, which it ignores, provides a first event.
  log(thread, "OU[", catalog_.begin);
  log(thread, "OU]", catalog_.begin);
}

/// Returns the tid. If a thread of the process had it before, adds a multiple of 2^22. 0: no name
/// is possible.
int32_t Exporter::free_tid(const ThreadInfo &info) {
  if (!info.tid || !info.pid || info.pid > uint32_t(INT32_MAX))
    return 0;
  for (uint64_t tid = info.tid; tid <= uint64_t(INT32_MAX); tid += kTidGeneration)
    if (names_.emplace(info.host, info.pid, int32_t(tid)).second) {
      counts_.renamed += tid != info.tid;
      return int32_t(tid);
    }
  return 0;
}

int32_t Exporter::cpu_index(uint32_t cpu) const {
  return cpu == kNone ? kVirtualCpu : cpus_[cpu].index;
}

void Exporter::log(Thread &thread, const char *letters, uint64_t time, std::string_view payload) {
  char event[kEventHeaderSize + kPayloadMax];
  event[0] = payload.empty() ? 0 : char(payload.size() - 1);
  std::memcpy(event + 1, letters, 3);
  std::memcpy(event + 4, &time, sizeof time);
  std::copy(payload.begin(), payload.end(), event + kEventHeaderSize);
  store_.append(thread.stream, {event, kEventHeaderSize + payload.size()});
  thread.last = time;
  latest_ = std::max(latest_, time);
  ++counts_.events;
}

void Exporter::finish() {
  settle();
  const uint64_t end = std::max(catalog_.end, time_);
  for (Thread &thread : threads_) {
    if (thread.stream == kNone)
      continue;
    const uint64_t time = std::max(end, thread.last);
    walk(thread, legal_path(thread.now.state, ThreadState::Dead), time);
  }
  const auto any = std::find_if(threads_.begin(), threads_.end(),
                                [](const Thread &thread) { return thread.stream != kNone; });
  if (any != threads_.end() && latest_ < end) {
    log(*any, "OU[", end);
    log(*any, "OU]", end);
  }
}

} // namespace ovnitrace::ovni
