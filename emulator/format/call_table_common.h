// SPDX-License-Identifier: BSD-2-Clause
// Lists the system calls that have the same number on all architectures: one word for each number,
// "-" for an unused one.
#pragma once

#include <cstdint>
#include <string_view>

namespace ovnitrace::call_table {

/// From 403 on, on 32-bit machines only: calls with 64-bit times.
inline constexpr uint32_t kTime64From = 403;
inline constexpr std::string_view kTime64 =
    "clock_gettime64 clock_settime64 clock_adjtime64 clock_getres_time64 clock_nanosleep_time64 "
    "timer_gettime64 timer_settime64 timerfd_gettime64 timerfd_settime64 utimensat_time64 "
    "pselect6_time64 ppoll_time64 - io_pgetevents_time64 recvmmsg_time64 mq_timedsend_time64 "
    "mq_timedreceive_time64 semtimedop_time64 rt_sigtimedwait_time64 futex_time64 "
    "sched_rr_get_interval_time64";

/// From 424 on: calls added since Linux 5.1.
inline constexpr uint32_t kCommonFrom = 424;
inline constexpr std::string_view kCommon =
    "pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount "
    "fsopen fsconfig fsmount fspick pidfd_open clone3 close_range openat2 pidfd_getfd faccessat2 "
    "process_madvise epoll_pwait2 mount_setattr quotactl_fd landlock_create_ruleset "
    "landlock_add_rule landlock_restrict_self memfd_secret process_mrelease futex_waitv "
    "set_mempolicy_home_node cachestat fchmodat2 map_shadow_stack futex_wake futex_wait "
    "futex_requeue statmount listmount lsm_get_self_attr lsm_set_self_attr lsm_list_modules "
    "mseal setxattrat getxattrat listxattrat removexattrat open_tree_attr file_getattr "
    "file_setattr";

} // namespace ovnitrace::call_table
