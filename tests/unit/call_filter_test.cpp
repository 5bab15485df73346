// SPDX-License-Identifier: BSD-2-Clause
// System calls that ovnitrace denies to itself: user/launch/call_filter.
#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "tests/unit/support/child_status.h"
#include "user/launch/call_filter.h"

#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <string>
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

/// Denies seccomp(2), so that no filter can follow.
void deny_filters() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {std::size(code), code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

TEST_F(DeniedCalls, GoesOnWhereThereMayBeNoFilterAndSaysSoIfAsked) {
  const auto look = [](bool debug) {
    deny_filters();
    set_debug_log(debug);
    deny_unneeded_calls(false);
    _exit(error_of_call(SYS_execve) == EFAULT ? 0 : 1);
  };
  EXPECT_EXIT(look(false), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(look(true), testing::ExitedWithCode(0), "debug: no system call is denied: seccomp: ");
}

/// The error of a command of bpf(2) without its arguments.
int error_of_bpf(long command) {
  errno = 0;
  syscall(SYS_bpf, command, nullptr, 0);
  return errno;
}

TEST_F(DeniedCalls, LeavesOneCommandOfBpf) {
  const auto look = [](bool keeps_attaching) {
    const int info = error_of_bpf(BPF_OBJ_GET_INFO_BY_FD), create = error_of_bpf(BPF_MAP_CREATE);
    deny_unneeded_calls(keeps_attaching);
    const int expected = keeps_attaching ? create : EPERM;
    _exit(error_of_bpf(BPF_OBJ_GET_INFO_BY_FD) == info && error_of_bpf(BPF_MAP_CREATE) == expected
              ? 0
              : 1);
  };
  EXPECT_EXIT(look(false), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(look(true), testing::ExitedWithCode(0), "^$");
}

// The C library then uses clone(), at whose flags a filter can look.
TEST_F(DeniedCalls, SaysThatThereIsNoClone3) {
  const auto look = [] {
    deny_unneeded_calls(false);
    if (error_of_call(SYS_clone3) != ENOSYS)
      _exit(1);
    errno = 0;
    if (syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) != -1 || errno != EPERM)
      _exit(2);
    const long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
      _exit(0);
    _exit(child > 0 && waitpid(pid_t(child), nullptr, 0) == child ? 0 : 3);
  };
  EXPECT_EXIT(look(), testing::ExitedWithCode(0), "^$");
}

#if defined(__x86_64__)
/// ioctl(2) as a program of 32 bits calls it. Returns its error.
int error_of_ioctl_32(unsigned request) {
  int result = 54;
  asm volatile("int $0x80" : "+a"(result) : "b"(-1), "c"(request), "d"(0) : "memory");
  return -result;
}

TEST(ProtectedTerminal, IsSafeFromProgramsOf32BitsToo) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root may install the filter";
  const auto look = [] {
    if (error_of_ioctl_32(TIOCSTI) != EBADF)
      _exit(0); // this kernel runs no such programs
    protect_terminal();
    _exit(error_of_ioctl_32(TIOCSTI) == EPERM && error_of_ioctl_32(TIOCLINUX) == EPERM &&
                  error_of_ioctl_32(TIOCGWINSZ) == EBADF
              ? 0
              : 1);
  };
  const pid_t child = fork();
  if (child == 0)
    look();
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << status;
  // And from those of x32, whether the kernel runs them or not.
  const auto look_x32 = [] {
    constexpr long kIoctl = 0x40000000 | 514;
    protect_terminal();
    errno = 0;
    syscall(kIoctl, -1, TIOCSTI, nullptr);
    _exit(errno == EPERM ? 0 : 1);
  };
  EXPECT_EXIT(look_x32(), testing::ExitedWithCode(0), "^$");
}
#endif

TEST(ProtectedTerminal, SaysWhyItCannotBe) {
  EXPECT_EQ(test::status_of([] {
              if (geteuid() == 0 && setuid(65534) != 0)
                return 2;
              try {
                protect_terminal();
              } catch (const Error &error) {
                return std::string(error.what()) ==
                               "cannot keep the program from typing into this terminal: seccomp: "
                               "Permission denied"
                           ? 0
                           : 1;
              }
              return 3;
            }),
            0);
}

} // namespace
} // namespace ovnitrace
