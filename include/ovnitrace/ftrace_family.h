/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The families of FTrace's events, by their numbers in the manual: the low nibble of a code.
 */
#ifndef OVNITRACE_FTRACE_FAMILY_H
#define OVNITRACE_FTRACE_FAMILY_H

enum ftrace_family {
	FTRACE_FAMILY_TRACE = 0,
	FTRACE_FAMILY_IPOINT = 1,
	FTRACE_FAMILY_TASK = 2,
	FTRACE_FAMILY_INTERRUPT = 3,
	FTRACE_FAMILY_CPU = 4,
	FTRACE_FAMILY_PRIORITY = 5,
	FTRACE_FAMILY_MUTEX = 6,
	FTRACE_FAMILY_SIGNAL = 7,
	FTRACE_FAMILY_SERVER = 8,
	FTRACE_FAMILY_USER = 9,
	FTRACE_FAMILY_DATA = 10,
	FTRACE_FAMILY_TIMER = 11,
	FTRACE_FAMILIES = 12, /* how many */
};

/* A set of families has this bit for each. */
#define FTRACE_FAMILY_BIT(family) (1u << (family))

#endif
