// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/preflight.h"

#include "emulator/base/error.h"
#include "emulator/base/identity.h"
#include "emulator/base/unique_fd.h"
#include "user/bpf/kernel_types.h"

#include <bpf/bpf.h>
#include <fmt/core.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace ovnitrace {

namespace {

constexpr int kCapPerfmon = 38, kCapBpf = 39; // include/uapi/linux/capability.h, 5.8

bool may_load_programs() {
  return has_capability(CAP_SYS_ADMIN) || (has_capability(kCapBpf) && has_capability(kCapPerfmon));
}

/// Returns whether the kernel has sleepable BPF programs for uprobes.
bool has_sleepable_uprobes(const KernelTypes &) {
  bpf_insn nothing[2] = {};
  nothing[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
  nothing[1].code = BPF_JMP | BPF_EXIT;
  bpf_prog_load_opts options = {};
  options.sz = sizeof(options);
  options.prog_flags = BPF_F_SLEEPABLE;
  const UniqueFd program(
      bpf_prog_load(BPF_PROG_TYPE_KPROBE, "probe", "GPL", nothing, std::size(nothing), &options));
  return bool(program);
}

/// Lists what a kernel must have, by KernelPart. The functions ask the kernel itself; the version
/// is only for the message.
struct Need {
  const char *part, *need, *since;
  bool (*is_there)(const KernelTypes &);
};
constexpr Need kNeeds[] = {
    {"recording", "the BPF helper bpf_task_pt_regs", "5.15",
     [](const KernelTypes &types) { return types.has_helper("task_pt_regs"); }},
    {"pcontrol in --control", "uprobes whose program may sleep", "6.0", has_sleepable_uprobes},
    {"--trigger idle-while-waiting", "the BPF helper bpf_loop", "5.17",
     [](const KernelTypes &types) { return types.has_helper("loop"); }},
};

} // namespace

void check_can_capture() {
  if (!may_load_programs())
    throw Error("capturing needs root, or the capabilities CAP_BPF and CAP_PERFMON: run it with "
                "sudo, or once `sudo setcap cap_bpf,cap_perfmon+ep` on the ovnitrace binary. "
                "Converting a trace (ovnitrace convert) needs neither");
  if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
    throw Error(
        "cannot read /sys/kernel/btf/vmlinux: {}. The kernel must be built with "
        "CONFIG_DEBUG_INFO_BTF=y (the kernels of Debian 11, Ubuntu 20.10, RHEL 8 and later are)",
        std::strerror(errno));
  if (!has_machine_clock())
    throw Error("this time namespace has a CLOCK_MONOTONIC of its own, and the kernel's events "
                "have the machine's: run ovnitrace outside of it");
}

bool has_machine_clock(const std::string &offsets) {
  std::ifstream file(offsets); // a line is: monotonic SECONDS NANOSECONDS
  std::string clock;
  int64_t seconds = 0, ns = 0;
  file >> clock >> seconds >> ns;
  return seconds == 0 && ns == 0;
}

bool in_initial_pid_namespace() {
  constexpr ino_t kInitial = 0xEFFFFFFC; // PROC_PID_INIT_INO, include/linux/proc_ns.h
  struct stat own;
  return stat("/proc/self/ns/pid", &own) == 0 && own.st_ino == kInitial;
}

void require_kernel_pids(const char *option) {
  if (!in_initial_pid_namespace())
    throw Error("{} works only where processes have the machine's pids: start the container with "
                "--pid=host, or run ovnitrace outside it",
                option);
}

void require_kernel(KernelPart part, const KernelTypes &types) {
  const Need &need = kNeeds[size_t(part)];
  if (need.is_there(types))
    return;
  utsname kernel = {};
  uname(&kernel);
  throw Error("this kernel ({}) is too old for {}: it lacks {}, which Linux {} and later have. "
              "docs/capture.md lists the kernels that were tested",
              kernel.release, need.part, need.need, need.since);
}

std::string verifier_verdict(std::string_view log) {
  const size_t end = log.rfind("\nprocessed ");
  if (end == log.npos)
    return {};
  const std::string_view before = log.substr(0, end);
  const std::string_view last = before.substr(before.rfind('\n') + 1); // npos + 1 is 0
  // libbpf's own line, or that of a function: the verifier has accepted the program, and loading
  // failed after that.
  const bool accepted = last.ends_with("-- BEGIN PROG LOAD LOG --") ||
                        last.ends_with(" is safe for any args that match its prototype");
  return accepted ? "" : std::string(last);
}

std::string explain_bpf_failure(const std::string &what, int error, const std::string &log) {
  const char *advice = "";
  if (const std::string verdict = verifier_verdict(log); !verdict.empty()) {
    utsname kernel = {};
    uname(&kernel);
    return fmt::format("cannot {}: the verifier of this kernel ({}) refuses a program that others "
                       "take: {}. Please report this, with what follows; docs/capture.md lists the "
                       "kernels that were tested\nthe kernel and libbpf say:\n{}",
                       what, kernel.release, verdict, log);
  }
  switch (error) {
  case EPERM:
  case EACCES:
    advice =
        "; it needs root, or CAP_BPF and CAP_PERFMON (a container must be given them, and kernel "
        "lockdown must not be in confidentiality mode)";
    break;
  case ENOMEM:
    advice = "; try smaller rings (--ring-size)";
    break;
  case EMFILE:
    advice =
        "; raise the limit of open files (ulimit -n): a capture needs about 64, two for each CPU, "
        "and two for each file with probes";
    break;
  case EINVAL:
  case ENOSYS:
  case ESRCH:
  case ENOENT:
  case EOPNOTSUPP:
    advice = "; the kernel must be 5.15 or later, with CONFIG_BPF_SYSCALL, CONFIG_BPF_JIT and "
             "CONFIG_DEBUG_INFO_BTF";
    break;
  }
  std::string message = fmt::format("cannot {}: {}{}", what, std::strerror(error), advice);
  if (!log.empty())
    message += "\nthe kernel and libbpf say:\n" + log;
  return message;
}

} // namespace ovnitrace
