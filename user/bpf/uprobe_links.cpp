// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/uprobe_links.h"

#include "user/bpf/kernel_types.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

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

int create_link(LinkUprobeMulti &link) {
  link.attach_type = kTraceUprobeMulti;
  return int(syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof(link)));
}

/// Returns whether a link for one process covers all of its threads. It does since 46ba0e49b642
/// "bpf: fix multi-uprobe PID filtering logic" (6.10, and stable 6.6.33). That commit also refuses
/// a pid below 0 before it looks at the file.
bool filters_by_process() {
  if (!KernelTypes().has_function("bpf_uprobe_multi_link_attach"))
    return false;
  const bpf_insn nothing[] = {
      {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0},
      {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
  bpf_prog_load_opts options = {};
  options.sz = sizeof(options);
  options.expected_attach_type = bpf_attach_type(kTraceUprobeMulti);
  const UniqueFd program(
      bpf_prog_load(BPF_PROG_TYPE_KPROBE, nullptr, "GPL", nothing, std::size(nothing), &options));
  const uint64_t offset = 0;
  LinkUprobeMulti link = {};
  link.program = uint32_t(program.get());
  link.path = uint64_t("/"); // no file that can be probed
  link.offsets = uint64_t(&offset);
  link.count = 1;
  link.pid = uint32_t(-1);
  return program && create_link(link) < 0 && errno == EINVAL;
}

} // namespace

void DestroyLink::operator()(bpf_link *link) const {
  bpf_link__destroy(link);
}

void UprobeLinks::prepare(bpf_program *program) {
  static const bool at_once = filters_by_process();
  program_ = program;
  at_once_ = at_once;
  if (at_once_)
    bpf_program__set_expected_attach_type(program, bpf_attach_type(kTraceUprobeMulti));
}

size_t UprobeLinks::files_needed(size_t places) const {
  constexpr size_t kFilesOfAProbe = 2; // event and link
  return at_once_ ? 1 : places * kFilesOfAProbe;
}

/// Attaches all places with one link, if the kernel can: detaching then waits once for the whole
/// machine, and not once for each probe.
int UprobeLinks::attach_all(const std::string &path, std::span<const UprobeAt> places,
                            uint32_t process) {
  std::vector<uint64_t> offsets, cookies;
  for (const UprobeAt &place : places) {
    offsets.push_back(place.offset);
    cookies.push_back(place.cookie);
  }
  LinkUprobeMulti link = {};
  link.program = uint32_t(bpf_program__fd(program_));
  link.path = uint64_t(path.c_str());
  link.offsets = uint64_t(offsets.data());
  link.cookies = uint64_t(cookies.data());
  link.count = uint32_t(offsets.size());
  link.pid = process; // 0: all
  const int fd = create_link(link);
  if (fd < 0)
    return errno;
  holds_[process].fds.emplace_back(fd);
  return 0;
}

int UprobeLinks::attach_each(const std::string &path, std::span<const UprobeAt> places,
                             uint32_t process) {
  for (const UprobeAt &place : places) {
    bpf_uprobe_opts options = {};
    options.sz = sizeof(options);
    options.bpf_cookie = place.cookie;
    const pid_t pid = process == kAllProcesses ? -1 : pid_t(process);
    bpf_link *link =
        bpf_program__attach_uprobe_opts(program_, pid, path.c_str(), place.offset, &options);
    if (!link)
      return errno;
    holds_[process].links.emplace_back(link);
  }
  return 0;
}

int UprobeLinks::attach(const std::string &path, std::span<const UprobeAt> places,
                        uint32_t process) {
  if (places.empty())
    return 0;
  return at_once_ ? attach_all(path, places, process) : attach_each(path, places, process);
}

UprobeHold UprobeLinks::take(uint32_t process) {
  const auto found = holds_.find(process);
  if (found == holds_.end())
    return {};
  UprobeHold hold = std::move(found->second);
  holds_.erase(found);
  return hold;
}

std::vector<UprobeHold> UprobeLinks::take_all() {
  std::vector<UprobeHold> all;
  for (auto &[process, hold] : holds_)
    all.push_back(std::move(hold));
  holds_.clear();
  return all;
}

} // namespace ovnitrace
