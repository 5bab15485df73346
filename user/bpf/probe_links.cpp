// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/probe_links.h"

#include "user/bpf/preflight.h"
#include "user/launch/file_limit.h"
#include "user/launch/signals.h"

#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ovnitrace {

namespace {

// include/uapi/linux/bpf.h of Linux 6.6, 89ae89f53d20 "bpf: Add multi uprobe link", which neither
// Debian 12's headers nor its libbpf know.
constexpr int kTraceUprobeMulti = 48;
struct LinkUprobeMulti {
  uint32_t program, target;
  uint32_t attach_type, flags;
  uint64_t path, offsets, ref_ctr_offsets, cookies;
  uint32_t count, multi_flags, pid, pad;
};

std::string path_of(const ProbedFile &file) {
  return fmt::format("/proc/self/fd/{}", file.fd.get());
}

} // namespace

void ProbeLinks::prepare(bpf_program *program) {
  program_ = program;
  at_once_ = KernelTypes().has_function("bpf_uprobe_multi_link_attach");
  if (at_once_)
    bpf_program__set_expected_attach_type(program, bpf_attach_type(kTraceUprobeMulti));
}

/// 0 or an errno. To be preferred: taking it away costs one wait for the whole machine, and not one
/// a probe.
int ProbeLinks::attach_all(const ProbedFile &file, size_t first) {
  const std::string path = path_of(file);
  std::vector<uint64_t> offsets, cookies;
  for (const Probe &probe : file.probes) {
    offsets.push_back(probe.offset);
    cookies.push_back(first + cookies.size());
  }
  LinkUprobeMulti link = {};
  link.program = uint32_t(bpf_program__fd(program_));
  link.attach_type = kTraceUprobeMulti;
  link.path = uint64_t(path.c_str());
  link.offsets = uint64_t(offsets.data());
  link.cookies = uint64_t(cookies.data());
  link.count = uint32_t(offsets.size());
  const long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof(link));
  if (fd < 0)
    return errno;
  fds_.push_back(int(fd));
  return 0;
}

int ProbeLinks::attach_each(const ProbedFile &file, size_t first) {
  const std::string path = path_of(file);
  for (const Probe &probe : file.probes) {
    bpf_uprobe_opts options = {};
    options.sz = sizeof(options);
    options.bpf_cookie = first++;
    bpf_link *link =
        bpf_program__attach_uprobe_opts(program_, -1, path.c_str(), probe.offset, &options);
    if (!link)
      return errno;
    links_.push_back(link);
  }
  return 0;
}

std::vector<std::string> ProbeLinks::attach(const std::vector<ProbedFile> &files) {
  constexpr size_t kFilesOfAProbe = 2; // event and link
  size_t needed = files.size();
  for (const ProbedFile &file : files)
    needed += at_once_ ? 0 : file.probes.size() * kFilesOfAProbe;
  raise_file_limit(needed);
  std::vector<std::string> refused;
  size_t first = 0;
  for (const ProbedFile &file : files) {
    end_if_signalled(); // where each probe has a link of its own this takes seconds
    int error = 0;
    if (!file.probes.empty())
      error = at_once_ ? attach_all(file, first) : attach_each(file, first);
    first += file.probes.size();
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

void ProbeLinks::detach() {
  for (int fd : fds_)
    close(fd);
  for (bpf_link *link : links_)
    bpf_link__destroy(link);
  fds_.clear();
  links_.clear();
}

} // namespace ovnitrace
