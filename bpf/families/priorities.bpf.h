/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Logs family 5: changes of the priority or the policy of a traced thread. No tracepoint shows the
 * effect of the system calls that change them. The priority of a thread is therefore compared with
 * the last known one: at the end of those calls and, because there may be other causes, whenever
 * the thread gets or leaves a CPU. Inheritance has a tracepoint.
 */

/* What was logged last of the thread that has a tid: par2 of set_priority in the low 16 bits, above
 * it the creation of that thread, because tids come to other threads; 0: nothing yet. An array,
 * because nothing may be allocated under the lock of a runqueue. */
#define PRIORITY_WORD_BITS 16
ARRAY(priorities, __u64, 1); /* all tids, set by the loader where the family is chosen */

static __always_inline __u64 *logged_priority(struct task_struct *p)
{
	__u32 tid = p->pid;

	return is_recorded(p) ? bpf_map_lookup_elem(&priorities, &tid) : (void *)0;
}

static __always_inline __u64 priority_of(struct task_struct *p, int prio)
{
	return (__u8)(prio + FTRACE_PRIO_BIAS) | (p->policy + 1) << FTRACE_POLICY_SHIFT |
	       p->start_time << PRIORITY_WORD_BITS;
}

/* Logs a priority if it has changed. The first priority of a thread is only stored. */
static __always_inline void log_priority(struct task_struct *p, __u64 before, __u64 now)
{
	if (before != now && before >> PRIORITY_WORD_BITS == now >> PRIORITY_WORD_BITS)
		log_thread(FTrace_EVT_set_priority, p->pid, now & ((1u << PRIORITY_WORD_BITS) - 1));
}

/* Compares the priority of a thread with the last known one. If two CPUs do this at the same
 * time, the slower one repeats it, so an old value is never logged after a new one. */
static __always_inline void look_at_priority(struct task_struct *p)
{
	__u64 *logged = logged_priority(p), before, now;

	for (int tries = 0; logged && tries < 4; tries++) {
		before = *(volatile __u64 *)logged;
		barrier();
		now = priority_of(p, p->prio);
		if (before == now)
			return;
		if (__sync_val_compare_and_swap(logged, before, now) == before) {
			log_priority(p, before, now);
			return;
		}
	}
}

/* Returns whether a thread of SCHED_DEADLINE inherits an earlier deadline from `waiter`, as
 * rt_mutex_setprio() decides. */
static __always_inline bool inherits(struct task_struct *p, struct task_struct *waiter, int prio)
{
	if (prio != p->normal_prio || prio >= 0)
		return prio < p->normal_prio;
	return (__s64)(BPF_CORE_READ(waiter, dl.deadline) - p->dl.deadline) < 0;
}

/* The kernel raises this when the priority of `p` is about to change: another thread has the
 * highest priority of those that wait for a lock of `p`. NULL: no thread waits any more. */
SEC("tp_btf/sched_pi_setprio")
int BPF_PROG(prio_on_sched_pi_setprio, struct task_struct *p)
{
	__u32 tid = p->pid, waiter_tid;
	struct task_struct *waiter;
	__u64 *logged, now;
	int prio;

	if (!is_on(FTrace_EVT_inheritance) || !is_recorded(p))
		return 0;
	/* The second argument, read as a number: before 6.13 the verifier believes that it is never
	 * NULL, and removes a test for it. The tid of NULL reads as 0. */
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the pointer itself */
	bpf_probe_read_kernel(&waiter, sizeof(waiter), ctx + 1);
	waiter_tid = BPF_CORE_READ(waiter, pid);
	prio = waiter_tid ? BPF_CORE_READ(waiter, prio) : p->normal_prio;
	if (!waiter_tid || !inherits(p, waiter, prio)) {
		waiter_tid = tid;
		prio = p->normal_prio;
	}
	log_full(FTrace_EVT_inheritance, 0, 0, tid, waiter_tid);
	logged = logged_priority(p);
	if (logged) {
		now = priority_of(p, prio);
		log_priority(p, __sync_lock_test_and_set(logged, now), now);
	}
	return 0;
}
