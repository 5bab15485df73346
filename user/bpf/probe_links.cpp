// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/probe_links.h"

#include "user/launch/file_limit.h"
#include "user/launch/signals.h"

#include <fmt/core.h>

#include <cstring>

namespace ovnitrace {

std::vector<std::string> ProbeLinks::attach(const std::vector<ProbedFile> &files) {
  size_t needed = files.size();
  for (const ProbedFile &file : files)
    needed += links_.files_needed(file.probes.size());
  raise_file_limit(needed);
  std::vector<std::string> refused;
  size_t first = 0;
  for (const ProbedFile &file : files) {
    end_if_signalled(); // where each probe has a link of its own this takes seconds
    std::vector<UprobeAt> places;
    for (const Probe &probe : file.probes)
      places.push_back({probe.offset, first++});
    const int error = links_.attach(fmt::format("/proc/self/fd/{}", file.fd.get()), places,
                                    UprobeLinks::kAllProcesses);
    if (error)
      refused.push_back(
          fmt::format("the kernel refuses probes in {}: {}; events that it logs are not captured "
                      "(they need Linux 5.15 with CONFIG_UPROBES)",
                      file.path, std::strerror(error)));
    else if (file.not_understood)
      refused.push_back(fmt::format(
          "{} of the probes in {} are unlike those of ovnitrace/usdt.h: their events are "
          "not captured",
          file.not_understood, file.path));
  }
  return refused;
}

} // namespace ovnitrace
