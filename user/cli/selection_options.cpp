// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/selection_options.h"

#include "emulator/base/comma_list.h"
#include "emulator/base/error.h"
#include "emulator/cli/shared_options.h"
#include "user/cli/number_option.h"
#include "user/select/containers.h"
#include "user/select/name_glob.h"

#include <ovnitrace/capture.h>
#include <pwd.h>
#include <unistd.h>

#include <functional>

namespace ovnitrace {

namespace {

constexpr uint32_t kNoUser = UINT32_MAX; ///< (uid_t)-1, which nobody has

void require_room(const std::string &option, size_t count, size_t most) {
  if (count > most)
    throw UsageError("{}: {} values are more than {}, the limit", option, count, most);
}

uint32_t uid_of(const std::string &user) {
  if (const passwd *found = getpwnam(user.c_str()))
    return found->pw_uid;
  if (user.empty() || user.find_first_not_of("0123456789") != user.npos)
    throw Error("--uid {}: there is no such user", user);
  return uint32_t(parse_number("--uid", user, 0, kNoUser - 1));
}

/// Adds an option that can be given more than once.
void add(App app, const std::string &names, const std::string &type, const std::string &what,
         Selection &selection, std::function<void(const std::string &)> take) {
  app.add_option_function<std::vector<std::string>>(
         names,
         [&selection, names, take = std::move(take)](const std::vector<std::string> &values) {
           for (const std::string &value : values) {
             take(value);
             selection.asked.push_back(long_name(names) + " " + value);
           }
         },
         what)
      .type_name(type)
      .allow_extra_args(false);
}

void add_names(App app, const std::string &names, const std::string &what, Selection &selection,
               std::vector<std::string> &patterns) {
  add(app, names, "GLOB", what, selection, [&, option = long_name(names)](const std::string &list) {
    for (const std::string &pattern : comma_list(list)) {
      make_name_glob(option, pattern);
      patterns.push_back(pattern);
    }
    require_room(option, selection.comms.size() + selection.refused_comms.size(), SELECT_GLOBS);
  });
}

void add_cpus(App app, const std::string &names, const std::string &what, Selection &selection,
              std::vector<uint32_t> &cpus) {
  add(app, names, "LIST", what, selection, [&cpus, option = long_name(names)](auto &list) {
    const long count = sysconf(_SC_NPROCESSORS_CONF);
    for (const uint32_t cpu : parse_cpus(option, list, uint32_t(count)))
      cpus.push_back(cpu);
  });
}

void add_cgroup(App app, const std::string &names, const std::string &type, const std::string &what,
                Selection &selection, CgroupChoice (*choose)(const std::string &)) {
  add(app, names, type, what, selection,
      [&selection, choose, option = long_name(names)](const std::string &value) {
        selection.cgroups.push_back(choose(value));
        size_t count = 0;
        for (const CgroupChoice &choice : selection.cgroups)
          count += choice.names.size();
        require_room(option, count, SELECT_CGROUP_NAMES);
      });
}

} // namespace

std::vector<uint32_t> parse_cpus(const std::string &option, const std::string &list,
                                 uint32_t cpus) {
  std::vector<uint32_t> found;
  for (const std::string &word : comma_list(list)) {
    const auto [begin, end] = range_ends(word);
    const auto number = [&](const std::string &text) {
      const uint64_t cpu = parse_number(option, text, 0, SELECT_CPUS - 1);
      if (cpu >= cpus)
        throw Error("{} {}: this machine has no CPU {}; the last is {}", option, list, cpu,
                    cpus - 1);
      return uint32_t(cpu);
    };
    const uint32_t first = number(begin), last = number(end);
    if (last < first)
      throw UsageError("{} {}: write the smaller number first", option, word);
    for (uint32_t cpu = first; cpu <= last; cpu++)
      found.push_back(cpu);
  }
  return found;
}

void add_selection_options(App app, Selection &selection) {
  const OptionGroup group(app, "Filters: record only some threads (docs/filters.md)");
  add(app, kTid, "TID", "Only these threads, such as 12,34; not the threads that they create",
      selection, [&selection](const std::string &list) {
        for (const std::string &tid : comma_list(list))
          selection.tids.push_back(uint32_t(parse_number("--tid", tid, 1, FTRACE_TID_MASK)));
        require_room("--tid", selection.tids.size(), CAPTURE_TARGETS);
      });
  add_cgroup(app, "-G,--cgroup", "PATH",
             "Only threads in this cgroup, or in a cgroup inside it. PATH is a directory of "
             "/sys/fs/cgroup, or a path below the root of a hierarchy, as in /proc/PID/cgroup",
             selection, [](const std::string &path) { return cgroup_at(path, cgroup_mounts()); });
  add_cgroup(app, "--unit", "NAME", "Only threads of this unit of systemd, such as nginx.service",
             selection, cgroup_of_unit);
  add_cgroup(app, "--container", "NAME|ID",
             "Only threads of this container of docker, podman, containerd or systemd-nspawn",
             selection, [](const std::string &name) { return cgroup_of_container(name); });
  add_names(app, kComm, "Only threads while their name matches GLOB; * and ? as in a shell",
            selection, selection.comms);
  add_names(app, "--no-comm", "Only threads while their name does not match GLOB", selection,
            selection.refused_comms);
  add(app, "--uid", "USER", "Only threads whose real user ID is one of these: names or numbers",
      selection, [&selection](const std::string &list) {
        for (const std::string &user : comma_list(list))
          selection.uids.push_back(uid_of(user));
        require_room("--uid", selection.uids.size(), SELECT_NUMBERS);
      });
  add_cpus(app, kCpu, "Only what happens on these CPUs, such as 0-3,8", selection, selection.cpus);
  add_cpus(app, "--no-cpu", "Nothing that happens on these CPUs", selection,
           selection.refused_cpus);
  app.add_flag(
      "--no-kthreads",
      [&selection](int64_t) {
        selection.no_kernel_threads = true;
        selection.asked.push_back("--no-kthreads");
      },
      "No kernel threads");
}

} // namespace ovnitrace
