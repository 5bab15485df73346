// SPDX-License-Identifier: BSD-2-Clause
// Finds cgroups by path or by name, in hierarchies of both versions.
#pragma once

#include <ovnitrace/selection.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

/// A mounted hierarchy of cgroups, as /proc/PID/mountinfo has it (proc_pid_mountinfo(5)).
struct CgroupTree {
  int version = 0;
  std::string root;    ///< which of its cgroups is mounted
  std::string place;   ///< directory
  std::string options; ///< with its controllers, in version 1
};
std::vector<CgroupTree> cgroup_trees(const std::string &mounts);

/// A line of /proc/PID/cgroup: where a process is in a hierarchy.
struct CgroupPlace {
  uint32_t hierarchy = 0;
  std::string controllers; ///< or name=…; empty: version 2
  std::string path;
};
std::vector<CgroupPlace> cgroup_places(const std::string &cgroups);

/// Returns whether a word is in a list with commas.
bool has_word(const std::string &list, const std::string &word);

/// A whole hierarchy of cgroups as it is mounted.
struct CgroupMount {
  std::string place;      ///< directory
  uint32_t hierarchy = 0; ///< as in /proc/self/cgroup; 0: version 2
};

/// Returns what is mounted, version 2 first. `mounts` and `cgroups`: /proc/self/mountinfo and
/// /proc/self/cgroup. A hierarchy of which only a part is mounted is left out.
std::vector<CgroupMount> cgroup_mounts(const std::string &mounts = "/proc/self/mountinfo",
                                       const std::string &cgroups = "/proc/self/cgroup");

/// Returns the number of the hierarchy of version 1 in which managers of units and containers put
/// threads; 0 if there is no such hierarchy. That is systemd's own, or else that of the controller
/// `cpu`. `cgroups`: /proc/self/cgroup.
uint32_t old_hierarchy(const std::string &cgroups = "/proc/self/cgroup");

/// Returns whether this process is in a cgroup namespace of its own.
bool in_cgroup_namespace(const std::string &file = "/proc/self/ns/cgroup");

/// A cgroup that is there.
struct FoundCgroup {
  chosen_cgroup cgroup = {};
  std::string path; ///< below the root of its hierarchy
};

/// What a user chose with one value of an option.
struct CgroupChoice {
  std::string asked; ///< the option with its value, for messages
  /// What it can be called. Such a cgroup is chosen whenever it is made.
  std::vector<cgroup_name> names;
};

/// Returns the choice of `--cgroup PATH`: a directory of a mounted hierarchy, or a path in any
/// hierarchy. Throws Error (kExitUsage) if PATH is too long or empty.
CgroupChoice cgroup_at(const std::string &path, const std::vector<CgroupMount> &mounts);
/// Returns the choice of `--unit NAME`, of systemd. Throws Error (kExitUsage).
CgroupChoice cgroup_of_unit(const std::string &name);

/// Returns a name. `open`: more may follow `text`. Throws Error (kExitUsage) if it is too long.
cgroup_name make_cgroup_name(std::string_view text, bool anywhere, bool open,
                             uint32_t hierarchy = SELECT_ANY_HIERARCHY);

/// Returns the cgroups that have one of the names now, in the first hierarchy that has any.
std::vector<FoundCgroup> find_cgroups(const CgroupChoice &choice,
                                      const std::vector<CgroupMount> &mounts);

} // namespace ovnitrace
