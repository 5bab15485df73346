// SPDX-License-Identifier: BSD-2-Clause
// System calls that ovnitrace denies to itself: user/launch/call_filter.
#include "user/launch/call_filter.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <thread>

namespace ovnitrace {
namespace {

/// Makes a call whose arguments no kernel takes, so it does nothing without a filter either.
/// Returns its error.
int error_of_call(long call) {
  const long bad = -1;
  errno = 0;
  syscall(call, bad, bad, bad, bad, bad, bad);
  return errno;
}

class DeniedCalls : public testing::Test {
protected:
  void SetUp() override {
    if (prctl(PR_GET_SECCOMP) < 0)
      GTEST_SKIP() << "this kernel has no seccomp";
  }
};

TEST_F(DeniedCalls, DeniesEachCallThatIsNotNeeded) {
  // With all flags set, clone() makes a user namespace. 0x40000000: a call of x32.
  constexpr long kCalls[] = {
    SYS_execve,
    SYS_execveat,
#ifndef __SANITIZE_ADDRESS__
    SYS_ptrace,
#endif
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_process_madvise,
    SYS_pidfd_getfd,
    SYS_kcmp,
    SYS_unshare,
    SYS_setns,
    SYS_chroot,
    SYS_pivot_root,
    SYS_mount,
    SYS_umount2,
    SYS_fsopen,
    SYS_fspick,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_open_tree,
    SYS_move_mount,
    SYS_mount_setattr,
    SYS_open_by_handle_at,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_syslog,
    SYS_quotactl,
#if defined(__x86_64__)
    SYS_ioperm,
    SYS_iopl,
    SYS_modify_ldt,
    0x40000000 | SYS_getpid,
#endif
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_fanotify_init,
    SYS_vmsplice,
    SYS_clone,
    SYS_perf_event_open,
    SYS_bpf
  };
  const auto look = [&] {
    deny_unneeded_calls(false);
    int allowed = 0;
    for (const long call : kCalls)
      if (const int error = error_of_call(call); error != EPERM) {
        fprintf(stderr, "call %ld: error %d\n", call, error);
        allowed++;
      }
    _exit(allowed);
  };
  EXPECT_EXIT(look(), testing::ExitedWithCode(0), "^$");
}

TEST_F(DeniedCalls, AppliesToThreadsThatRunAlready) {
  const auto look = [] {
    std::atomic<bool> denied = false;
    int error = 0;
    std::thread before([&] {
      while (!denied)
        sched_yield();
      error = error_of_call(SYS_execve);
    });
    deny_unneeded_calls(false);
    denied = true;
    before.join();
    _exit(error);
  };
  EXPECT_EXIT(look(), testing::ExitedWithCode(EPERM), "^$");
}

TEST_F(DeniedCalls, AllowsThreadsAndChildrenAndNoNewPrivileges) {
  const auto look = [] {
    deny_unneeded_calls(false);
    std::thread([] {}).join();
    const pid_t child = fork();
    if (child == 0)
      _exit(error_of_call(SYS_execve));
    int status = 0;
    waitpid(child, &status, 0);
    _exit(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? WEXITSTATUS(status) : 0);
  };
  EXPECT_EXIT(look(), testing::ExitedWithCode(EPERM), "^$");
}

TEST_F(DeniedCalls, LetsControlAttachProbes) {
  const auto look = [] {
    const int unfiltered = error_of_call(SYS_perf_event_open); // EPERM in some containers
    deny_unneeded_calls(true);
    _exit(error_of_call(SYS_execve) == EPERM && error_of_call(SYS_perf_event_open) == unfiltered
              ? 0
              : 1);
  };
  EXPECT_EXIT(look(), testing::ExitedWithCode(0), "^$");
}

} // namespace
} // namespace ovnitrace
