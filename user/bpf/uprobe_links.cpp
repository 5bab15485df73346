// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/uprobe_links.h"

#include "user/bpf/preflight.h"

#include <bpf/libbpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace ovnitrace {

namespace {

// include/uapi/linux/bpf.h of Linux 6.6, 89ae89f53d20 "bpf: Add multi uprobe link", which neither
// Debian 12's headers nor its libbpf know.
constexpr int kTraceUprobeMulti = 48;
constexpr uint32_t kReturns = 1; // BPF_F_UPROBE_MULTI_RETURN
struct LinkUprobeMulti {
  uint32_t program, target;
  uint32_t attach_type, flags;
  uint64_t path, offsets, ref_ctr_offsets, cookies;
  uint32_t count, multi_flags, pid, pad;
};

} // namespace

void UprobeLinks::prepare(bpf_program *program, bool returns) {
  program_ = program;
  returns_ = returns;
  at_once_ = KernelTypes().has_function("bpf_uprobe_multi_link_attach");
  if (at_once_)
    bpf_program__set_expected_attach_type(program, bpf_attach_type(kTraceUprobeMulti));
}

size_t UprobeLinks::files_needed(size_t places) const {
  constexpr size_t kFilesOfAProbe = 2; // event and link
  return at_once_ ? 1 : places * kFilesOfAProbe;
}

/// To be preferred: taking it away costs one wait for the whole machine, and not one a probe.
int UprobeLinks::attach_all(const std::string &path, std::span<const UprobeAt> places) {
  std::vector<uint64_t> offsets, cookies;
  for (const UprobeAt &place : places) {
    offsets.push_back(place.offset);
    cookies.push_back(place.cookie);
  }
  LinkUprobeMulti link = {};
  link.program = uint32_t(bpf_program__fd(program_));
  link.attach_type = kTraceUprobeMulti;
  link.path = uint64_t(path.c_str());
  link.offsets = uint64_t(offsets.data());
  link.cookies = uint64_t(cookies.data());
  link.count = uint32_t(offsets.size());
  link.multi_flags = returns_ ? kReturns : 0;
  const long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof(link));
  if (fd < 0)
    return errno;
  fds_.push_back(int(fd));
  return 0;
}

int UprobeLinks::attach_each(const std::string &path, std::span<const UprobeAt> places) {
  for (const UprobeAt &place : places) {
    bpf_uprobe_opts options = {};
    options.sz = sizeof(options);
    options.bpf_cookie = place.cookie;
    options.retprobe = returns_;
    bpf_link *link =
        bpf_program__attach_uprobe_opts(program_, -1, path.c_str(), place.offset, &options);
    if (!link)
      return errno;
    links_.push_back(link);
  }
  return 0;
}

int UprobeLinks::attach(const std::string &path, std::span<const UprobeAt> places) {
  if (places.empty())
    return 0;
  return at_once_ ? attach_all(path, places) : attach_each(path, places);
}

void UprobeLinks::detach() {
  for (int fd : fds_)
    close(fd);
  for (bpf_link *link : links_)
    bpf_link__destroy(link);
  fds_.clear();
  links_.clear();
}

} // namespace ovnitrace
