/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the clock of all events: CLOCK_MONOTONIC in ns, as the kernel side of ovnitrace does. */
#ifndef OVT_CLOCK_H
#define OVT_CLOCK_H

#include <stdint.h>
#include <time.h>

#define OVT_CLK_PER_MSEC 1000000u

static inline uint64_t ovt_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
