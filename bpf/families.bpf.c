/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Logs the events of all families but the scheduler's: interrupts, priorities, futexes, signals,
 * SCHED_DEADLINE servers, timers, and what the traced programs log themselves. The loader loads
 * only the programs of the families that --filter chooses. The name of a program starts with its
 * families (user/bpf/family_set.h).
 *
 * These programs run partly with interrupts on, so they stay away from the per-CPU staging area of
 * ovnitrace.bpf.c: each event goes straight to this CPU's ring, whose reservation is safe against
 * interrupts.
 */
#include "ktypes.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include <ovnitrace/capture.h>
#include "kfuncs.h"
#include "kernel_diffs.h"
#include "shared_maps.h"
#include "life_ring.bpf.h"
#include "twins.bpf.h"
#include "region.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* ---- what is on ------------------------------------------------------------------------------ */

/* Families by number, a bit each. `families` is what programs look at, so that a family that is
 * filtered costs the test of this one word; `chosen` are those that a program's FTrace_set_filter
 * may filter and bring back. */
#define FAMILY(code) (1u << ((code)&FTrace_family_mask))
__u32 families = 0;
__u32 chosen = 0;

static __always_inline bool is_on(__u16 code)
{
	return families & FAMILY(code);
}

/* ---- sending --------------------------------------------------------------------------------- */

MAPPED_ARRAY(family_counts, struct family_count, 1); /* possible CPUs, set by the loader */

static __noinline int output(struct family_record *r)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	struct family_count *count = bpf_map_lookup_elem(&family_counts, &cpu);

	if (!r || !ring || !count)
		return 0;
	__sync_fetch_and_add(&count->events, 1);
	r->time = bpf_ktime_get_ns();
	if (!send_to_ring(ring, r, sizeof(*r)))
		return 0;
	if (count->lost == count->reported)
		count->lost_since = r->time;
	count->lost_until = r->time;
	__sync_fetch_and_add(&count->lost, 1);
	return 0;
}

/* Logs (code, par1, par2); where par1_tid or par2_tid is given, that parameter is its context.
 * Preemption is off from the look at the clock to the ring, so that no switch comes in between and
 * is written before what it followed. Where the kernel has no way to do that, tracepoints are
 * safe anyway, and uprobes nearly always. */
static __always_inline void log_full(__u16 code, __u16 par1, __u32 par2, __u32 par1_tid,
				     __u32 par2_tid)
{
	struct family_record r = {
		.code = code,
		.par1 = par1,
		.par2 = par2,
		.par1_tid = par1_tid,
		.par2_tid = par2_tid,
	};

	if (has_kfunc(KFUNC_PREEMPT_DISABLE)) {
		kfunc_preempt_disable();
		output(&r);
		kfunc_preempt_enable();
	} else {
		output(&r);
	}
}

static __always_inline void log_thread(__u16 code, __u32 tid, __u32 par2)
{
	log_full(code, 0, par2, tid, 0);
}

/* Returns whether the running thread acts itself, and not an interrupt while it runs. Where it
 * cannot be known, yes. */
static __always_inline bool in_task(struct task_struct *current)
{
	enum ftrace_wakeup_context context = wakeup_context(current);

	return context == FTRACE_WAKER_TASK || context == FTRACE_WAKER_UNKNOWN;
}

#include "families/interrupts.bpf.h"
#include "families/mutexes.bpf.h"
#include "families/power.bpf.h"
#include "families/priorities.bpf.h"
#include "families/servers.bpf.h"
#include "families/signals.bpf.h"
#include "families/timers.bpf.h"
#include "families/user_events.bpf.h"
/* tracepoints of several families: */
#include "families/hrtimers.bpf.h"
#include "families/scheduling_calls.bpf.h"
#include "families/switches.bpf.h"
#include "families/syscalls.bpf.h"
