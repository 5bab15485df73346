/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes life events and sends them through a ring of their own.
 */
#ifndef OVNITRACE_LIFE_RING_H
#define OVNITRACE_LIFE_RING_H

#include <ovnitrace/thread_state.h>

RING(life, CAPTURE_LIFE_BYTES);
MAPPED_ARRAY(life_lost, __u64, 1); /* life events that found no room */

/* Returns whether it is the current thread of its run queue. */
static __always_inline bool has_its_cpu(struct task_struct *p)
{
	if (!bpf_core_field_exists(p->se.cfs_rq->rq))
		return p->on_cpu;
	return BPF_CORE_READ(p, se.cfs_rq, rq, curr) == p;
}

/* Returns what a snapshot says of a thread: state, CPU and reason. `running`: it has its CPU. */
static __always_inline __u32 snapshot_word(struct task_struct *p, bool running)
{
	__u32 state = p->__state, value = OVNI_THREAD_PAUSED, reason = 0;

	if (running)
		value = OVNI_THREAD_RUNNING;
	else if (state && !(state & TASK_WAKING))
		reason = blocked_reason(p, state);
	else if ((reason = awaits_period(p)))
		value = OVNI_THREAD_COOLING;
	else if (is_throttled(p)) {
		value = OVNI_THREAD_COOLING;
		reason = FTRACE_OFFCPU_THROTTLED;
	} else {
		value = OVNI_THREAD_WARMING; /* whether it was woken or preempted is past */
		reason = FTRACE_OFFCPU_WAITED;
	}
	if (reason == FTRACE_OFFCPU_DEAD)
		value = OVNI_THREAD_DEAD; /* a zombie, which waits for nothing any more */
	return value | task_cpu(p) << FTRACE_SNAPSHOT_CPU_SHIFT | reason << FTRACE_REASON_SHIFT;
}

static __always_inline void life_fill(struct life_record *r, __u32 kind, struct task_struct *p,
				      __u32 arg)
{
	bool inside = in_region(p);

	__builtin_memset(r, 0, sizeof(*r));
	r->time = bpf_ktime_get_ns();
	r->kind = kind;
	r->cpu = bpf_get_smp_processor_id();
	r->tid = p->pid;
	r->pid = p->tgid;
	r->arg = arg;
	r->outside = !inside || !in_region(p);
	bpf_probe_read_kernel_str(r->comm, sizeof(r->comm),
				  p->comm); /* old kernels leave bytes after its end */
}

/* Fills in the parent of a process that was alive before. The parent has created the process, or
 * has adopted it. */
static __always_inline void life_fill_parent(struct life_record *r, struct task_struct *p)
{
	if (p->pid == p->tgid)
		r->parent = BPF_CORE_READ(p, real_parent, pid);
}

/* Returns the flags with which the next record is sent. The reader is woken at each step of 64 KiB
 * above a quarter, and not at one watermark: several CPUs send at once, and none of them may see a
 * crossing. */
static __always_inline __u64 life_wakeup(void)
{
	__u64 used = bpf_ringbuf_query(&life, BPF_RB_AVAIL_DATA);

	return used >= CAPTURE_LIFE_BYTES / 4 &&
			       used >> 16 != (used + sizeof(struct life_record)) >> 16
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

/* Sends a record of the life ring. Returns false if the ring is full. */
static __always_inline bool life_try(struct life_record *r)
{
	return !bpf_ringbuf_output(&life, r, sizeof(*r), life_wakeup());
}

static __always_inline void life_count_lost(void)
{
	__u32 zero = 0;
	__u64 *lost = bpf_map_lookup_elem(&life_lost, &zero);

	if (lost)
		__sync_fetch_and_add(lost, 1);
}

static __always_inline void life_send(struct life_record *r)
{
	if (!life_try(r))
		life_count_lost();
}

#endif
