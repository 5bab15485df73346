// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/catalog.h"

#include "emulator/base/cores.h"
#include "emulator/base/error.h"
#include "emulator/input/chosen_cpus.h"
#include "emulator/input/file_scan.h"
#include "emulator/input/tick_clock.h"

#include <algorithm>
#include <functional>
#include <future>
#include <map>
#include <set>
#include <tuple>

namespace ovnitrace {

namespace {

constexpr size_t kMostThreads = 8; ///< each has a table of all threads of its files

/// Returns when the trace starts, by the first host that knows; 0 if none does or if it is not a
/// date.
int64_t date_of(const std::vector<HostInput> &hosts, uint64_t begin) {
  constexpr int64_t kNsPerSecond = 1000000000;
  for (const HostInput &host : hosts) {
    const __int128 seconds =
        (__int128(begin) - host.clock_offset_ns + host.info.to_wall_ns) / kNsPerSecond;
    if (host.info.to_wall_ns && seconds > 0)
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
                     .sees_idle = has_family(info, "power") && !chose_cpus(info),
                     .machine = info.machine,
                     .boot_id = info.boot_id,
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

/// Ends the threads that gave away their tids. If another event says when, that one is exact: the
/// main thread may have the tid for a moment.
void end_given_away(Catalog &catalog, const std::vector<GivenAwayTid> &tids) {
  std::map<uint32_t, ThreadTable> tables; // by host
  for (const GivenAwayTid &gone : tids) {
    const ThreadTable &table = tables.try_emplace(gone.host, catalog, gone.host).first->second;
    const uint32_t number = table.latest(gone.tid, gone.time);
    if (number == kNone)
      continue;
    ThreadInfo &thread = catalog.threads[number];
    if (thread.pid == gone.pid && thread.end == UINT64_MAX)
      thread.end = gone.time;
  }
}

/// Puts what was found into the catalog, whose hosts are described.
void fill(Catalog &catalog, const ScanResult &found, const std::vector<HostInput> &hosts) {
  std::set<std::pair<uint32_t, uint32_t>> cpus = found.cpus;
  for (uint32_t host = 0; host < hosts.size(); host++) {
    const TraceInfo &info = hosts[host].info;
    for (const uint16_t cpu : info.topology)
      cpus.emplace(host, cpu);
    for (uint32_t cpu = 0; info.topology.empty() && cpu < info.cpus; cpu++)
      cpus.emplace(host, cpu);
  }
  for (auto [host, number] : cpus)
    catalog.cpus.push_back({.index = number, .host = host});
  for (uint32_t host = 0; host < found.threads.size(); host++)
    for (const auto &[thread, names, cgroups, executed, ended] : found.threads[host].all()) {
      const ThreadName last = thread.name.value_or(ThreadName());
      catalog.threads.push_back({.tid = thread.tid,
                                 .pid = thread.pid,
                                 .parent = thread.parent,
                                 .host = host,
                                 .birth = thread.birth,
                                 .name = last.text(),
                                 .earlier_names = names.before(last, thread.birth != 0),
                                 .cgroups = cgroups.changes(),
                                 // A thread that executes a program takes the tid of a main thread
                                 // that has ended.
                                 .end = ended > executed ? ended : UINT64_MAX});
      for (const SinceCgroup &change : catalog.threads.back().cgroups)
        if (std::vector<Cgroup> &known = catalog.hosts[host].cgroups; known.size() <= change.cgroup)
          known.resize(change.cgroup + 1);
    }
  name_cgroups(catalog);
  end_given_away(catalog, found.given_away);
  const auto row = [](const ThreadInfo &t) {
    return std::make_tuple(t.host, t.pid, t.tid != t.pid, t.birth, t.tid);
  };
  std::sort(catalog.threads.begin(), catalog.threads.end(),
            [&](const ThreadInfo &a, const ThreadInfo &b) { return row(a) < row(b); });
  uint64_t begin = UINT64_MAX, last = 0;
  for (size_t n = 0; n < hosts.size(); n++) { // a file that was cut has not all that was captured
    const HostInput &host = hosts[n];
    HostTimes &times = catalog.hosts[n].times;
    times = found.times[n];
    const TickClock clock(host.clock_offset_ns);
    if (host.info.start_lost && host.info.began_ns)
      times.start = std::min(times.start, clock.ns(host.info.began_ns));
    if (host.info.end_ns)
      times.last = std::max(times.last, clock.ns(host.info.end_ns));
    begin = std::min(begin, times.start != UINT64_MAX ? times.start : times.first);
    last = std::max(last, times.last);
  }
  catalog.begin = begin != UINT64_MAX ? begin : 0;
  catalog.end = std::max(last, catalog.begin);
  catalog.date = date_of(hosts, catalog.begin);
}
/// Splits the files into shares of successive files, about as many bytes each, one share for each
/// CPU.
std::vector<std::vector<HostFile>> shares_of(const std::vector<HostFile> &files) {
  uint64_t total = 0, before = 0;
  for (const HostFile &file : files)
    total += file.chunk->size;
  const size_t count = std::clamp<size_t>(files.size(), 1, std::min<size_t>(cores(), kMostThreads));
  std::vector<std::vector<HostFile>> shares(count);
  for (const HostFile &file : files) {
    const double middle = double(before) + double(file.chunk->size) / 2;
    before += file.chunk->size;
    const size_t share = total ? size_t(middle / double(total) * double(count)) : 0;
    shares[std::min(share, count - 1)].push_back(file);
  }
  return shares;
}

FileScan look_through(const std::vector<HostFile> &files, const CutPlanner &planner, size_t hosts) {
  FileScan scan(planner, hosts);
  for (const HostFile &file : files)
    scan.file(file);
  return scan;
}

} // namespace

Catalog make_catalog(std::vector<HostInput> &hosts, CutPlanner &planner) {
  Catalog catalog;
  std::vector<HostFile> files;
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
  const std::vector<std::vector<HostFile>> shares = shares_of(files);
  std::vector<std::future<FileScan>> others;
  for (size_t n = 1; n < shares.size(); n++)
    others.push_back(std::async(std::launch::async, look_through, std::cref(shares[n]),
                                std::cref(planner), hosts.size()));
  FileScan scan = look_through(shares[0], planner, hosts.size());
  for (std::future<FileScan> &other : others)
    scan.join(other.get());
  planner = std::move(scan.planner());
  planner.finish_files();
  fill(catalog, scan.found(), hosts);
  return catalog;
}

} // namespace ovnitrace
