/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Logs the wakeups and migrations of traced threads, and who woke them.
 */

/* In the waker: only remembers who it is. The transition is taken from sched_wakeup, on the
 * runqueue's side, which follows the switch-out of the woken thread. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *p)
{
	__u32 tid = p->pid;
	struct thread_marks *all = all_marks();
	enum ftrace_wakeup_context context;
	struct thread_facts *facts;
	struct task_struct *waker;

	if (!all)
		return 0;
	if (!trace_all && !(all->of[tid & FTRACE_TID_MASK] & THREAD_TRACED) &&
	    !awaits_cpu(facts_of(tid)))
		return 0;
	if (!in_region(p))
		return 0;
	waker = bpf_get_current_task_btf();
	facts = facts_of(tid);
	if (p == waker || !facts)
		return 0;
	name_once(p, all->of[tid & FTRACE_TID_MASK]);
	name_once(waker, all->of[waker->pid & FTRACE_TID_MASK]);
	context = wakeup_context(waker);
	if (receives_own_packet(waker, context))
		context = FTRACE_WAKER_TASK;
	facts->waker = WAKER_SEEN | context << WAKER_CONTEXT_SHIFT |
		       completing_device(waker, context) << WAKER_DEVICE_SHIFT |
		       (waker->pid & WAKER_TID_MASK);
	if (has_work_items && unlikely(waker->flags & PF_WQ_WORKER) && context == FTRACE_WAKER_TASK)
		log_work(p, waker);
	if (stacks_wanted & STACKS_WAKEUP)
		remember_waker_stack(
			ctx, tid, context == FTRACE_WAKER_TASK || context == FTRACE_WAKER_UNKNOWN);
	return 0;
}

/* Learns who has a CPU that has not switched since the capture started. `p` waits for this CPU,
 * whose run queue is locked. Returns the holder; 0: not known. */
static __noinline __u32 learn_holder(struct cpu_stage *s, struct task_struct *p)
{
	struct task_struct *holder;

	if (!s || !p || !bpf_core_field_exists(p->se.cfs_rq->rq))
		return 0;
	holder = p->se.cfs_rq->rq->curr;
	if (!holder || is_traced(holder->pid))
		return 0;
	name_once(holder, marks_of(holder->pid));
	set_holder(s, holder->pid, 0);
	return holder_of(s);
}

/* Returns the priority of the thread `tid` that has the CPU for which `p` waits, as a record has
 * it; 0: not known. The run queue of this CPU is locked. */
static __noinline __u8 prio_of_holder(struct task_struct *p, __u32 tid)
{
	struct task_struct *holder;

	if (!p || !bpf_core_field_exists(p->se.cfs_rq->rq))
		return 0;
	holder = p->se.cfs_rq->rq->curr;
	if (!holder || (__u32)holder->pid != tid)
		return 0;
	return holder->prio + FTRACE_PRIO_BIAS;
}

/* Starts a wait of `p` for a CPU at `now`, when the clock was read. The caller stages its record
 * afterwards. */
static __always_inline void begin_wait(struct cpu_stage *mine, struct task_struct *p, __u32 cpu,
				       __u64 now, bool locked)
{
	struct cpu_stage *s = stage_of(cpu);
	struct thread_facts *facts = facts_of(p->pid);
	__u32 holder;

	if (!s || !facts || (holder_of(s) & FTRACE_TID_MASK) == (__u32)p->pid)
		return; /* the last: it was to sleep and has its CPU still */
	set_wait(facts, cpu + 1, locked ? cpu + 1 : 0);
	holder = holder_of(s);
	if (unlikely(!holder) && locked)
		holder = learn_holder(s, p);
	if (!holder || is_reported(s, holder) ||
	    __sync_val_compare_and_swap(&s->holder, holder, holder | HOLDER_REPORTED) != holder)
		return;
	stage_at(mine, SCHED_WHEN(now, 0),
		 SCHED_WORD(SCHED_KIND_HOLDER, 0,
			    locked ? prio_of_holder(p, holder & FTRACE_TID_MASK) : 0,
			    holder & FTRACE_TID_MASK, cpu));
}

/* Logs what happens to `p`, unless its region was closed meanwhile. `stack`: a record to put before
 * it; 0: none. `waits`: 1 + the CPU for which `p` waits from now on; 0: it does not wait. `locked`:
 * the run queue of that CPU is locked. */
static __always_inline void stage(struct task_struct *p, __u64 stack, __u64 word, __u32 waits,
				  bool locked)
{
	struct cpu_stage *s = stage_of_this_cpu();
	__u64 now = bpf_ktime_get_ns();

	if (unlikely(!s) || !in_region(p))
		return;
	if (wants_holders && waits)
		begin_wait(s, p, waits - 1, now, locked);
	if (stack)
		stage_at(s, SCHED_WHEN(now, 0), stack);
	stage_at(s, SCHED_WHEN(now, 0), word);
}

/* Returns why a thread that was woken may not run yet: SCHED_HELD_THROTTLED or
 * SCHED_HELD_EXHAUSTED. 0: it may. */
static __always_inline __u64 held_back(struct task_struct *p)
{
	if (awaits_period(p))
		return SCHED_HELD_EXHAUSTED;
	if (likely(!is_throttled(p)))
		return 0;
	note_throttled(p);
	return SCHED_HELD_THROTTLED;
}

static __always_inline int log_wakeup(__u32 kind, struct task_struct *p)
{
	__u32 tid = p->pid, waker;
	struct thread_facts *facts = facts_of(tid);

	if (unlikely(!facts))
		return 0;
	waker = facts->waker;
	facts->waker = 0; /* the next wakeup has its own, or none if the kernel skips on_waking() */
	if (needed_fits & FITS_CPU && !is_traced(tid))
		return 0;
	if (unlikely(!(waker & WAKER_SEEN))) {
		if (!is_traced(tid))
			return 0;
		name_once(p, marks_of(tid));
		waker = FTRACE_WAKER_UNKNOWN << WAKER_CONTEXT_SHIFT;
	}
	if (!in_region(p))
		return 0;
	look_at_affinity(p, facts, 0);
	stage(p, waker_stack_of(tid),
	      SCHED_WORD(kind, waker >> WAKER_CONTEXT_SHIFT & 7,
			 waker >> WAKER_DEVICE_SHIFT & (CAPTURE_DEVICES - 1), tid,
			 waker & WAKER_TID_MASK) |
		      held_back(p) | SCHED_A_TRACED,
	      task_cpu(p) + 1, true);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *p)
{
	if (p->on_cpu && p == bpf_get_current_task_btf())
		return 0; /* it never left its CPU */
	return log_wakeup(SCHED_KIND_WAKEUP, p);
}

/* The creator is the waker: sched_waking is not raised for a new thread. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *p)
{
	__u32 tid = p->pid;
	__u64 stack = 0;

	if (needed_fits & FITS_CPU)
		change_cpu(p, task_cpu(p), bpf_get_current_task_btf()->pid);
	if (!is_recorded(p))
		return 0;
	if (stacks_wanted & STACKS_WAKEUP)
		stack = stack_word(ctx, SCHED_STACK_OF_WAKER, true);
	name_once(bpf_get_current_task_btf(), marks_of(bpf_get_current_task_btf()->pid));
	stage(p, stack,
	      SCHED_WORD(SCHED_KIND_WAKEUP_NEW, FTRACE_WAKER_TASK, 0, tid,
			 bpf_get_current_task_btf()->pid) |
		      held_back(p) | SCHED_A_TRACED,
	      task_cpu(p) + 1, true);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *p, int dest_cpu)
{
	__u32 tid = p->pid, waits = 0;
	struct thread_facts *facts;

	if (needed_fits & FITS_CPU)
		change_cpu(p, dest_cpu, 0);
	if (!is_recorded(p))
		return 0;
	name_once(p, marks_of(tid));
	facts = facts_of(tid);
	if (wants_holders && facts && facts->waits)
		waits = dest_cpu + 1;
	stage(p, 0, SCHED_WORD(SCHED_KIND_MIGRATE, 0, 0, tid, dest_cpu) | SCHED_A_TRACED, waits,
	      false);
	return 0;
}
