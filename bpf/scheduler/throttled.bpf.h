/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the traced threads that are off their CPU because their cgroup has no CPU quota left. No
 * tracepoint shows when the cgroup has quota again. The kernel refills it in two timers. When one
 * of them has expired, these threads are examined (bpf/causes.bpf.c).
 */
#ifndef OVNITRACE_THROTTLED_H
#define OVNITRACE_THROTTLED_H

ARRAY(throttled, struct throttled_threads, 1);

/* Remembers that `p` is off its CPU throttled. A thread that is evicted counts as throttled until
 * it gets a CPU. */
static __always_inline void note_throttled(struct task_struct *p)
{
	__u32 zero = 0;
	struct throttled_threads *all = bpf_map_lookup_elem(&throttled, &zero);
	struct throttled_thread *one;

	if (!all || p->prio < MAX_RT_PRIO) /* a real-time thread runs at once when it may */
		return;
	one = &all->of[__sync_fetch_and_add(&all->next, 1) & (CAPTURE_THROTTLED - 1)];
	one->tid = p->pid;
	one->pid = p->tgid;
	if (!__sync_lock_test_and_set(&one->task, (__u64)p))
		__sync_fetch_and_add(&all->left, 1);
}

/* The verifier looks at each turn of a loop, but once at a function that is not static. What looks
 * at all threads therefore calls such a function for this many at a time. */
#define THROTTLED_STEP 32

__noinline int is_noted_from(__u32 first, __u32 tid)
{
	__u32 zero = 0;
	struct throttled_threads *all = bpf_map_lookup_elem(&throttled, &zero);

	if (!all)
		return 1;
	for (__u32 n = 0; n < THROTTLED_STEP; n++) {
		struct throttled_thread *one = &all->of[(first + n) & (CAPTURE_THROTTLED - 1)];

		if (one->tid == tid && one->task)
			return 1;
	}
	return 0;
}

static __noinline bool is_noted(__u32 tid)
{
	for (__u32 first = 0; first < CAPTURE_THROTTLED; first += THROTTLED_STEP)
		if (is_noted_from(first, tid))
			return true;
	return false;
}

/* Remembers a thread that a snapshot finds throttled, unless its last switch was recorded. `word`:
 * of the snapshot. */
static __always_inline void note_found(struct task_struct *p, __u32 word)
{
	if ((word & FTRACE_REASON_MASK) >> FTRACE_REASON_SHIFT == FTRACE_OFFCPU_THROTTLED &&
	    !is_noted(p->pid))
		note_throttled(p);
}

#endif
