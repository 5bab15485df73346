// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/source.h"

#include <ovnitrace/ftrace_codes.h>

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace ovnitrace {

uint32_t ThreadInfo::name_number(uint64_t time) const {
  const auto at =
      std::upper_bound(earlier_names.begin(), earlier_names.end(), time,
                       [](uint64_t t, const EarlierName &earlier) { return t < earlier.until; });
  if (at == earlier_names.end() || at->name == name)
    return 0;
  const auto first = std::find_if(earlier_names.begin(), at, [&](const EarlierName &earlier) {
    return earlier.name == at->name;
  });
  return uint32_t(first - earlier_names.begin()) + 1;
}

const PeerName *find_peer(const std::vector<PeerName> &peers, uint32_t tid, uint64_t time) {
  const auto later = std::upper_bound(
      peers.begin(), peers.end(), std::pair(tid, time),
      [](const auto &at, const PeerName &peer) { return at < std::pair(peer.tid, peer.since_ns); });
  if (later != peers.begin() && std::prev(later)->tid == tid)
    return &*std::prev(later) - std::prev(later)->again;
  return later != peers.end() && later->tid == tid ? &*later : nullptr;
}

size_t cpu_count(const Catalog &catalog) {
  std::set<std::pair<std::string, uint32_t>> cpus; // machine, number
  for (const CpuInfo &cpu : catalog.cpus) {
    const std::string &boot = catalog.hosts[cpu.host].boot_id;
    cpus.emplace(boot.empty() ? std::to_string(cpu.host) : boot, cpu.index);
  }
  return cpus.size();
}

std::string mark_text(const HostInfo &host, uint32_t number) {
  if (number && number <= host.marks.size())
    return host.marks[number - 1].text;
  return "mark " + std::to_string(number);
}

std::string device_name(const std::vector<DeviceName> &devices, uint32_t number) {
  if (number == 0)
    return "I/O";
  for (const DeviceName &device : devices)
    if (device.number == number && !device.name.empty())
      return device.name;
  return fmt::format("{}:{}", number >> FTRACE_DEVICE_MAJOR_SHIFT,
                     number & FTRACE_DEVICE_MINOR_MASK);
}

} // namespace ovnitrace
