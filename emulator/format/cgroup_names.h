// SPDX-License-Identifier: BSD-2-Clause
// Knows what systemd and the managers of containers call cgroups: units, containers and pods.
#pragma once

#include <string>
#include <string_view>

namespace ovnitrace {

/// What the cgroup of a container is called before the id of the container; ".scope" may follow.
/// Below the cgroup of podman there is `container`. With the driver cgroupfs there is only the id.
struct ContainerPrefix {
  std::string_view prefix;
  std::string_view manager;
};
inline constexpr ContainerPrefix kContainerPrefixes[] = {{"docker-", "docker"},
                                                         {"libpod-", "podman"},
                                                         {"cri-containerd-", "containerd"},
                                                         {"nerdctl-", "nerdctl"},
                                                         {"crio-", "cri-o"}};

/// What the cgroup of a machine of systemd-nspawn or libvirt is called around its name.
struct MachineAffixes {
  std::string_view prefix, suffix;
};
inline constexpr MachineAffixes kMachineAffixes[] = {{"machine-", ".scope"},
                                                     {"systemd-nspawn@", ".service"}};

/// What the names of units of systemd end with. A slice contains other units.
inline constexpr std::string_view kUnitTypes[] = {".service", ".scope", ".socket",
                                                  ".mount",   ".swap",  ".slice"};
inline constexpr std::string_view kSliceType = ".slice";

/// Stands for the cgroup of each thread of the kernel. The path of a cgroup starts with '/' or '…'.
inline constexpr std::string_view kKernelGroup = "kernel";

/// Returns whether a name is that of a unit.
bool is_unit(std::string_view name);

/// A cgroup. Texts are printable. What does not exist is empty.
struct Cgroup {
  std::string path;      ///< below the root of its hierarchy
  std::string unit;      ///< the innermost unit that it is in; a slice only if there is no other
  std::string container; ///< the outermost container: "docker 0123456789ab", a machine's name
  std::string pod;       ///< of Kubernetes: its uid

  /// Returns the group of its threads in outputs: its container, or else its unit, or else its
  /// path.
  const std::string &group() const {
    return !container.empty() ? container : !unit.empty() ? unit : path;
  }
};

/// Returns what the path of a cgroup says.
Cgroup describe_cgroup(const std::string &path);

} // namespace ovnitrace
