// SPDX-License-Identifier: BSD-2-Clause
// What is recorded of this machine, and what its processes map: compared with other ways to ask.
#include "user/record/host.h"
#include "user/stacks/mapping_events.h"
#include "user/stacks/mappings.h"

#include <ovnitrace/ftrace_codes.h>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace ovnitrace {
namespace {

TEST(Host, IsThisOneWithItsCpus) {
  utsname names;
  ASSERT_EQ(uname(&names), 0);
  const auto cpus = uint32_t(sysconf(_SC_NPROCESSORS_CONF));
  const Host host = describe_host(cpus + 1);
  EXPECT_EQ(host.name, names.nodename);
  EXPECT_EQ(host.kernel, names.release);
  EXPECT_EQ(host.machine, names.machine);
  EXPECT_EQ(host.boot_id.size(), 36u) << "a UUID";
  EXPECT_FALSE(cpu_is_online(cpus));
  for (const CpuTopology &cpu : host.cpus) {
    EXPECT_LT(cpu.cpu, cpus);
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu.cpu);
    int core = -2, package = -2;
    std::ifstream(folder + "/topology/core_id") >> core;
    std::ifstream(folder + "/topology/physical_package_id") >> package;
    EXPECT_EQ(cpu.core, core);
    EXPECT_EQ(cpu.package, package);
    EXPECT_TRUE(cpu.node < 0 ||
                std::filesystem::exists(folder + "/node" + std::to_string(cpu.node)));
  }
  if (cpu_is_online(0)) {
    ASSERT_FALSE(host.cpus.empty());
    EXPECT_EQ(host.cpus[0].cpu, 0u);
  }
  EXPECT_TRUE(describe_host(0).cpus.empty());
}

TEST(Host, HasTheNamesOfItsIdleStates) {
  const Host host = describe_host(uint32_t(sysconf(_SC_NPROCESSORS_CONF)));
  std::vector<std::string> names;
  const std::string states = "/sys/devices/system/cpu/cpu0/cpuidle/state";
  for (std::string name;
       std::getline(std::ifstream(states + std::to_string(names.size()) + "/name"), name);)
    names.push_back(name);
  EXPECT_EQ(idle_state_names(host), names) << "all CPUs of a test machine have the same states";
}

/// What describe_host says where sysfs has other CPUs. Only this thread sees those. `later`: the
/// same when CPU 1 has come online.
void describe_other_machine(Host &host, Host &later, std::vector<std::string> &idle_states) {
  const char *const cpus = "/sys/devices/system/cpu";
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("tmpfs", cpus, "tmpfs", 0, nullptr) != 0)
    return;
  const std::filesystem::path root = cpus;
  const auto write = [&](const std::string &path, const std::string &text) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << "\n";
  };
  write("cpu0/topology/physical_package_id", "0");
  write("cpu0/topology/core_id", "1");
  write("cpu0/node10/is_a_link", "");
  write("cpu0/cpuidle/state0/name", "POLL");
  write("cpu0/cpuidle/state1/name", "C1");
  write("cpu1/online", "0");
  write("cpu2/topology/physical_package_id", "3");
  write("cpu2/topology/core_id", "12");
  write("cpu2/node/is_no_link", "");
  write("cpu2/nodes/is_no_link", "");
  write("cpu2/cpuidle/state0/name", "POLL");
  write("cpu2/cpuidle/state1/name", "C6");
  write("cpu2/cpuidle/state2/name", "C8");
  write("cpu3/topology/core_id", "12");
  host = describe_host(3);
  idle_states = idle_state_names(host);
  write("cpu1/topology/physical_package_id", "0");
  write("cpu1/topology/core_id", "7");
  later = host;
  const uint64_t records[] = {5, 1, 5, 0};
  add_later_cpus(later, records);
}

TEST(Host, HasThePackagesCoresAndNodesOfItsCpus) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can mount";
  Host host, later;
  std::vector<std::string> idle_states;
  std::thread([&] { describe_other_machine(host, later, idle_states); }).join();
  ASSERT_EQ(host.cpus.size(), 2u);
  const CpuTopology &first = host.cpus[0], &second = host.cpus[1];
  EXPECT_EQ(std::tuple(first.cpu, first.package, first.core, first.node), std::tuple(0u, 0, 1, 10));
  EXPECT_EQ(std::tuple(second.cpu, second.package, second.core, second.node),
            std::tuple(2u, 3, 12, -1));
  EXPECT_EQ(idle_states, (std::vector<std::string>{"POLL", "", ""})) << "names of all CPUs";
  ASSERT_EQ(later.cpus.size(), 3u);
  const CpuTopology &second_now = later.cpus[1];
  EXPECT_EQ(std::tuple(second_now.cpu, second_now.package, second_now.core), std::tuple(1u, 0, 7));
  EXPECT_EQ(later.cpus[2].cpu, 2u);
}

TEST(Host, NamesTheDevicesThatAreAskedFor) {
  std::ifstream stats("/proc/diskstats");
  uint32_t major = 0, minor = 0;
  std::string name;
  if (!(stats >> major >> minor >> name))
    GTEST_SKIP() << "this machine has no block device";
  const uint32_t number = major << FTRACE_DEVICE_MAJOR_SHIFT | minor, none = UINT32_MAX;
  const uint32_t asked[] = {none, number, 0};
  const std::vector<DeviceName> found = named_devices(asked);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].number, number);
  EXPECT_EQ(found[0].name, name);
  EXPECT_TRUE(named_devices({}).empty());
}

TEST(LivingMappings, AreReadFromTheProcess) {
  Mappings mappings;
  read_mappings(uint32_t(getpid()), mappings);
  const uint32_t life = mappings.life(uint32_t(getpid()), 1);
  const auto address = reinterpret_cast<uint64_t>(&_exit); // in the C library, or a stub of ours
  const Mappings::Place place = mappings.find(life, 1, address);
  EXPECT_TRUE(place.known);
  ASSERT_LT(place.file, mappings.files().size());
  const CodeFile &file = mappings.files()[place.file];
  struct stat status;
  ASSERT_EQ(stat(file.path.c_str(), &status), 0) << file.path;
  EXPECT_EQ(file.inode, status.st_ino);
  EXPECT_EQ(mappings.first_uses()[place.file].pid, uint32_t(getpid()));
  EXPECT_FALSE(mappings.find(life, 1, reinterpret_cast<uint64_t>(&mappings)).known)
      << "the stack is no code";
  std::vector<std::string> paths;
  for (const CodeFile &one : mappings.files())
    paths.push_back(one.path);
  EXPECT_NE(std::find(paths.begin(), paths.end(), std::filesystem::read_symlink("/proc/self/exe")),
            paths.end());
  for (const std::string &path : paths)
    EXPECT_TRUE(path == "[vdso]" || (path.starts_with('/') && !path.ends_with('\n'))) << path;
}

TEST(LivingMappings, AnEndedProcessHasNone) {
  Mappings mappings;
  read_mappings(UINT32_MAX, mappings);
  EXPECT_TRUE(mappings.files().empty());
}

} // namespace
} // namespace ovnitrace
