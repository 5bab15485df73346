// SPDX-License-Identifier: BSD-2-Clause
// Finds containers without asking their managers, by the names that these give to cgroups.
#pragma once

#include "user/select/cgroup_tree.h"

#include <string>

namespace ovnitrace {

/// Returns the choice of `--container NAME|ID`: the start of an id of docker, podman, containerd or
/// CRI-O, or the name of a machine of systemd-nspawn. A name of docker or podman is looked up in
/// their files below `var_lib`. Throws Error (kExitUsage).
CgroupChoice cgroup_of_container(const std::string &name, const std::string &var_lib = "/var/lib");

} // namespace ovnitrace
