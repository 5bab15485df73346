// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/host.h"

#include "emulator/base/error.h"
#include "emulator/base/messages.h"

#include <fmt/core.h>
#include <ovnitrace/ftrace_codes.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

namespace ovnitrace {

namespace {

std::string cpu_folder(uint32_t cpu) {
  return fmt::format("/sys/devices/system/cpu/cpu{}", cpu);
}

int read_int(const std::string &path) {
  int value = -1;
  std::ifstream(path) >> value;
  return value;
}

/// Returns the NUMA node of a CPU: the folder of the CPU holds a link nodeN.
int numa_node(uint32_t cpu) {
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator(cpu_folder(cpu), ignored)) {
    std::string name = entry.path().filename();
    if (name.starts_with("node") && name.size() > 4 && isdigit(name[4]))
      return std::stoi(name.substr(4));
  }
  return -1;
}

CpuTopology topology_of(uint32_t cpu) {
  return {cpu, read_int(cpu_folder(cpu) + "/topology/physical_package_id"),
          read_int(cpu_folder(cpu) + "/topology/core_id"), numa_node(cpu)};
}

} // namespace

/// The kernel removes the topology of a CPU that goes offline. CPU 0 often has no file `online`.
bool cpu_is_online(uint32_t cpu) {
  return access((cpu_folder(cpu) + "/topology").c_str(), F_OK) == 0;
}

Host describe_host(uint32_t possible_cpus) {
  utsname names = {};
  uname(&names);
  Host host = {.name = names.nodename, .kernel = names.release, .machine = names.machine};
  std::ifstream("/proc/sys/kernel/random/boot_id") >> host.boot_id;
  for (uint32_t cpu = 0; cpu < possible_cpus; cpu++)
    if (cpu_is_online(cpu))
      host.cpus.push_back(topology_of(cpu));
  return host;
}

void add_later_cpus(Host &host, std::span<const uint64_t> records) {
  for (uint32_t cpu = 0; cpu < records.size(); cpu++) {
    const auto at = std::ranges::lower_bound(host.cpus, cpu, {}, &CpuTopology::cpu);
    if (records[cpu] && (at == host.cpus.end() || at->cpu != cpu))
      host.cpus.insert(at, topology_of(cpu));
  }
}

std::vector<std::string> idle_state_names(const Host &host) {
  std::vector<std::string> names;
  for (size_t n = 0; n < host.cpus.size(); n++)
    for (size_t state = 0;; state++) {
      std::ifstream file(
          fmt::format("{}/cpuidle/state{}/name", cpu_folder(host.cpus[n].cpu), state));
      std::string name;
      if (!std::getline(file, name))
        break;
      if (state >= names.size())
        names.push_back(n == 0 ? name : "");
      else if (names[state] != name)
        names[state].clear();
    }
  return names;
}

std::vector<DeviceName> named_devices(std::span<const uint32_t> numbers) {
  std::vector<DeviceName> devices;
  std::ifstream stats("/proc/diskstats");
  if (!stats && is_machine_failure(errno))
    print("warning: the trace has no names of devices: cannot read /proc/diskstats: {}",
          std::strerror(errno));
  uint32_t major, minor;
  for (std::string name; stats >> major >> minor >> name;
       stats.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    const uint32_t number = major << FTRACE_DEVICE_MAJOR_SHIFT | minor;
    if (number && std::find(numbers.begin(), numbers.end(), number) != numbers.end())
      devices.push_back({number, name});
  }
  return devices;
}

} // namespace ovnitrace
