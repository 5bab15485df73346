/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the scheduler does to traced threads: switch, wakeup, migration. A thread that is not traced
 * costs a test, one that is a clock read and two stores.
 */
__u64 complete_since = -1ULL; /* ns: all programs are attached from here on; set by the loader */

/* A thread leaves its CPU that was not seen to take it: the kernel did not run us at that switch.
 * (Some kernels show no event of certain threads, among them the switch from such a thread to
 * ours.) Or it was not traced yet at that switch. The kernel's own account says since when it has
 * had the CPU. Returns the tid under which it took it. */
static __noinline __u32 log_unseen_dispatch(struct cpu_stage *s, __u32 cpu, struct task_struct *p,
					    __u64 now)
{
	__u64 since = now - time_on_cpu(p), known_since = complete_since, *region;

	if (has_regions) {
		region = region_of(p->tgid, p->pid);
		if (region && *region > known_since)
			known_since = *region;
	}
	if (s->running && s->running_task == (__u64)p)
		return s->running; /* the same run: an execve has changed its tid */
	if (since == now || since < known_since)
		return p->pid;
	if (!s->running && since < s->switched)
		since = s->switched; /* the two clocks are not read at the same instant */
	stage_at(s, cpu, SCHED_WHEN(since, 0),
		 SCHED_WORD(SCHED_KIND_SWITCH, 0, (__u8)(p->prio + FTRACE_PRIO_BIAS), 0, p->pid) |
			 SCHED_B_TRACED);
	return p->pid;
}

static __always_inline int log_switch(void *ctx, bool preempt, struct task_struct *prev,
				      struct task_struct *next, __u32 prev_state)
{
	__u32 prev_tid = prev->pid, next_tid = next->pid, reason, taken_as = prev_tid;
	struct thread_facts *facts = facts_of(prev_tid);
	__u32 next_entry = thread_entry(next_tid);
	bool prev_traced = trace_all ? prev_tid != 0 : facts && facts->entry & THREAD_TRACED;
	bool next_traced = trace_all ? next_tid != 0 : next_entry & THREAD_TRACED;
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_stage *s;
	__u64 word, now, stack, call = 0;

	if (has_regions) {
		if (prev_traced && !in_region(prev)) {
			if (prev_state & TASK_DEAD)
				log_death(prev, prev_tid);
			prev_traced = false;
		}
		next_traced = next_traced && in_region(next);
	}
	if (!prev_traced && !next_traced)
		return 0;
	s = bpf_map_lookup_elem(&stages, &cpu);
	if (!s)
		return 0;
	now = bpf_ktime_get_ns();
	if (has_regions) { /* closed meanwhile */
		prev_traced = prev_traced && in_region(prev);
		next_traced = next_traced && in_region(next);
		if (!prev_traced && !next_traced)
			return 0;
	}
	if (prev_traced && s->running != prev_tid)
		taken_as = log_unseen_dispatch(s, cpu, prev, now);
	/* Before 6.15 a pending signal that kept it on the runqueue left the old state in the
	 * argument; its own state is running again. */
	if (preempt || !prev_state || !task_state(prev)) {
		reason = FTRACE_OFFCPU_PREEMPTED;
		if (prev_traced) {
			if (facts)
				look_at_affinity(prev, facts, now);
			if (is_throttled(prev))
				reason = FTRACE_OFFCPU_THROTTLED;
			else if (!preempt && called_sched_yield(prev))
				reason = FTRACE_OFFCPU_YIELDED;
		}
	} else {
		reason = blocked_reason(prev_state);
		if (prev_traced)
			call = blocked_call(prev);
	}

	/* An execve by a thread that is not the main one swaps their tids (exchange_tids()), long
	 * before sched_process_exec is raised, and maybe before the main thread has left its CPU
	 * for ever. */
	if (taken_as != prev_tid) {
		if (prev_tid != (__u32)prev->tgid)
			prev_tid = taken_as; /* was the main thread */
		else if (reason != FTRACE_OFFCPU_DEAD)
			stage_at(s, cpu, SCHED_WHEN(now, 0),
				 SCHED_WORD(SCHED_KIND_EXEC, 0, 0, prev_tid, taken_as) |
					 SCHED_A_TRACED);
	}
	word = SCHED_WORD(SCHED_KIND_SWITCH, reason, (__u8)(next->prio + FTRACE_PRIO_BIAS),
			  prev_tid, next_tid);
	if (prev_traced)
		word |= SCHED_A_TRACED;
	if (next_traced)
		word |= SCHED_B_TRACED;
	name_once(next, next_entry);
	if (prev_traced && wants_stack(reason)) {
		stack = stack_word(ctx, SCHED_STACK_OF_PREV, true);
		if (stack)
			stage_at(s, cpu, SCHED_WHEN(now, 0), stack);
	}
	stage_at(s, cpu, SCHED_WHEN(now, call), word);
	s->running = next_traced ? next_tid : 0;
	s->running_task = (__u64)next;
	s->switched = now;
	if (reason == FTRACE_OFFCPU_DEAD && prev_traced)
		log_death(prev, prev_tid);
	else if (s->renamed && prev_traced)
		log_own_rename(prev, prev_tid);
	s->renamed = 0;
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	return log_switch(ctx, preempt, prev, next, prev_state);
}

/* Before 5.18 (fa2c3254d7cf "sched/tracing: Don't re-read p->state when emitting sched_switch
 * event") the tracepoint has no prev_state. The loader loads the one that fits. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch_3_arguments, bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	return log_switch(ctx, preempt, prev, next, task_state(prev));
}

/* In the waker: only remembers who it is. The transition is taken from sched_wakeup, on the
 * runqueue's side, which follows the switch-out of the woken thread. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *p)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	enum ftrace_wakeup_context context;
	__u32 tid = p->pid;
	struct thread_facts *facts = facts_of(tid);

	if (p == waker || !facts || (!trace_all && !(facts->entry & THREAD_TRACED)) ||
	    !in_region(p))
		return 0;
	name_once(waker, thread_entry(waker->pid));
	context = wakeup_context(waker);
	facts->entry = THREAD_TRACED | (facts->entry & (THREAD_NAMED | THREAD_PROGRAM)) |
		       context << THREAD_CONTEXT_SHIFT | (waker->pid & THREAD_WAKER_MASK);
	if (stacks_wanted & STACKS_WAKEUP)
		remember_waker_stack(
			ctx, tid, context == FTRACE_WAKER_TASK || context == FTRACE_WAKER_UNKNOWN);
	return 0;
}

static __always_inline int log_wakeup(__u32 kind, struct task_struct *p)
{
	__u32 tid = p->pid, entry;
	struct thread_facts *facts = facts_of(tid);

	if (!facts)
		return 0;
	entry = facts->entry;
	if (!(entry & THREAD_TRACED)) {
		if (!trace_all)
			return 0;
		entry = FTRACE_WAKER_UNKNOWN
			<< THREAD_CONTEXT_SHIFT; /* no sched_waking of it was seen */
	}
	if (!in_region(p))
		return 0;
	name_once(p, entry);
	look_at_affinity(p, facts, 0);
	stage(p, waker_stack_of(tid),
	      SCHED_WORD(kind, entry >> THREAD_CONTEXT_SHIFT & 7, 0, tid,
			 entry & THREAD_WAKER_MASK) |
		      SCHED_A_TRACED);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *p)
{
	if (p == bpf_get_current_task_btf())
		return 0; /* it never left its CPU */
	return log_wakeup(SCHED_KIND_WAKEUP, p);
}

/* The creator is the waker: sched_waking is not raised for a new thread. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *p)
{
	__u32 tid = p->pid;
	__u64 stack = 0;

	if (!is_recorded(p))
		return 0;
	if (stacks_wanted & STACKS_WAKEUP)
		stack = stack_word(ctx, SCHED_STACK_OF_WAKER, true);
	name_once(bpf_get_current_task_btf(), thread_entry(bpf_get_current_task_btf()->pid));
	stage(p, stack,
	      SCHED_WORD(SCHED_KIND_WAKEUP_NEW, FTRACE_WAKER_TASK, 0, tid,
			 bpf_get_current_task_btf()->pid) |
		      SCHED_A_TRACED);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *p, int dest_cpu)
{
	__u32 tid = p->pid;

	if (!is_recorded(p))
		return 0;
	stage(p, 0, SCHED_WORD(SCHED_KIND_MIGRATE, 0, 0, tid, dest_cpu) | SCHED_A_TRACED);
	return 0;
}
