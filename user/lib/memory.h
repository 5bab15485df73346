/* SPDX-License-Identifier: BSD-2-Clause */
/* How much memory there is. Linux promises more than it has: a chunk that nothing backs would kill
 * the program. */
#ifndef OVT_MEMORY_H
#define OVT_MEMORY_H

#include <stddef.h>

/* Bytes that the machine, and the cgroups of this process, can give without paging; SIZE_MAX where
 * nothing tells. Under ovt_lock. */
size_t ovt_memory_available(void);

/* Of these the cgroups' part, by the files `cgroup` and `mountinfo` of the directory `proc`. */
size_t ovt_memory_of_cgroups(const char *proc);

#endif
