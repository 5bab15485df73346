/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records which thread runs on a CPU while traced threads wait for it, if not every thread is
 * recorded. Each CPU counts the traced threads in its run queue. While there is one, every switch
 * of that CPU is recorded. When one comes, the running thread is recorded, unless the trace already
 * says which one it is.
 *
 * The count does not drift: each thread has a mark, the CPU that counts it, and every change of a
 * mark takes the thread off the count of its old mark. Wakeups, switches and migrations change it
 * under the lock of the run queue or p->pi_lock, but filters and the snapshot do not. It is
 * therefore exchanged. If the kernel skips a run of a program, a mark may be wrong. It is right
 * again at the thread's next switch-in. Until then its CPU records more switches than are needed.
 *
 * A wakeup and the switches of its CPU exclude one another by the lock of the run queue. The move
 * of a thread to another CPU is announced before the lock of that CPU is taken. A switch of that
 * CPU within the same few nanoseconds may therefore be missed. The next switch is recorded.
 */
const volatile bool wants_holders = false; /* set by the loader before loading */

/* cpu_stage::holder; 0: no switch of that CPU was seen yet. */
#define HOLDER_SEEN	(1u << 31)
#define HOLDER_REPORTED (1u << 30) /* the trace says so */

static __always_inline struct cpu_stage *stage_of(__u32 cpu)
{
	return bpf_map_lookup_elem(&stages, &cpu);
}

static __always_inline __u32 holder_of(struct cpu_stage *s)
{
	return *(volatile __u32 *)&s->holder;
}

static __always_inline void set_holder(struct cpu_stage *s, __u32 tid, __u32 reported)
{
	*(volatile __u32 *)&s->holder = HOLDER_SEEN | reported | (tid & FTRACE_TID_MASK);
}

/* Returns whether a traced thread waits for this CPU. Asked after set_holder(). */
static __always_inline bool has_waiters(struct cpu_stage *s)
{
	__u64 both = *(volatile __u64 *)&s->waiters;

	return (__u32)both + (__u32)(both >> 32);
}

/* Adds `more` waiters to a CPU. `place`: the number of the CPU + 1. */
static __always_inline void count_waiter(__u32 place, int more, bool locked)
{
	struct cpu_stage *s = stage_of(place - 1);

	if (!s)
		return;
	if (likely(locked))
		s->waiters += more;
	else
		__sync_fetch_and_add(&s->moved, more);
}

/* Notes for which CPU a thread waits: `place` is its number + 1, or 0 if the thread does not wait.
 * `locked`: the place whose run queue is locked, 0: none. */
static __always_inline void set_wait(struct thread_facts *facts, __u32 place, __u32 locked)
{
	__u32 before = facts->waits;

	if (before == place)
		return;
	before = __sync_lock_test_and_set(&facts->waits, place);
	if (before)
		count_waiter(before, -1, before == locked);
	if (place)
		count_waiter(place, 1, place == locked);
}

/* Ends the wait of a thread that has run on this CPU, or gets it now. The run queue of this CPU is
 * locked. */
static __always_inline void end_wait(__u32 tid)
{
	struct thread_facts *facts = facts_of(tid);

	if (facts)
		set_wait(facts, 0, bpf_get_smp_processor_id() + 1);
}

/* Returns whether the trace says who has this CPU. What it said before the last start of a region
 * does not count, because a switch since then may be missing. Readers do not believe it either. */
static __always_inline bool is_reported(struct cpu_stage *s, __u32 holder)
{
	return holder & HOLDER_REPORTED &&
	       (!has_regions || *(volatile __u64 *)&s->switched >= about_regions(REGIONS_OPENED));
}

/* Notes in the snapshot whether `p` has a CPU that has not switched yet, or waits for one already.
 * If `p` starts to run or blocks at this very moment, it keeps a wrong mark until it runs next. */
static __always_inline void snapshot_holder(struct task_struct *p)
{
	struct thread_facts *facts = facts_of(p->pid);
	__u32 cpu = task_cpu(p);
	struct cpu_stage *s = stage_of(cpu);

	if (!wants_holders || !s || !facts || !bpf_core_field_exists(p->se.cfs_rq->rq))
		return;
	if (BPF_CORE_READ(p, se.cfs_rq, rq, curr) == p)
		__sync_val_compare_and_swap(&s->holder, 0, HOLDER_SEEN | p->pid);
	else if (!p->__state && is_recorded(p) &&
		 __sync_val_compare_and_swap(&facts->waits, 0, cpu + 1) == 0)
		__sync_fetch_and_add(&s->moved, 1);
}
