// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/convert/labels.h"

#include "emulator/base/human.h"
#include "emulator/core/model.h"
#include "emulator/core/process_number.h"
#include "emulator/format/call_names.h"
#include "emulator/models/blocked_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string_view>

namespace ovnitrace {

namespace {

using Labels = std::map<int64_t, std::string>;

void given(const System &, const ChannelDef &def, Labels &labels) {
  for (const ValueLabel &value : def.values)
    labels[value.value] = value.label;
}

/// Collects the names of values. A value can have several: two hosts may share a tid, and a kernel
/// uses a tid again.
class NameCollector {
public:
  void add(int64_t value, std::string name) { names_.push_back({value, std::move(name)}); }

  /// Returns "alpha (100) | beta (100)": each name once, in the order in which they were added.
  void put(Labels &labels) {
    const auto by_value = [](const Name &a, const Name &b) { return a.value < b.value; };
    // A trace can have many names, mostly in order and one for each value.
    if (!std::is_sorted(names_.begin(), names_.end(), by_value))
      std::stable_sort(names_.begin(), names_.end(), by_value);
    for (auto at = names_.begin(); at != names_.end();) {
      const auto end = std::find_if(
          at, names_.end(), [value = at->value](const Name &name) { return name.value != value; });
      labels.insert_or_assign(labels.end(), at->value,
                              end - at == 1 ? std::move(at->text) : joined({at, end}));
      at = end;
    }
  }

private:
  static constexpr size_t kMost = 4; ///< in one label

  struct Name {
    int64_t value;
    std::string text;
  };

  static std::string joined(std::span<Name> names) {
    std::vector<std::string_view> all;
    for (const Name &name : names)
      if (std::find(all.begin(), all.end(), name.text) == all.end()) {
        all.push_back(all.size() == kMost ? std::string_view("…") : name.text);
        if (all.size() > kMost)
          break;
      }
    return fmt::format("{}", fmt::join(all, " | "));
  }

  std::vector<Name> names_;
};

void threads(const System &system, const ChannelDef &, Labels &labels) {
  const Catalog &catalog = system.catalog();
  NameCollector names;
  for (uint32_t t = 0; t < catalog.threads.size(); t++)
    names.add(catalog.threads[t].tid, thread_name(catalog, t));
  for (const HostInfo &host : catalog.hosts)
    for (const PeerName &peer : host.peers)
      if (!peer.name.empty())
        names.add(peer.tid, fmt::format("{} ({})", peer.name, peer.tid));
  names.put(labels);
}

/// Calls `f(main thread, number of the process)` for each process with a pid. The number is that of
/// the ovni model: in the order of the threads, by host and pid.
template <class F> void for_each_process(const Catalog &catalog, F &&f) {
  size_t count = 0;
  const ThreadInfo *before = nullptr;
  for (const ThreadInfo &thread : catalog.threads) {
    bool first = !before || thread.host != before->host || thread.pid != before->pid;
    count += first;
    if (first || thread.tid == thread.pid)
      f(thread, process_number(count - 1));
    before = &thread;
  }
}

void processes(const System &system, const ChannelDef &, Labels &labels) {
  NameCollector names;
  for_each_process(system.catalog(), [&](const ThreadInfo &main, int64_t) {
    names.add(main.pid, name_and_number(main.name, "process", main.pid));
  });
  names.put(labels);
}

void process_indices(const System &system, const ChannelDef &, Labels &labels) {
  NameCollector names;
  for_each_process(system.catalog(), [&](const ThreadInfo &main, int64_t number) {
    names.add(number, name_and_number(main.name, "process", main.pid));
  });
  names.put(labels);
}

void cpus(const System &system, const ChannelDef &, Labels &labels) {
  bool one_host = system.catalog().hosts.size() <= 1;
  for (uint32_t c = 0; c < system.catalog().cpus.size(); c++)
    labels[(one_host ? system.cpus()[c].index : c) + int64_t(1)] = cpu_name(system, c);
}

/// Adds the names of system calls. With hosts of several architectures, a value can have several.
void calls(const System &system, const ChannelDef &, Labels &labels) {
  NameCollector names;
  names.add(kBlockedInUnknown, "Not known");
  for (const HostInfo &host : system.catalog().hosts)
    for (uint16_t call = FTRACE_CALL_NATIVE; call < FTRACE_CALLS; call++)
      if (const auto name = call_name(host.machine, call); name != call_name("", call))
        names.add(blocked_in_value(call), std::string(name));
  names.put(labels);
}

void marks(const System &system, const ChannelDef &, Labels &labels) {
  NameCollector names;
  for (const HostInfo &host : system.catalog().hosts)
    for (uint32_t number = 1; number <= host.marks.size(); number++)
      names.add(number, mark_text(host, number));
  names.put(labels);
}

/// By ChannelDef::Labels.
constexpr void (*kLabels[])(const System &, const ChannelDef &, Labels &) = {
    given, threads, processes, process_indices, cpus, calls, marks};

bool is_copy(const ChannelDef &def, TraceKind kind) {
  return kind == TraceKind::cpu && def.scope == Scope::thread;
}

/// Returns the label of value 0. On a CPU, 0 can also mean that no thread of the trace is running
/// there.
std::string label_of_none(const System &system, const ChannelDef &def, TraceKind kind) {
  constexpr std::string_view kIdle = "Idle";
  std::string label = def.none;
  if (is_copy(def, kind))
    label = def.idle.empty() ? fmt::format("{} | {}", kIdle, def.none) : def.idle;
  const auto &hosts = system.catalog().hosts;
  const bool all = std::all_of(hosts.begin(), hosts.end(),
                               [](const HostInfo &host) { return host.all_threads; });
  if (kind == TraceKind::cpu && label.starts_with(kIdle) && !all)
    label.replace(0, kIdle.size(), "No traced thread");
  return label;
}

/// The most labelled values that get colours. More cannot be distinguished.
constexpr size_t kColoredMost = 4096;

/// Adds colours by value: the channel's own, then the series, repeated. 0 has no colour, as it is
/// background. Neither have the errors of copies.
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
  labels[0] = label_of_none(system, def, kind);
  kLabels[size_t(def.labels)](system, def, labels);
  if (is_copy(def, kind)) {
    labels.try_emplace(kStateBad, "Error: disabled in its thread");
    labels.try_emplace(kStateTooManyThreads, "Error: more than one thread");
  }
  PcfType type;
  type.type = kind == TraceKind::thread ? def.thread_type : def.cpu_type;
  type.label = def.label;
  type.values.reserve(labels.size());
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
