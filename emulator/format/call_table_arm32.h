// SPDX-License-Identifier: BSD-2-Clause
// Lists the system calls of 32-bit Arm programs (EABI) by number: one word for each number, "-" for
// an unused one.
#pragma once

#include <string_view>

namespace ovnitrace::call_table {

/// From 0 on.
inline constexpr std::string_view kArm32 =
    "restart_syscall exit fork read write open close - creat link unlink execve chdir - mknod "
    "chmod lchown - - lseek getpid mount - setuid getuid - ptrace - - pause - - - access nice - "
    "sync kill rename mkdir rmdir dup pipe times - brk setgid getgid - geteuid getegid acct "
    "umount2 - ioctl fcntl - setpgid - - umask chroot ustat dup2 getppid getpgrp setsid "
    "sigaction - - setreuid setregid sigsuspend sigpending sethostname setrlimit - getrusage "
    "gettimeofday settimeofday getgroups setgroups - symlink - readlink uselib swapon reboot - - "
    "munmap truncate ftruncate fchmod fchown getpriority setpriority - statfs fstatfs - - syslog "
    "setitimer getitimer stat lstat fstat - - vhangup - - wait4 swapoff sysinfo - fsync "
    "sigreturn clone setdomainname uname - adjtimex mprotect sigprocmask - init_module "
    "delete_module - quotactl getpgid fchdir bdflush sysfs personality - setfsuid setfsgid "
    "_llseek getdents _newselect flock msync readv writev getsid fdatasync _sysctl mlock munlock "
    "mlockall munlockall sched_setparam sched_getparam sched_setscheduler sched_getscheduler "
    "sched_yield sched_get_priority_max sched_get_priority_min sched_rr_get_interval nanosleep "
    "mremap setresuid getresuid - - poll nfsservctl setresgid getresgid prctl rt_sigreturn "
    "rt_sigaction rt_sigprocmask rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend "
    "pread64 pwrite64 chown getcwd capget capset sigaltstack sendfile - - vfork ugetrlimit mmap2 "
    "truncate64 ftruncate64 stat64 lstat64 fstat64 lchown32 getuid32 getgid32 geteuid32 "
    "getegid32 setreuid32 setregid32 getgroups32 setgroups32 fchown32 setresuid32 getresuid32 "
    "setresgid32 getresgid32 chown32 setuid32 setgid32 setfsuid32 setfsgid32 getdents64 "
    "pivot_root mincore madvise fcntl64 - - gettid readahead setxattr lsetxattr fsetxattr "
    "getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr "
    "fremovexattr tkill sendfile64 futex sched_setaffinity sched_getaffinity io_setup io_destroy "
    "io_getevents io_submit io_cancel exit_group lookup_dcookie epoll_create epoll_ctl "
    "epoll_wait remap_file_pages - - set_tid_address timer_create timer_settime timer_gettime "
    "timer_getoverrun timer_delete clock_settime clock_gettime clock_getres clock_nanosleep "
    "statfs64 fstatfs64 tgkill utimes arm_fadvise64_64 pciconfig_iobase pciconfig_read "
    "pciconfig_write mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr "
    "waitid socket bind connect listen accept getsockname getpeername socketpair send sendto "
    "recv recvfrom shutdown setsockopt getsockopt sendmsg recvmsg semop semget semctl msgsnd "
    "msgrcv msgget msgctl shmat shmdt shmget shmctl add_key request_key keyctl semtimedop "
    "vserver ioprio_set ioprio_get inotify_init inotify_add_watch inotify_rm_watch mbind "
    "get_mempolicy set_mempolicy openat mkdirat mknodat fchownat futimesat fstatat64 unlinkat "
    "renameat linkat symlinkat readlinkat fchmodat faccessat pselect6 ppoll unshare "
    "set_robust_list get_robust_list splice sync_file_range2 tee vmsplice move_pages getcpu "
    "epoll_pwait kexec_load utimensat signalfd timerfd_create eventfd fallocate timerfd_settime "
    "timerfd_gettime signalfd4 eventfd2 epoll_create1 dup3 pipe2 inotify_init1 preadv pwritev "
    "rt_tgsigqueueinfo perf_event_open recvmmsg accept4 fanotify_init fanotify_mark prlimit64 "
    "name_to_handle_at open_by_handle_at clock_adjtime syncfs sendmmsg setns process_vm_readv "
    "process_vm_writev kcmp finit_module sched_setattr sched_getattr renameat2 seccomp getrandom "
    "memfd_create bpf execveat userfaultfd membarrier mlock2 copy_file_range preadv2 pwritev2 "
    "pkey_mprotect pkey_alloc pkey_free statx rseq io_pgetevents migrate_pages kexec_file_load";

} // namespace ovnitrace::call_table
