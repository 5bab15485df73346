// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/convert/layout.h"

#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/core/model.h"
#include "emulator/summary/groups.h"

namespace ovnitrace {

namespace {

/// Lists the CPUs of each host, and the number of each CPU in the header, from 1.
void place_cpus(const System &system, Layout &layout) {
  const Catalog &catalog = system.catalog();
  layout.cpu_number.assign(system.cpus().size(), 0);
  if (catalog.cpus.empty())
    return; // NODES is 0: every line has CPU 0
  uint32_t number = 0;
  for (uint32_t host = 0; host < catalog.hosts.size(); host++) {
    uint32_t first = number;
    for (uint32_t c = 0; c < catalog.cpus.size(); c++)
      if (catalog.cpus[c].host == host) {
        layout.cpu_number[c] = ++number;
        layout.names.cpus.push_back(cpu_name(system, c));
      }
    if (number == first) { // Paraver knows no node without CPUs
      number++;
      layout.names.cpus.push_back(catalog.hosts[host].name + " no CPU");
    }
    layout.header.cpus_per_node.push_back(number - first);
    layout.names.nodes.push_back(catalog.hosts[host].name);
  }
}

} // namespace

Layout thread_layout(const System &system, const Cut &cut) {
  const std::vector<ThreadInfo> &threads = system.catalog().threads;
  Layout layout;
  layout.header.date = system.catalog().date;
  place_cpus(system, layout);
  layout.row_of.assign(threads.size(), kNone);
  uint32_t task_pid = 0, task_host = kNone; // of the last task that was made
  const ThreadInfo *first = nullptr;        // of the process: its main thread, in the cut or not
  for (uint32_t t = 0; t < threads.size(); t++) {
    const ThreadInfo &thread = threads[t];
    if (!first || thread.host != first->host || thread.pid != first->pid)
      first = &thread;
    if (!cut.keeps(thread))
      continue;
    std::vector<PrvTask> &tasks = layout.header.tasks;
    if (thread.host != task_host || thread.pid != task_pid) {
      task_host = thread.host;
      task_pid = thread.pid;
      tasks.emplace_back();
      layout.names.tasks.push_back(
          name_and_number(process_name(system.catalog(), *first), "process", first->pid));
    }
    tasks.back().thread_nodes.push_back(thread.host + 1);
    layout.row_of[t] = uint32_t(layout.rows.size());
    layout.rows.push_back({uint32_t(tasks.size()), uint32_t(tasks.back().thread_nodes.size())});
    layout.names.threads.push_back(thread_name(system.catalog(), t));
  }
  if (layout.rows.empty())
    throw Error("the trace has no threads: nothing was captured, or its files are missing");
  return layout;
}

Layout cpu_layout(const System &system, const Cut &cut) {
  Layout layout;
  layout.header.date = system.catalog().date;
  layout.row_of.assign(system.cpus().size(), kNone);
  layout.cpu_number.assign(system.cpus().size(), 0);
  PrvTask task;
  for (uint32_t c = 0; c < system.cpus().size(); c++) {
    if (!cut.keeps_cpu(system.cpus()[c].index))
      continue;
    layout.row_of[c] = uint32_t(layout.rows.size());
    task.thread_nodes.push_back(1);
    layout.rows.push_back({1, uint32_t(task.thread_nodes.size())});
    layout.names.threads.push_back(cpu_name(system, c));
  }
  if (layout.rows.empty())
    throw Error(system.cpus().empty()
                    ? "the trace has no CPUs: nothing was captured, or its files are missing"
                    : "no CPU of the trace is in the part: `ovnitrace info` lists the CPUs");
  layout.header.tasks.push_back(std::move(task));
  return layout;
}

} // namespace ovnitrace
