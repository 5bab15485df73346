// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/trace_json.h"

#include "user/record/json_list.h"
#include "user/record/stacks_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

namespace ovnitrace {

using Json = nlohmann::ordered_json;

namespace {

constexpr int kVersion = 1; // of the trace directory; readers refuse a newer one

std::string text(const std::array<char, CAPTURE_COMM_LEN> &comm) {
  return std::string(comm.data(), strnlen(comm.data(), comm.size()));
}

Json topology(const Host &host) {
  Json list = Json::array();
  for (const CpuTopology &cpu : host.cpus)
    list.push_back(
        {{"cpu", cpu.cpu}, {"package", cpu.package}, {"core", cpu.core}, {"node", cpu.node}});
  return list;
}

Json counts_of(const TraceDescription &trace) {
  Json list = Json::array();
  for (const CpuTopology &cpu : trace.host.cpus)
    list.push_back({{"cpu", cpu.cpu},
                    {"transitions", trace.counts[cpu.cpu].events},
                    {"lost", trace.counts[cpu.cpu].lost},
                    {"family_events", trace.counts[cpu.cpu].family_events},
                    {"family_lost", trace.counts[cpu.cpu].family_lost}});
  return list;
}

/// Returns what was written for each CPU that has a file.
Json written_of(const TraceDescription &trace) {
  Json list = Json::array();
  for (size_t cpu = 0; cpu < trace.written.size(); cpu++)
    if (trace.written[cpu])
      list.push_back({{"cpu", cpu}, {"records", trace.written[cpu]}});
  return list;
}

/// Returns what was captured and is in no file.
Json not_written_of(const TraceDescription &trace) {
  Json list = Json::array();
  for (size_t cpu = 0; cpu < trace.not_written.size(); cpu++)
    if (const EventLoss &loss = trace.not_written[cpu]; loss.records)
      list.push_back({{"cpu", cpu}, {"records", loss.records}, {"events", loss.lost}});
  return list;
}

Json account_of(const life_account &account) {
  return {{"run_ns", account.run_ns},
          {"wait_ns", account.wait_ns},
          {"slices", account.slices},
          {"voluntary_switches", account.voluntary},
          {"involuntary_switches", account.involuntary}};
}

/// Returns the threads by process and tid, so that two runs of the same thing can be compared as
/// text.
std::vector<const TracedThread *> in_order(const ThreadRegistry &registry) {
  std::vector<const TracedThread *> threads;
  for (const auto &[tid, thread] : registry.all())
    threads.push_back(&thread);
  std::sort(threads.begin(), threads.end(), [](const TracedThread *a, const TracedThread *b) {
    return std::pair(a->pid, a->tid) < std::pair(b->pid, b->tid);
  });
  return threads;
}

Json thread_of(const TracedThread &thread) {
  Json json = {{"tid", thread.tid}, {"pid", thread.pid}, {"name", thread.name->raw()}};
  if (thread.parent)
    json["parent"] = thread.parent;
  if (thread.birth)
    json["birth_ns"] = thread.birth;
  if (thread.account)
    json["kernel_account"] = account_of(*thread.account);
  return json;
}

Json peer_of(const NamedPeer &peer) {
  Json json = {
      {"tid", peer.tid}, {"pid", peer.pid}, {"name", text(peer.comm)}, {"since_ns", peer.since}};
  if (peer.cgroup)
    json["cgroup"] = peer.cgroup;
  return json;
}

/// Writes one element at a time: a capture of a machine can have seen millions of threads.
void put_threads(const ThreadRegistry &registry, bool regions, const Put &put) {
  const std::vector<const TracedThread *> threads = in_order(registry);
  {
    JsonList processes("processes", put);
    for (size_t from = 0, to; from < threads.size(); from = to) {
      std::string name; // none, if its main thread was not traced
      for (to = from; to < threads.size() && threads[to]->pid == threads[from]->pid; to++)
        if (threads[to]->tid == threads[to]->pid)
          name = threads[to]->name->raw();
      processes.add({{"pid", threads[from]->pid}, {"name", name}});
    }
  }
  {
    JsonList list("threads", put);
    for (const TracedThread *thread : threads)
      list.add(thread_of(*thread));
  }
  {
    JsonList list("peers", put);
    for (const NamedPeer &peer : registry.peers())
      list.add(peer_of(peer));
    // What is outside the regions is in no chunk, but it wakes and holds those inside.
    for (const TracedThread *thread : threads)
      if (regions)
        list.add({{"tid", thread->tid},
                  {"pid", thread->pid},
                  {"name", thread->name->raw()},
                  {"since_ns", thread->birth}});
  }
  if (registry.peers_left_out())
    put(",\n \"peers_left_out\": " + std::to_string(registry.peers_left_out()));
}

/// Adds command lines by process and time. If a process was alive before the capture, it is
/// included only if it was traced.
void put_command_lines(const TraceDescription &trace, const ThreadsSoFar &threads, const Put &put) {
  std::vector<const CommandLine *> lines;
  for (const CommandLine &line : trace.command_lines.all())
    if (const auto found = threads.registry.all().find(line.pid);
        found != threads.registry.all().end() && found->second.birth < trace.begin)
      lines.push_back(&line);
  for (const CommandLine &line : threads.command_lines.all())
    lines.push_back(&line);
  std::stable_sort(lines.begin(), lines.end(), [](const CommandLine *a, const CommandLine *b) {
    return std::pair(a->pid, a->since_ns) < std::pair(b->pid, b->since_ns);
  });
  {
    JsonList list("command_lines", put);
    for (const CommandLine *line : lines)
      list.add({{"pid", line->pid}, {"since_ns", line->since_ns}, {"text", line->text}});
  }
  if (const uint64_t missing = trace.command_lines_lost + threads.command_lines.left_out())
    put(",\n \"command_lines_left_out\": " + std::to_string(missing));
}

Json devices_of(const std::vector<DeviceName> &devices) {
  Json list = Json::array();
  for (const DeviceName &device : devices)
    list.push_back({{"device", device.number}, {"name", device.name}});
  return list;
}

std::string buffer_of(const BufferKind &buffer) {
  const char *const kNames[] = {"jtn", "cyc", "stop"};
  std::string text = kNames[buffer.kind];
  return buffer.kind == BufferKind::kJtn ? text : text + ":" + std::to_string(buffer.bytes);
}

Json ending_of(const TraceDescription &trace) {
  if (!trace.finished) {
    Json ending = {
        {"how", trace.how.empty() ? "still being captured, or the tracer was killed" : trace.how}};
    if (!trace.write_error.empty())
      ending["write_error"] = trace.write_error;
    return ending;
  }
  std::string how = trace.how;
  if (!trace.write_error.empty())
    how += "; the trace is not whole";
  if (!trace.write_error.empty() && trace.records_dropped)
    how += ": " + std::to_string(trace.records_dropped) + " records were not written";
  Json ending = {{"how", how}, {"exit_status", trace.exit_status}};
  if (!trace.write_error.empty())
    ending["write_error"] = trace.write_error;
  return ending;
}

Json stacks_of(const TraceDescription &trace) {
  const StackCounts counts = stack_counts(trace);
  Json json;
  for (const auto &[name, count] : kStackCounts)
    json[name] = counts.*count;
  return json;
}

} // namespace

StackCounts stack_counts(const TraceDescription &trace) {
  StackCounts counts = {.distinct = trace.stacks->captured.stacks.size(),
                        .lost = trace.stacks_lost};
  for (size_t n = 0; n < counts.distinct; n++) {
    const CapturedStacks::Stack &stack = trace.stacks->captured.stacks[n];
    counts.all += stack.taken;
    counts.with_program += stack.user ? stack.taken : 0;
    if (trace.stacks->cut[n])
      counts.cut += stack.taken;
    else if (stack.gap)
      counts.gapped += stack.taken;
  }
  return counts;
}

uint64_t events_lost(const TraceDescription &trace) {
  uint64_t lost = trace.dropped.logged;
  for (const CpuCount &count : trace.counts)
    lost += count.lost + count.family_lost;
  for (const EventLoss &loss : trace.not_written)
    lost += loss.logged;
  return lost;
}

void write_json(const TraceDescription &trace, const ThreadsSoFar *threads, const Put &put) {
  Json json = {
      {"format", "ovnitrace"},
      {"version", kVersion},
      {"ovnitrace", OVNITRACE_VERSION},
      {"host", trace.host.name},
      {"kernel", trace.host.kernel},
      {"machine", trace.host.machine},
      {"cpus", trace.host.cpus.empty() ? 0 : trace.host.cpus.back().cpu + 1},
      {"topology", topology(trace.host)},
      {"clock", {{"id", "CLOCK_MONOTONIC"}, {"to_wall_ns", trace.offset_to_wall}}},
      {"command", trace.command},
      {"user", trace.user},
      {"options",
       {{"ring_bytes", trace.ring_bytes},
        {"chunk_bytes", trace.chunk_bytes},
        {"buffer", buffer_of(trace.buffer)},
        {"compress_level", trace.compress_level},
        {"families", to_string(trace.families)},
        {"stacks", trace.stacks_option}}},
      {"begin_ns", trace.begin},
  };
  if (!trace.host.boot_id.empty())
    json["boot_id"] = trace.host.boot_id;
  if (trace.program_pid)
    json["program_pid"] = trace.program_pid;
  if (!trace.filters.empty())
    json["filters"] = trace.filters;
  if (!trace.attached_pids.empty()) {
    json["attached_pids"] = trace.attached_pids;
    json["with_children"] = trace.with_children;
  }
  for (const CaptureMark &mark : trace.marks)
    json["marks"].push_back({{"time_ns", mark.time_ns}, {"text", mark.text}});
  if (trace.all_threads)
    json["all_threads"] = true;
  if (trace.cpu_holders)
    json["cpu_holders"] = true;
  if (!trace.idle_states.empty())
    json["idle_states"] = trace.idle_states;
  if (trace.sees_refills)
    json["sees_refills"] = true;
  if (!trace.cgroups.empty())
    json["cgroups"] = trace.cgroups;
  if (!trace.devices.empty())
    json["devices"] = devices_of(trace.devices);
  if (!trace.control.empty()) {
    Json chains = Json::array();
    for (const auto &[name, text] : trace.control)
      chains.push_back({{"name", name}, {"text", text}});
    json["control"] = {{"region", trace.region_by_thread ? "thread" : "global"},
                       {"chains", chains}};
  }
  json["ended"] = ending_of(trace);
  if (trace.end)
    json["end_ns"] = trace.end;
  if (trace.finished) {
    uint64_t logged = 0, lost = 0;
    for (const CpuCount &count : trace.counts) {
      logged += count.events + count.family_events;
      lost += count.lost + count.family_lost;
    }
    json["events"] = trace.events;
    json["forgotten"] = trace.forgotten;
    json["logged_by_kernel"] = logged;
    json["lost"] = lost;
    json["life_events_lost"] = trace.life_lost;
    json["skipped_runs"] = trace.skipped_runs;
    if (trace.stacks)
      json["stacks_taken"] = stacks_of(trace);
    json["user_events_refused"] = trace.user_refused;
    json["tracer_cpu_ns"] = trace.tracer_cpu;
    json["records"] = trace.records;
    json["records_dropped"] = trace.records_dropped;
    json["per_cpu"] = counts_of(trace);
  }
  if (!trace.written.empty())
    json["written"] = written_of(trace);
  if (const Json missing = not_written_of(trace); !missing.empty())
    json["not_written"] = missing;
  std::string head = json_text(json, 1);
  head.resize(head.rfind('\n')); // without the closing brace
  put(head);
  if (threads)
    put_threads(threads->registry, !trace.control.empty(), put);
  if (threads)
    put_command_lines(trace, *threads, put);
  if (trace.stacks)
    write_stacks(*trace.stacks, put);
  put("\n}\n");
}

} // namespace ovnitrace
