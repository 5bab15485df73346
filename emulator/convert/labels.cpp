// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/convert/labels.h"

#include "emulator/core/model.h"
#include "emulator/core/process_number.h"
#include "emulator/format/call_names.h"
#include "emulator/models/blocked_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ovnitrace {

namespace {

using Labels = std::map<int64_t, std::string>;

void given(const System &, const ChannelDef &def, Labels &labels) {
  for (const ValueLabel &value : def.values)
    labels[value.value] = value.label;
}

/// The names that one value may stand for: two hosts may share a tid, and a kernel uses one again.
using Names = std::map<int64_t, std::vector<std::string>>;
constexpr size_t kNamesMost = 4; ///< in one label

void add_name(Names &names, int64_t value, std::string name) {
  std::vector<std::string> &all = names[value];
  if (all.size() > kNamesMost || std::find(all.begin(), all.end(), name) != all.end())
    return;
  all.push_back(all.size() == kNamesMost ? "…" : std::move(name));
}

/// "alpha (100) | beta (100)".
void put_names(const Names &names, Labels &labels) {
  for (const auto &[value, all] : names)
    labels[value] = fmt::format("{}", fmt::join(all, " | "));
}

void threads(const System &system, const ChannelDef &, Labels &labels) {
  const Catalog &catalog = system.catalog();
  Names names;
  for (uint32_t t = 0; t < catalog.threads.size(); t++)
    add_name(names, catalog.threads[t].tid, thread_name(catalog, t));
  for (const NodeInfo &node : catalog.nodes)
    for (const PeerName &peer : node.peers)
      add_name(names, peer.tid, fmt::format("{} ({})", peer.name, peer.tid));
  put_names(names, labels);
}

std::string process_name(const ThreadInfo &main) {
  return main.name.empty() ? fmt::format("process {}", main.pid)
                           : fmt::format("{} ({})", main.name, main.pid);
}

/// Calls `f(main thread, number of the process)` for each process that had a pid. The number is the
/// one that the ovni model gives: in the order of the threads, by node and pid.
template <class F> void for_each_process(const Catalog &catalog, F &&f) {
  size_t count = 0;
  const ThreadInfo *before = nullptr;
  for (const ThreadInfo &thread : catalog.threads) {
    bool first = !before || thread.node != before->node || thread.pid != before->pid;
    count += first;
    if (first || thread.tid == thread.pid)
      f(thread, process_number(count - 1));
    before = &thread;
  }
}

void processes(const System &system, const ChannelDef &, Labels &labels) {
  Names names;
  for_each_process(system.catalog(), [&](const ThreadInfo &main, int64_t) {
    add_name(names, main.pid, process_name(main));
  });
  put_names(names, labels);
}

void process_indices(const System &system, const ChannelDef &, Labels &labels) {
  Names names;
  for_each_process(system.catalog(), [&](const ThreadInfo &main, int64_t number) {
    add_name(names, number, process_name(main));
  });
  put_names(names, labels);
}

void cpus(const System &system, const ChannelDef &, Labels &labels) {
  bool one_node = system.catalog().nodes.size() <= 1;
  for (uint32_t c = 0; c < system.catalog().cpus.size(); c++)
    labels[(one_node ? system.cpus()[c].index : c) + int64_t(1)] = cpu_name(system, c);
}

/// Of hosts of several architectures a value can have several names.
void calls(const System &system, const ChannelDef &, Labels &labels) {
  Names names;
  for (const NodeInfo &node : system.catalog().nodes)
    for (uint16_t call = FTRACE_CALL_NATIVE; call < FTRACE_CALLS; call++)
      if (const auto name = call_name(node.machine, call); name != call_name("", call))
        add_name(names, blocked_in_value(call), std::string(name));
  put_names(names, labels);
}

/// By ChannelDef::Labels.
constexpr void (*kLabels[])(const System &, const ChannelDef &,
                            Labels &) = {given, threads, processes, process_indices, cpus, calls};

bool is_copy(const ChannelDef &def, TraceKind kind) {
  return kind == TraceKind::cpu && def.scope == Scope::thread;
}

/// On a CPU that shows its running thread there may be none.
std::string label_of_none(const ChannelDef &def, TraceKind kind) {
  if (!is_copy(def, kind))
    return def.none;
  return def.idle.empty() ? "Idle | " + def.none : def.idle;
}

/// Labelled values with colours of their own; more of them cannot be seen apart.
constexpr size_t kColoredMost = 4096;

/// Colours by value: those that the channel declares, then those of the series in turn. None for 0,
/// which is background, nor for the errors of copies.
void put_colors(const ChannelDef &def, PcfType &type) {
  size_t next = 0;
  for (PcfValue &value : type.values) {
    auto given = std::find_if(def.colors.begin(), def.colors.end(),
                              [&](const ValueColor &color) { return color.value == value.value; });
    if (given != def.colors.end())
      value.color = given->color;
    else if (value.value > 0 && value.value != kStateBad && value.value != kStateTooManyThreads &&
             next < kColoredMost)
      value.color = palette::series(next++);
  }
}

} // namespace

const ChannelDef *channel_in_trace(const System &system, ChannelId id, TraceKind kind) {
  const ChannelDef &def = system.channels().def(id);
  const uint32_t type = kind == TraceKind::thread ? def.thread_type : def.cpu_type;
  const uint32_t always = kind == TraceKind::thread ? kThreadStateType : kRunningThreadsType;
  return type && (type == always || system.channels().used(id)) ? &def : nullptr;
}

PcfType pcf_type(const System &system, const ChannelDef &def, TraceKind kind) {
  Labels labels;
  labels[0] = label_of_none(def, kind);
  kLabels[size_t(def.labels)](system, def, labels);
  if (is_copy(def, kind)) {
    labels.try_emplace(kStateBad, "Error: disabled in its thread");
    labels.try_emplace(kStateTooManyThreads, "Error: more than one thread");
  }
  PcfType type;
  type.type = kind == TraceKind::thread ? def.thread_type : def.cpu_type;
  type.label = def.label;
  for (auto &[value, label] : labels)
    type.values.push_back({value, std::move(label), {}});
  put_colors(def, type);
  return type;
}

Pcf make_pcf(const System &system, TraceKind kind) {
  Pcf pcf;
  for (ChannelId id = 0; id < system.channels().size(); id++)
    if (const ChannelDef *def = channel_in_trace(system, id, kind))
      pcf.types.push_back(pcf_type(system, *def, kind));
  std::sort(pcf.types.begin(), pcf.types.end(),
            [](const PcfType &a, const PcfType &b) { return a.type < b.type; });
  return pcf;
}

} // namespace ovnitrace
