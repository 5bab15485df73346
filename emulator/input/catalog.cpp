// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/catalog.h"

#include "emulator/base/cores.h"
#include "emulator/base/error.h"
#include "emulator/format/switch_record.h"
#include "emulator/format/thread_identity.h"
#include "emulator/input/cut_plan.h"
#include "emulator/input/name_history.h"
#include "emulator/input/record_buffer.h"
#include "emulator/input/thread_table.h"
#include "emulator/input/tick_clock.h"

#include <algorithm>
#include <functional>
#include <future>
#include <optional>
#include <set>
#include <tuple>

namespace ovnitrace {

namespace {

constexpr size_t kBlockRecords = 16384;
constexpr size_t kMostThreads = 8; ///< each has a table of all threads of its files

/// Returns when the trace starts, by the first host that knows; 0 if none does or if it is not a
/// date.
int64_t date_of(const std::vector<HostInput> &hosts, uint64_t begin) {
  constexpr int64_t kNsPerSecond = 1000000000, kYear10000 = 253402300800;
  for (const HostInput &host : hosts) {
    const __int128 seconds =
        (__int128(begin) - host.clock_offset_ns + host.info.to_wall_ns) / kNsPerSecond;
    if (host.info.to_wall_ns && seconds > 0 && seconds < kYear10000)
      return int64_t(seconds);
  }
  return 0;
}

/// Returns what trace.json says of a host, on the clock of the whole trace.
HostInfo described(const HostInput &host) {
  const TraceInfo &info = host.info;
  HostInfo described{.name = host.name,
                     .peers = info.peers,
                     .command_lines = info.command_lines,
                     .program_pid = info.program_pid,
                     .chains = info.chains,
                     .idle_states = info.idle_states,
                     .all_threads = info.all_threads,
                     .cpu_holders = info.cpu_holders,
                     .machine = info.machine,
                     .devices = info.devices,
                     .sees_refills = info.sees_refills,
                     .stacks = info.stacks.empty() ? "" : host.path,
                     .marks = info.marks};
  for (const std::string &path : info.cgroups)
    described.cgroups.push_back(describe_cgroup(path));
  const auto offset = uint64_t(host.clock_offset_ns);
  for (CaptureMark &mark : described.marks)
    mark.time_ns += offset;
  for (PeerName &peer : described.peers)
    peer.since_ns += offset;
  for (CommandLine &line : described.command_lines)
    if (line.since_ns)
      line.since_ns += offset;
  return described;
}

/// Gives cgroups without a path a name.
void name_cgroups(Catalog &catalog) {
  for (HostInfo &host : catalog.hosts)
    for (size_t n = 0; n < host.cgroups.size(); n++)
      if (host.cgroups[n].path.empty())
        host.cgroups[n].path = "cgroup " + std::to_string(n + 1);
}

struct File {
  const HostInput *host;
  uint32_t host_index;
  ChunkInput *chunk;
};

struct KnownThread {
  ThreadIdentity identity;
  NameHistory names;
  CgroupHistory cgroups;
};

/// The threads of a host, as all its chunks describe them.
class KnownThreads {
public:
  const std::vector<KnownThread> &all() const { return all_; }
  KnownThread &of(uint32_t tid, uint64_t birth) {
    const uint32_t number = table_.find_or_add(tid, birth, uint32_t(all_.size()));
    if (number == all_.size())
      all_.push_back({{.tid = tid, .birth = birth}, {}, {}});
    return all_[number];
  }

private:
  ThreadTable table_; ///< numbers: places in all_
  std::vector<KnownThread> all_;
};

/// Adds to `known` what `said` tells about the same thread.
void take(ThreadIdentity &known, const ThreadIdentity &said) {
  if (said.pid)
    known.pid = said.pid;
  if (said.parent)
    known.parent = said.parent;
  if (said.name && !said.name->empty() && said.name_time >= known.name_time) {
    known.name = said.name;
    known.name_time = said.name_time;
  }
}

/// Scans some files, one after another.
class Scan {
public:
  Scan(const CutPlanner &planner, size_t hosts) : planner_(planner), threads_(hosts) {}

  void file(const File &file);
  /// Appends the results of `later`, whose files follow.
  void join(Scan &&later);
  void finish(const std::vector<HostInput> &hosts, Catalog &catalog) const;
  CutPlanner &planner() { return planner_; }

private:
  /// A thread as a chunk describes it. A second name in the chunk renames the thread.
  struct Introduced {
    ThreadIdentity identity = {};
    bool renamed = false;
  };

  void control(const ftrace_record &record, uint8_t code, uint64_t offset, ChunkInput &chunk);
  void plan(const ftrace_record &record, uint8_t code);
  bool is_bound(uint16_t context) const {
    return context < identities_.size() && identities_[context];
  }
  void plan_cpu(const ftrace_record &record, uint8_t code, uint64_t time);
  void plan_chunk(uint64_t offset);
  ThreadKey key_of(uint16_t context) const {
    const ThreadIdentity &identity = identities_[context]->identity;
    return {host_, identity.tid, identity.birth};
  }
  void note_name(const Introduced &thread);
  void event(const ftrace_record &record);
  void begin_identity(const ftrace_record &id);
  void end_identity(uint16_t context);
  void end_identities();

  CutPlanner planner_;
  std::vector<KnownThreads> threads_;            ///< by host
  std::set<std::pair<uint32_t, uint32_t>> cpus_; ///< host, number
  uint64_t start_ = UINT64_MAX;                  ///< first trace_start
  uint64_t first_ = UINT64_MAX;                  ///< first event
  uint64_t last_ = 0;                            ///< last event

  // About the current file:
  uint32_t host_ = 0;
  TickClock clock_;
  bool any_format_ = false;
  bool any_chunk_ = false;
  bool any_event_ = false;
  std::optional<uint64_t> next_number_; ///< of the chunk that should follow
  const std::vector<FrameReader::Start> *frames_ =
      nullptr;                                        ///< in this block; null: it is a plain file
  std::optional<uint64_t> last_tsc_;                  ///< of the last event at this clock rate
  std::vector<std::optional<Introduced>> identities_; ///< by context
  std::vector<uint16_t> used_;                        ///< contexts of this chunk
};

void Scan::file(const File &file) {
  ChunkInput &chunk = *file.chunk;
  host_ = file.host_index;
  clock_ = TickClock(file.host->clock_offset_ns);
  any_format_ = any_chunk_ = any_event_ = false;
  RecordBuffer buffer(chunk.fd.get(), chunk.size, kBlockRecords, chunk.codec);
  planner_.start_file();
  next_number_.reset();
  for (auto block = buffer.next_block(); !block.empty(); block = buffer.next_block()) {
    const ftrace_record *last = nullptr;
    chunk.records += block.size();
    frames_ = buffer.frames();
    for (const ftrace_record &record : block) {
      const uint8_t code = code_of(record.code);
      const CodeKind kind = kCodeKinds[code];
      if (is_event(kind)) [[likely]] {
        last = &record;
        if (!any_event_ || code == FTrace_EVT_trace_start) [[unlikely]]
          event(record);
      } else if (kind == CodeKind::control) {
        if (last)
          last_tsc_ = ftrace_record_tsc(last);
        control(record, code,
                buffer.block_offset() + uint64_t(&record - block.data()) * sizeof(record), chunk);
      }
      if (planner_.wanted()) [[unlikely]]
        plan(record, code);
    }
    if (last)
      last_tsc_ = ftrace_record_tsc(last);
  }
  end_identities();
  if (last_tsc_)
    last_ = std::max(last_, clock_.ns(*last_tsc_));
  last_tsc_.reset();
  cpus_.emplace(host_, chunk.cpu);
  if (buffer.error() || buffer.tail() || !buffer.take_fault().empty() || chunk.missing ||
      chunk.unwritten || chunk.records < chunk.written)
    planner_.give_up();
}

void Scan::event(const ftrace_record &record) {
  const uint64_t time = clock_.ns(first_tsc(record));
  any_event_ = true;
  first_ = std::min(first_, time);
  if (code_of(record.code) == FTrace_EVT_trace_start)
    start_ = std::min(start_, time);
}

void Scan::plan(const ftrace_record &record, uint8_t code) {
  const CodeKind kind = kCodeKinds[code];
  const bool is_of_thread =
      is_several_events(kind) || kind == CodeKind::thread_event || kind == CodeKind::thread_state;
  if ((is_of_thread && !is_bound(record.par1)) ||
      (is_several_events(kind) && !is_bound(SwitchParts::of(record).next)))
    return planner_.give_up();
  const uint64_t time = clock_.ns(ftrace_record_tsc(&record));
  planner_.record(record, code, clock_.ns(first_tsc(record)), time);
  plan_cpu(record, code, time);
}

/// Notes who has the CPU of the file after this record, whose contexts are known.
void Scan::plan_cpu(const ftrace_record &record, uint8_t code, uint64_t time) {
  switch (code) {
  case FTrace_EXT_switch:
  case FTrace_EXT_wake_switch:
    planner_.leaves_cpu(key_of(record.par1));
    return planner_.takes_cpu(key_of(SwitchParts::of(record).next), time);
  case FTrace_EVT_task_dispatch:
    return planner_.takes_cpu(key_of(record.par1), time);
  case FTrace_EVT_task_epilogue:
  case FTrace_EVT_task_sleep:
  case FTrace_EVT_task_end:
    return planner_.leaves_cpu(key_of(record.par1));
  case FTrace_EXT_snapshot:
    if (is_running_snapshot(record))
      planner_.runs_at_start(key_of(record.par1));
    return;
  case FTrace_EXT_exec:
  case FTrace_EVT_blackout_start:
    return planner_.forget_cpu();
  default:
    return;
  }
}

/// Notes a chunk. `offset`: of the record after its first.
void Scan::plan_chunk(uint64_t offset) {
  if (offset < sizeof(ftrace_record))
    return planner_.give_up();
  const uint64_t start = offset - sizeof(ftrace_record);
  if (!frames_)
    return planner_.start_chunk(start, start);
  for (const FrameReader::Start &frame : *frames_)
    if (frame.offset == start)
      return planner_.start_chunk(start, frame.place);
}

void Scan::control(const ftrace_record &record, uint8_t code, uint64_t offset, ChunkInput &chunk) {
  switch (code) {
  case FTrace_EVT_cycles_per_msec:
    if (last_tsc_)
      last_ = std::max(last_, clock_.ns(*last_tsc_));
    last_tsc_.reset();
    if (record.par2)
      clock_.set_rate(record.par2);
    return;
  case FTrace_EXT_format:
    end_identities();
    if (!any_format_ && record.par1 > FTRACE_EXT_VERSION)
      throw Error("cannot read " + chunk.name + ": its chunks are of version " +
                  std::to_string(record.par1) + ", this ovnitrace knows " +
                  std::to_string(FTRACE_EXT_VERSION) + ": use a newer ovnitrace");
    any_format_ = true;
    if (planner_.wanted())
      plan_chunk(offset);
    return;
  case FTrace_EXT_chunk:
    if (!any_chunk_)
      chunk.cpu = record.par1;
    any_chunk_ = true;
    if (next_number_.value_or(record.par2) != record.par2)
      planner_.give_up(); // one is missing
    next_number_ = uint64_t(record.par2) + 1;
    cpus_.emplace(host_, record.par1);
    return;
  case FTrace_EVT_id:
    return begin_identity(record);
  default:
    if (!is_bound(record.par1))
      return;
    Introduced &thread = *identities_[record.par1];
    if (code == FTrace_EXT_name_0 && thread.identity.name) {
      note_name(thread);
      thread.renamed = true;
    }
    thread.identity.take(record, [this](uint64_t ticks) { return clock_.ns(ticks); });
    if (code == FTrace_EXT_cgroup && record.par2 && record.par2 <= kMostCgroups)
      threads_[host_]
          .of(thread.identity.tid, thread.identity.birth)
          .cgroups.add({thread.identity.cgroup_since, record.par2 - 1});
  }
}

void Scan::begin_identity(const ftrace_record &id) {
  const uint16_t context = id.par1;
  if (context == 0)
    return; // no thread
  if (identities_.size() <= context)
    identities_.resize(std::max<size_t>(size_t(context) + 1, identities_.size() * 2));
  std::optional<Introduced> &of = identities_[context];
  if (of)
    end_identity(context);
  else
    used_.push_back(context);
  of.emplace().identity.take(id);
}

void Scan::note_name(const Introduced &thread) {
  const ThreadIdentity &said = thread.identity;
  if (said.name && !said.name->empty())
    threads_[host_].of(said.tid, said.birth).names.add(said.name_time, *said.name, thread.renamed);
}

void Scan::end_identity(uint16_t context) {
  std::optional<Introduced> &of = identities_[context];
  if (planner_.wanted())
    planner_.end_context(context, key_of(context));
  take(threads_[host_].of(of->identity.tid, of->identity.birth).identity, of->identity);
  note_name(*of);
  of.reset();
}

void Scan::end_identities() {
  for (uint16_t context : used_)
    end_identity(context);
  used_.clear();
}

void Scan::join(Scan &&later) {
  planner_.join(std::move(later.planner_));
  for (size_t host = 0; host < threads_.size(); host++)
    for (const KnownThread &thread : later.threads_[host].all()) {
      KnownThread &known = threads_[host].of(thread.identity.tid, thread.identity.birth);
      take(known.identity, thread.identity);
      known.names.join(thread.names);
      known.cgroups.join(thread.cgroups);
    }
  cpus_.merge(later.cpus_);
  start_ = std::min(start_, later.start_);
  first_ = std::min(first_, later.first_);
  last_ = std::max(last_, later.last_);
}

void Scan::finish(const std::vector<HostInput> &hosts, Catalog &catalog) const {
  std::set<std::pair<uint32_t, uint32_t>> cpus = cpus_;
  for (uint32_t host = 0; host < hosts.size(); host++)
    for (uint32_t cpu = 0; cpu < hosts[host].info.cpus; cpu++)
      cpus.emplace(host, cpu);
  for (auto [host, number] : cpus)
    catalog.cpus.push_back({.index = number, .host = host});
  for (uint32_t host = 0; host < threads_.size(); host++)
    for (const auto &[thread, names, cgroups] : threads_[host].all()) {
      const ThreadName last = thread.name.value_or(ThreadName());
      catalog.threads.push_back({.tid = thread.tid,
                                 .pid = thread.pid,
                                 .parent = thread.parent,
                                 .host = host,
                                 .birth = thread.birth,
                                 .name = last.text(),
                                 .earlier_names = names.before(last),
                                 .cgroups = cgroups.changes()});
      for (const SinceCgroup &change : catalog.threads.back().cgroups)
        if (std::vector<Cgroup> &known = catalog.hosts[host].cgroups; known.size() <= change.cgroup)
          known.resize(change.cgroup + 1);
    }
  name_cgroups(catalog);
  const auto row = [](const ThreadInfo &t) {
    return std::make_tuple(t.host, t.pid, t.tid != t.pid, t.birth, t.tid);
  };
  std::sort(catalog.threads.begin(), catalog.threads.end(),
            [&](const ThreadInfo &a, const ThreadInfo &b) { return row(a) < row(b); });
  uint64_t start = start_, last = last_;
  for (const HostInput &host : hosts) { // a file that was cut has not all that was captured
    const TickClock clock(host.clock_offset_ns);
    if (host.info.start_lost && host.info.began_ns)
      start = std::min(start, clock.ns(host.info.began_ns));
    if (host.info.end_ns)
      last = std::max(last, clock.ns(host.info.end_ns));
  }
  catalog.begin = start != UINT64_MAX ? start : first_ != UINT64_MAX ? first_ : 0;
  catalog.end = std::max(last, catalog.begin);
  catalog.date = date_of(hosts, catalog.begin);
}

/// Splits the files into shares of successive files, about as many bytes each, one share for each
/// CPU.
std::vector<std::vector<File>> shares_of(const std::vector<File> &files) {
  uint64_t total = 0, before = 0;
  for (const File &file : files)
    total += file.chunk->size;
  const size_t count = std::clamp<size_t>(files.size(), 1, std::min<size_t>(cores(), kMostThreads));
  std::vector<std::vector<File>> shares(count);
  for (const File &file : files) {
    const double middle = double(before) + double(file.chunk->size) / 2;
    before += file.chunk->size;
    const size_t share = total ? size_t(middle / double(total) * double(count)) : 0;
    shares[std::min(share, count - 1)].push_back(file);
  }
  return shares;
}

Scan look_through(const std::vector<File> &files, const CutPlanner &planner, size_t hosts) {
  Scan scan(planner, hosts);
  for (const File &file : files)
    scan.file(file);
  return scan;
}

} // namespace

Catalog make_catalog(std::vector<HostInput> &hosts, CutPlanner &planner) {
  Catalog catalog;
  std::vector<File> files;
  for (uint32_t i = 0; i < hosts.size(); i++) {
    catalog.hosts.push_back(described(hosts[i]));
    for (ChunkInput &chunk : hosts[i].chunks) {
      catalog.files.push_back(chunk.name);
      files.push_back({&hosts[i], i, &chunk});
    }
  }
  if (catalog.files.size() > UINT16_MAX)
    throw Error("cannot read " + std::to_string(catalog.files.size()) +
                " chunk files at once: at most 65535");
  const std::vector<std::vector<File>> shares = shares_of(files);
  std::vector<std::future<Scan>> others;
  for (size_t n = 1; n < shares.size(); n++)
    others.push_back(std::async(std::launch::async, look_through, std::cref(shares[n]),
                                std::cref(planner), hosts.size()));
  Scan scan = look_through(shares[0], planner, hosts.size());
  for (std::future<Scan> &other : others)
    scan.join(other.get());
  planner = std::move(scan.planner());
  planner.finish_files();
  scan.finish(hosts, catalog);
  return catalog;
}

} // namespace ovnitrace
