/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Defines a --trigger as the loader passes it to bpf/trigger.bpf.c, and the message of a hit. Both
 * sides are the same machine.
 */
#ifndef OVNITRACE_TRIGGER_H
#define OVNITRACE_TRIGGER_H

#include <ovnitrace/selection.h>

#define TRIGGER_PAUSE_NS   1000000000ULL /* between two messages, at least */
#define TRIGGER_RING_BYTES 4096

enum trigger_kind {
	TRIGGER_NONE = 0,
	TRIGGER_LATENCY = 1,   /* a thread that could run waited for a CPU */
	TRIGGER_BLOCKED = 2,   /* it left its CPU blocked, and was woken */
	TRIGGER_PREEMPTED = 3, /* it left its CPU runnable, and got one again */
	TRIGGER_EXIT = 4,      /* it ended */
	TRIGGER_IDLE = 5,      /* it waited for a CPU, and one that it may use was idle */
};

struct trigger_rule {
	__u64 least_ns; /* the time that it must have lasted; 0 with TRIGGER_EXIT */
	__u32 kind;	/* enum trigger_kind */
	__u32 has_glob; /* only threads whose name fits `glob` */
	struct name_glob glob;
};

/* The first hit after a pause. */
struct trigger_hit {
	__u64 time; /* ns, CLOCK_MONOTONIC */
	__u64 ns;   /* how long it lasted; 0 with TRIGGER_EXIT */
	__u64 hits; /* with this one, since the start */
	__u32 tid;
	__u32 idle_cpu; /* with TRIGGER_IDLE */
	char comm[16];
};

#endif
