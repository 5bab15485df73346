// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/perfetto/process_tree.h"

#include "emulator/base/printable.h"
#include "emulator/input/command_lines.h"
#include "emulator/summary/groups.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <unordered_set>

namespace ovnitrace::perfetto {

namespace {

using TreeBuilder = protozero::pbf_builder<Tree>;

constexpr uint64_t kCloneThread = 0x10000; ///< CLONE_THREAD of <linux/sched.h>
constexpr size_t kMostInPacket = 1000;     ///< bounds the memory

/// Writes a process. Perfetto calls it by its first argument, which is `name`. The others are from
/// `line`, its command line; empty: not known.
void add_process(TreeBuilder &tree, uint32_t pid, const std::string &name, std::string_view line) {
  protozero::pbf_builder<Process> process(tree, Tree::processes);
  process.add_int32(Process::pid, int32_t(pid));
  process.add_string(Process::cmdline, name);
  for (size_t blank = line.find(' '); blank != line.npos;) {
    const size_t next = line.find(' ', blank + 1);
    process.add_string(Process::cmdline, std::string(line.substr(blank + 1, next - blank - 1)));
    blank = next;
  }
}

void add_thread(TreeBuilder &tree, uint32_t tid, uint32_t pid, const std::string &name) {
  protozero::pbf_builder<TreeThread> thread(tree, Tree::threads);
  thread.add_int32(TreeThread::tid, int32_t(tid));
  if (!name.empty())
    thread.add_string(TreeThread::name, name);
  thread.add_int32(TreeThread::tgid, int32_t(pid));
}

} // namespace

ProcessTree::ProcessTree(const Catalog &catalog, TimeRange range, const std::vector<uint8_t> &kept,
                         const TaskNames &names, SchedTracks &sched, PacketFile &file)
    : catalog_(catalog), range_(range), kept_(kept), names_(names), lines_(command_lines(catalog)),
      sched_(sched), file_(file), known_(catalog.threads.size()) {}

bool ProcessTree::is_there(uint32_t thread) const {
  return kept_[thread] && catalog_.threads[thread].birth < range_.from;
}

/// Writes the tree at the start. The threads of a process are adjacent, the main thread first.
void ProcessTree::start() {
  const std::vector<ThreadInfo> &threads = catalog_.threads;
  for (uint32_t first = 0; first < threads.size();) {
    uint32_t end = first + 1;
    while (end < threads.size() && threads[end].pid == threads[first].pid)
      end++;
    write_process(first, end);
    first = end;
  }
  write_untraced();
}

void ProcessTree::write_process(uint32_t first, uint32_t end) {
  const uint32_t main = main_of(first, end);
  bool named = false;
  for (uint32_t thread = first; thread < end;) {
    std::vector<uint32_t> some;
    for (; thread < end && some.size() < kMostInPacket; thread++)
      if (is_there(thread))
        some.push_back(thread);
    if (some.empty())
      return;
    file_.packet_at(range_.from, [&](PacketBuilder &packet) {
      TreeBuilder tree(packet, Packet::process_tree);
      const uint32_t pid = catalog_.threads[first].pid;
      const std::string name = named ? std::string() : name_of_process(pid, main);
      if (!name.empty())
        add_process(tree, pid, name, lines_[main]);
      named = true;
      for (uint32_t t : some) {
        add_thread(tree, catalog_.threads[t].tid, pid, names_.name(t));
        known_[t] = 1;
      }
    });
  }
}

/// Returns the main thread of the last process that used a pid before the range, else `first`. Main
/// threads come first.
uint32_t ProcessTree::main_of(uint32_t first, uint32_t end) const {
  const std::vector<ThreadInfo> &threads = catalog_.threads;
  uint32_t main = first;
  for (uint32_t t = first; t < end && threads[t].tid == threads[t].pid; t++)
    if (threads[t].birth < range_.from)
      main = t;
  return main;
}

/// Returns the last name of the main thread, traced or not; empty if it is not known. Its tid may
/// belong to another process later.
std::string ProcessTree::name_of_process(uint32_t pid, uint32_t main) const {
  if (catalog_.threads[main].tid == pid)
    return names_.name(main);
  return printable_line(process_name(catalog_, catalog_.threads[main], range_.to));
}

/// Writes untraced threads, the first name of a tid at the start, and each further one when it was
/// first seen. Perfetto takes another process for another thread. If a traced thread has the tid,
/// it is left out.
void ProcessTree::write_untraced() {
  std::unordered_set<uint32_t> traced;
  for (const ThreadInfo &thread : catalog_.threads)
    traced.insert(thread.tid);
  if (catalog_.hosts.empty())
    return;
  const std::vector<PeerName> &peers = catalog_.hosts.front().peers;
  for (size_t n = 0; n < peers.size(); n++) {
    const bool again = n > 0 && peers[n - 1].tid == peers[n].tid;
    const bool over = n + 1 < peers.size() && peers[n + 1].tid == peers[n].tid &&
                      peers[n + 1].since_ns <= range_.from;
    const uint64_t since = again ? std::max(range_.from, peers[n].since_ns) : range_.from;
    if (!over && since <= range_.to && peers[n].tid != 0 && !traced.contains(peers[n].tid))
      file_.packet_at(since, [&](PacketBuilder &packet) {
        TreeBuilder tree(packet, Packet::process_tree);
        add_thread(tree, peers[n].tid, peers[n].pid, printable_line(peers[n].name));
      });
  }
}

void ProcessTree::write_late(uint32_t thread) {
  known_[thread] = 1;
  const ThreadInfo &info = catalog_.threads[thread];
  file_.packet_at(std::max(range_.from, info.birth), [&](PacketBuilder &packet) {
    TreeBuilder tree(packet, Packet::process_tree);
    if (info.tid == info.pid && !names_.name(thread).empty())
      add_process(tree, info.pid, names_.name(thread), lines_[thread]);
    add_thread(tree, info.tid, info.pid, names_.name(thread));
  });
}

void ProcessTree::event(const Event &event) {
  if (event.thread == kNone || event.time < range_.from)
    return;
  if (event.kind == FTrace_EVT_task_create)
    create(event);
  else if (event.kind == FTrace_EXT_exec) {
    write_command_line(event);
    const Task task = names_.task(event.thread);
    sched_.add_event(
        event.cpu,
        ftrace_event<TaskRename>(event.time, task.tid, FtraceEvent::task_rename, [&](auto &rename) {
          rename.add_int32(TaskRename::pid, int32_t(task.tid));
          rename.add_string(TaskRename::newcomm, names_.name(event.thread));
        }));
  }
}

/// Writes a process that was created in the trace.
void ProcessTree::write_command_line(const Event &event) {
  const ThreadInfo &info = catalog_.threads[event.thread];
  if (info.tid == info.pid && !lines_[event.thread].empty())
    file_.packet_at(event.time, [&](PacketBuilder &packet) {
      TreeBuilder tree(packet, Packet::process_tree);
      add_process(tree, info.pid, names_.name(event.thread), lines_[event.thread]);
    });
}

/// Writes a thread without a creator if that is not known: none is invented.
void ProcessTree::create(const Event &event) {
  const ThreadInfo &info = catalog_.threads[event.thread];
  if (known_[event.thread] || info.parent == 0)
    return;
  known_[event.thread] = 1;
  sched_.add_event(event.cpu,
                   ftrace_event<TaskNewtask>(
                       event.time, info.parent, FtraceEvent::task_newtask, [&](auto &task) {
                         task.add_int32(TaskNewtask::pid, int32_t(info.tid));
                         task.add_string(TaskNewtask::comm, names_.name(event.thread));
                         task.add_uint64(TaskNewtask::clone_flags,
                                         info.tid == info.pid ? 0 : kCloneThread);
                       }));
}

} // namespace ovnitrace::perfetto
