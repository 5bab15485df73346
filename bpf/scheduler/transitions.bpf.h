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

/* Before 6.15 a pending signal that kept it on the runqueue left the old state in the argument; its
 * own state is running again. */
static __always_inline bool leaves_runnable(struct task_struct *prev, bool preempt,
					    __u32 prev_state)
{
	return preempt || !prev_state || !task_state(prev);
}

/* Why a traced thread leaves its CPU: enum ftrace_offcpu; and from which system call, if it blocks
 * in one. */
static __always_inline __u32 leave_reason(struct task_struct *prev, bool preempt, __u32 prev_state,
					  __u64 now, __u64 *call)
{
	struct thread_facts *facts;

	if (!leaves_runnable(prev, preempt, prev_state)) {
		*call = blocked_call(prev);
		return blocked_reason(prev_state);
	}
	facts = facts_of(prev->pid);
	if (facts)
		look_at_affinity(prev, facts, now);
	if (is_throttled(prev))
		return FTRACE_OFFCPU_THROTTLED;
	return !preempt && called_sched_yield(prev) ? FTRACE_OFFCPU_YIELDED
						    : FTRACE_OFFCPU_PREEMPTED;
}

/* A thread leaves its CPU that took it as s->running. An execve by a thread that is not the main
 * one swaps their tids (exchange_tids()), long before sched_process_exec is raised, and maybe
 * before the main thread has left its CPU for ever. Returns the word of its switch. */
static __noinline __u64 log_exec(struct cpu_stage *s, __u32 cpu, struct task_struct *prev,
				 __u64 now, __u64 word)
{
	__u32 tid = prev->pid, before = s->running;

	if (tid != (__u32)prev->tgid) /* was the main thread */
		return word ^ (__u64)(tid ^ before) << SCHED_A_SHIFT;
	if (!(task_state(prev) & TASK_DEAD))
		stage_at(s, cpu, SCHED_WHEN(now, 0),
			 SCHED_WORD(SCHED_KIND_EXEC, 0, 0, tid, before) | SCHED_A_TRACED);
	return word;
}

/* Without the marks of threads whose region is closed. */
static __always_inline __u64 only_open(__u64 word, struct task_struct *prev,
				       struct task_struct *next)
{
	if (!in_region(prev))
		word &= ~SCHED_A_TRACED;
	if (!in_region(next))
		word &= ~SCHED_B_TRACED;
	return word;
}

static __always_inline int log_switch(void *ctx, bool preempt, struct task_struct *prev,
				      struct task_struct *next, __u32 prev_state)
{
	__u32 prev_tid = prev->pid, next_tid = next->pid, next_entry = thread_entry(next_tid);
	__u32 cpu = bpf_get_smp_processor_id(), reason;
	__u64 now, stack, call = 0;
	struct cpu_stage *s;
	/* Whether they are traced and recorded stays in the word: registers are few. */
	__u64 word = SCHED_WORD(SCHED_KIND_SWITCH, 0, (__u8)(next->prio + FTRACE_PRIO_BIAS),
				prev_tid, next_tid);

	if (is_traced(prev_tid))
		word |= SCHED_A_TRACED;
	if (trace_all ? next_tid != 0 : next_entry & THREAD_TRACED)
		word |= SCHED_B_TRACED;
	if (has_regions) {
		if (word & SCHED_A_TRACED && prev_state & TASK_DEAD && !in_region(prev))
			log_death(prev, prev_tid);
		word = only_open(word, prev, next);
	}
	if (!(word & (SCHED_A_TRACED | SCHED_B_TRACED)))
		return 0;
	s = bpf_map_lookup_elem(&stages, &cpu);
	if (!s)
		return 0;
	now = bpf_ktime_get_ns();
	if (has_regions) { /* closed meanwhile */
		word = only_open(word, prev, next);
		if (!(word & (SCHED_A_TRACED | SCHED_B_TRACED)))
			return 0;
	}
	name_once(next, next_entry);
	if (word & SCHED_A_TRACED) {
		if (s->running != prev_tid)
			s->running = log_unseen_dispatch(s, cpu, prev, now);
		reason = leave_reason(prev, preempt, prev_state, now, &call);
		if (s->running != prev_tid)
			word = log_exec(s, cpu, prev, now, word);
		if (wants_stack(reason)) {
			stack = stack_word(ctx, SCHED_STACK_OF_PREV, true);
			if (stack)
				stage_at(s, cpu, SCHED_WHEN(now, 0), stack);
		}
	} else if (leaves_runnable(prev, preempt, prev_state)) {
		reason = FTRACE_OFFCPU_PREEMPTED;
	} else {
		reason = blocked_reason(prev_state);
	}
	stage_at(s, cpu, SCHED_WHEN(now, call), word | reason << SCHED_REASON_SHIFT);
	s->running = word & SCHED_B_TRACED ? next_tid : 0;
	s->running_task = (__u64)next;
	s->switched = now;
	if (word & SCHED_A_TRACED) {
		prev_tid = word >> SCHED_A_SHIFT & FTRACE_TID_MASK;
		if (reason == FTRACE_OFFCPU_DEAD)
			log_death(prev, prev_tid);
		else if (s->renamed)
			log_own_rename(prev, prev_tid);
	}
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
	__u32 tid = p->pid;
	struct thread_facts *facts = facts_of(tid);
	enum ftrace_wakeup_context context;
	struct task_struct *waker;

	if (!facts || (!trace_all && !(facts->entry & THREAD_TRACED)) || !in_region(p))
		return 0;
	waker = bpf_get_current_task_btf();
	if (p == waker)
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
