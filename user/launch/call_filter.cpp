// SPDX-License-Identifier: BSD-2-Clause
#include "user/launch/call_filter.h"

#include "emulator/base/error.h"
#include "emulator/base/messages.h"

#include <linux/bpf.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>

namespace ovnitrace {

namespace {

/// Calls that do harm in the hands of an attacker, and that no session needs after it has attached.
constexpr int kUnneededCalls[] = {
    // start programs
    SCMP_SYS(execve), SCMP_SYS(execveat),
    // reach into other processes
    SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(process_madvise),
    SCMP_SYS(pidfd_getfd), SCMP_SYS(kcmp),
#ifndef __SANITIZE_ADDRESS__ // GCC looks for leaks with this call
    SCMP_SYS(ptrace),
#endif
    // change namespaces and mounts, and open files past them
    SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(chroot), SCMP_SYS(pivot_root), SCMP_SYS(mount),
    SCMP_SYS(umount2), SCMP_SYS(fsopen), SCMP_SYS(fspick), SCMP_SYS(fsconfig), SCMP_SYS(fsmount),
    SCMP_SYS(open_tree), SCMP_SYS(move_mount), SCMP_SYS(mount_setattr), SCMP_SYS(open_by_handle_at),
    // change the kernel and the machine
    SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load), SCMP_SYS(reboot), SCMP_SYS(swapon), SCMP_SYS(swapoff),
    SCMP_SYS(acct), SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(adjtimex),
    SCMP_SYS(clock_adjtime), SCMP_SYS(sethostname), SCMP_SYS(setdomainname), SCMP_SYS(syslog),
    SCMP_SYS(quotactl),
#if defined(__x86_64__)
    SCMP_SYS(ioperm), SCMP_SYS(iopl), SCMP_SYS(modify_ldt),
#endif
    // parts of the kernel that had many weaknesses
    SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(keyctl), SCMP_SYS(userfaultfd),
    SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register),
    SCMP_SYS(fanotify_init), SCMP_SYS(vmsplice)};

/// A filter that allows all calls but those that are denied.
class CallFilter {
public:
  CallFilter() : filter_(seccomp_init(SCMP_ACT_ALLOW)) {
    if (!filter_)
      throw Error("seccomp: {}", std::strerror(ENOMEM));
    set(SCMP_FLTATR_API_SYSRAWRC, 1); // errors of load() are those of the kernel
    // Before Linux 5.16 a filter would otherwise slow the process down, by mitigations that no
    // program had asked for.
    set(SCMP_FLTATR_CTL_SSB, 1);
  }
  ~CallFilter() { seccomp_release(filter_); }
  CallFilter(const CallFilter &) = delete;
  CallFilter &operator=(const CallFilter &) = delete;

  void set(scmp_filter_attr attribute, uint32_t value) {
    check(seccomp_attr_set(filter_, attribute, value));
  }
  void add_architecture(uint32_t architecture) { check(seccomp_arch_add(filter_, architecture)); }
  void deny(int call, std::initializer_list<scmp_arg_cmp> arguments = {}, int error = EPERM) {
    check(seccomp_rule_add_array(filter_, SCMP_ACT_ERRNO(uint32_t(error)), call,
                                 unsigned(arguments.size()), arguments.begin()));
  }
  void load() { check(seccomp_load(filter_)); }

private:
  static void check(int result) {
    if (result != 0) // above 0: a thread that has another filter
      throw Error("seccomp: {}", std::strerror(result < 0 ? -result : EINVAL));
  }

  const scmp_filter_ctx filter_;
};

} // namespace

void protect_terminal() try {
  CallFilter filter;
  filter.set(SCMP_FLTATR_CTL_NNP, 0);
  filter.set(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ALLOW);
#if defined(__x86_64__)
  filter.add_architecture(SCMP_ARCH_X86);
  filter.add_architecture(SCMP_ARCH_X32);
#elif defined(__aarch64__)
  filter.add_architecture(SCMP_ARCH_ARM);
#endif
  for (const uint64_t request : {TIOCSTI, TIOCLINUX}) // the kernel looks at 32 bits only
    filter.deny(SCMP_SYS(ioctl), {{1, SCMP_CMP_MASKED_EQ, UINT32_MAX, request}});
  filter.load();
} catch (const Error &error) {
  throw Error("cannot keep the program from typing into this terminal: {}", error.what());
}

void deny_unneeded_calls(bool keeps_attaching) try {
  CallFilter filter;
  filter.set(SCMP_FLTATR_CTL_TSYNC, 1); // all threads
  filter.set(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
  for (const int call : kUnneededCalls)
    filter.deny(call);
  // A user namespace would have all capabilities. The flags of clone3() are in memory, where a
  // filter cannot look. The C library then uses clone().
  filter.deny(SCMP_SYS(clone), {{0, SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER}});
  filter.deny(SCMP_SYS(clone3), {}, ENOSYS);
  if (!keeps_attaching) {
    filter.deny(SCMP_SYS(perf_event_open));
    filter.deny(SCMP_SYS(bpf), {{0, SCMP_CMP_NE, BPF_OBJ_GET_INFO_BY_FD, 0}});
  }
  filter.load();
} catch (const Error &error) {
  log_debug("no system call is denied: {}", error.what());
}

} // namespace ovnitrace
