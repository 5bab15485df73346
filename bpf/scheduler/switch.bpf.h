/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Logs the switches from and to traced threads. A thread that is not traced costs a test; a traced
 * one also costs a clock read and two stores.
 */
__u64 complete_since = -1ULL; /* ns: all programs are attached from here on; set by the loader */

/* Logs when a thread got its CPU, if no event showed that switch. There are two reasons. Some
 * kernels raise no event for certain threads, nor for the switch from such a thread to a traced
 * one. Or the thread was not traced yet. The kernel's own account says since when the thread has
 * run. Returns the tid that the thread had when it got the CPU. */
static __always_inline __u32 log_unseen_dispatch(struct cpu_stage *s, struct task_struct *p,
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
	stage_at(s, SCHED_WHEN(since, 0),
		 SCHED_WORD(SCHED_KIND_SWITCH, 0, (__u8)(p->prio + FTRACE_PRIO_BIAS), 0, p->pid) |
			 SCHED_B_TRACED);
	return p->pid;
}

/* Logs that a thread leaves the CPU that it got under the tid `before`, which it has no longer. An
 * execve by a thread that is not the main one swaps the tids of both (exchange_tids()). This
 * happens long before sched_process_exec is raised, and maybe before the main thread has left its
 * CPU for ever. Returns the word of the switch. */
static __always_inline __u64 log_exec(struct cpu_stage *s, struct task_struct *prev, __u64 now,
				      __u64 word, __u32 before)
{
	__u32 tid = prev->pid;

	if (tid != (__u32)prev->tgid) /* was the main thread */
		return word ^ (__u64)(tid ^ before) << SCHED_A_SHIFT;
	if (!(prev->__state & TASK_DEAD))
		stage_at(s, SCHED_WHEN(now, 0),
			 SCHED_WORD(SCHED_KIND_EXEC, 0, 0, tid, before) | SCHED_A_TRACED);
	return word;
}

/* Handles a thread that leaves a CPU which it was not seen to take. Returns the word of the
 * switch. */
static __noinline __u64 log_unseen(struct cpu_stage *s, struct task_struct *prev, __u64 now,
				   __u64 word)
{
	__u32 before = entered_running(prev) ? (__u32)prev->pid : log_unseen_dispatch(s, prev, now);

	/* A thread that the kernel hides may first be seen here. */
	name_once(prev, marks_of(prev->pid));
	if (wants_holders)
		end_wait(prev->pid);
	return before == (__u32)prev->pid ? word : log_exec(s, prev, now, word, before);
}

/* Returns whether a switched-out thread can still run. Before 6.15, the state in the argument is
 * out of date if a pending signal kept the thread on the run queue; the state of the thread
 * itself is running. */
static __always_inline bool leaves_runnable(struct task_struct *prev, bool preempt,
					    __u32 prev_state)
{
	return preempt || !prev_state || !prev->__state;
}

/* Returns why a traced thread that could go on leaves its CPU: enum ftrace_offcpu. */
static __noinline __u32 runnable_reason(struct task_struct *prev, bool preempt, __u64 now)
{
	struct thread_facts *facts = facts_of(prev->pid);
	__u32 period = awaits_period(prev);

	if (facts)
		look_at_affinity(prev, facts, now);
	if (facts && wants_holders)
		set_wait(facts, bpf_get_smp_processor_id() + 1, bpf_get_smp_processor_id() + 1);
	if (period)
		return period;
	if (is_throttled(prev)) {
		note_throttled(prev);
		return FTRACE_OFFCPU_THROTTLED;
	}
	return !preempt && called_sched_yield(prev) ? FTRACE_OFFCPU_YIELDED
						    : FTRACE_OFFCPU_PREEMPTED;
}

/* Removes the marks of threads whose region is closed from a switch. */
static __always_inline __u64 only_open(__u64 word, struct task_struct *prev,
				       struct task_struct *next)
{
	if (!in_region(prev))
		word &= ~SCHED_A_TRACED;
	if (!in_region(next)) {
		if (wants_holders && word & SCHED_B_TRACED)
			end_wait(next->pid);
		word &= ~SCHED_B_TRACED;
	}
	return word;
}

/* Reads an argument of sched_switch where it is needed; the compiler would read it much earlier. A
 * program has few registers, and to spill a value costs as much as the work. From 64 bytes of stack
 * on (6.13), the kernel even gives the program a separate stack. */
static __always_inline __u64 argument(__u64 *ctx, int n)
{
	barrier_var(ctx);
	return ctx[n];
}

/* Stages a switch, and notes which thread has this CPU now. */
static __always_inline void log_taken(struct cpu_stage *s, __u64 *ctx, __u64 now, __u64 call,
				      __u64 word)
{
	stage_at(s, SCHED_WHEN(now, call), word);
	s->running = word & SCHED_B_TRACED ? word >> SCHED_B_SHIFT & FTRACE_TID_MASK : 0;
	s->running_task = argument(ctx, 2);
	s->switched = now;
	if (wants_holders && word & SCHED_B_TRACED)
		end_wait(word >> SCHED_B_SHIFT & FTRACE_TID_MASK);
}

/* Handles an unrecorded thread that leaves a CPU which it was not seen to take, as
 * log_unseen_dispatch() does. */
static __noinline int log_unseen_holder(struct cpu_stage *s, struct task_struct *prev)
{
	__u64 now = bpf_ktime_get_ns(), since = now - time_on_cpu(prev), region;

	if (!s || !prev->pid || since == now || since < complete_since)
		return 0;
	if (since < s->switched)
		since = s->switched;
	region = has_regions ? about_regions(REGIONS_OPENED) : 0;
	if (since < region)
		since = region;
	stage_at(s, SCHED_WHEN(since, 0),
		 SCHED_WORD(SCHED_KIND_HOLDER, 0, (__u8)(prev->prio + FTRACE_PRIO_BIAS),
			    (__u32)prev->pid, bpf_get_smp_processor_id()));
	return 0;
}

/* Handles a switch between two unrecorded threads, on a CPU for which a traced thread waits, or
 * whose holder the trace names. While no region is open, nothing is recorded. A thread that already
 * waited when its region ended therefore counts as waiting until it runs. */
static __noinline int log_between(struct cpu_stage *s, __u64 *ctx, __u32 before)
{
	struct task_struct *prev = (void *)argument(ctx, 1), *next = (void *)argument(ctx, 2);
	__u64 now;

	if (!s)
		return 0;
	name_once(prev, marks_of(prev->pid));
	if (!has_waiters(s) || !in_any_region())
		return 0;
	if (unlikely((before & FTRACE_TID_MASK) != (__u32)prev->pid))
		log_unseen_holder(s, prev);
	name_once(next, marks_of(next->pid)); /* before `now`: it has the name since then */
	now = bpf_ktime_get_ns();
	if (!in_any_region())
		return 0; /* closed meanwhile */
	set_holder(s, next->pid, HOLDER_REPORTED);
	log_taken(s, ctx, now, 0,
		  SCHED_WORD(SCHED_KIND_SWITCH, 0, (__u8)(next->prio + FTRACE_PRIO_BIAS),
			     (__u32)prev->pid, (__u32)next->pid));
	return 0;
}

/* Handles most switches of a machine on which one program is traced. They cost only this. */
static __always_inline int pass_by(__u64 *ctx, __u32 next_tid)
{
	struct cpu_stage *s;
	__u32 before;

	if (!wants_holders)
		return 0;
	s = stage_of_this_cpu();
	if (unlikely(!s))
		return 0;
	before = s->holder;
	set_holder(s, next_tid, 0);
	if (likely(!has_waiters(s)) && likely(!(before & HOLDER_REPORTED)))
		return 0;
	return log_between(s, ctx, before);
}

/* Logs a sched_switch. `has_state`: the tracepoint has the state of prev. */
static __always_inline int log_switch(__u64 *ctx, bool has_state)
{
	struct task_struct *prev = (void *)argument(ctx, 1), *next = (void *)argument(ctx, 2);
	struct thread_marks *all = all_marks();
	__u32 prev_tid, next_tid, prev_marks, next_marks, reason, state, tid;
	__u64 now, stack, word, before, call = 0;
	struct cpu_stage *s;

	if (unlikely(!all))
		return 0;
	prev_tid = prev->pid & FTRACE_TID_MASK;
	next_tid = next->pid & FTRACE_TID_MASK;
	prev_marks = trace_all ? prev_tid != 0 : all->of[prev_tid];
	next_marks = all->of[next_tid];
	if (!trace_all && likely(!((prev_marks | next_marks) & THREAD_TRACED)))
		return pass_by(ctx, next_tid);
	/* Who they are, and whether they are traced and recorded, stays in the word. */
	word = SCHED_WORD(SCHED_KIND_SWITCH, 0, (__u8)(next->prio + FTRACE_PRIO_BIAS), prev_tid,
			  next_tid) |
	       (prev_marks & THREAD_TRACED) * SCHED_A_TRACED |
	       (trace_all ? next_tid != 0 : next_marks & THREAD_TRACED) * SCHED_B_TRACED;
	if (has_regions) {
		before = word;
		word = only_open(word, prev, next);
		if (before & ~word & SCHED_A_TRACED)
			log_death_outside(prev);
	}
	if (!(word & (SCHED_A_TRACED | SCHED_B_TRACED)))
		return pass_by(ctx, word >> SCHED_B_SHIFT);
	name_once(next, next_marks);
	s = stage_of_this_cpu();
	if (unlikely(!s))
		return 0;
	if (wants_holders) {
		if (!(word & SCHED_A_TRACED) && unlikely((holder_of(s) & FTRACE_TID_MASK) !=
							 (word >> SCHED_A_SHIFT & FTRACE_TID_MASK)))
			log_unseen_holder(s, (void *)argument(ctx, 1));
		set_holder(s, word >> SCHED_B_SHIFT, HOLDER_REPORTED);
	}
	now = bpf_ktime_get_ns();
	prev = (void *)argument(ctx, 1);
	if (has_regions) { /* closed meanwhile */
		before = word;
		word = only_open(word, prev, (void *)argument(ctx, 2));
		if (before & ~word & SCHED_A_TRACED)
			log_death_outside(prev);
		if (!(word & SCHED_A_TRACED))
			s->renamed = 0;
		if (!(word & (SCHED_A_TRACED | SCHED_B_TRACED)))
			return pass_by(ctx, word >> SCHED_B_SHIFT);
	}
	state = has_state ? argument(ctx, 3) : prev->__state;
	if (unlikely(!(word & SCHED_A_TRACED))) {
		if (wants_holders)
			name_once(prev, marks_of(prev->pid));
		reason = leaves_runnable(prev, argument(ctx, 0), state)
				 ? FTRACE_OFFCPU_PREEMPTED
				 : blocked_reason(prev, state);
		log_taken(s, ctx, now, 0, word | reason << SCHED_REASON_SHIFT);
		return 0;
	}
	if (unlikely(s->running != (word >> SCHED_A_SHIFT & FTRACE_TID_MASK)))
		word = log_unseen(s, prev, now, word);
	if (unlikely(leaves_runnable(prev, argument(ctx, 0), state))) {
		reason = runnable_reason(prev, argument(ctx, 0), now);
	} else {
		call = call_in(prev, entry_regs_without_call(prev));
		reason = blocked_reason(prev, has_state ? argument(ctx, 3) : state);
	}
	word |= reason << SCHED_REASON_SHIFT;
	if (wants_stack(reason)) {
		stack = stack_word(ctx, SCHED_STACK_OF_PREV, true);
		if (stack)
			stage_at(s, SCHED_WHEN(now, 0), stack);
	}
	log_taken(s, ctx, now, call, word);
	tid = word >> SCHED_A_SHIFT & FTRACE_TID_MASK;
	if (unlikely((word >> SCHED_REASON_SHIFT & 15) == FTRACE_OFFCPU_DEAD))
		log_death((void *)argument(ctx, 1), tid);
	else if (unlikely(s->renamed))
		log_own_rename((void *)argument(ctx, 1), tid, now);
	else
		return 0;
	s->renamed = 0;
	return 0;
}

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	return log_switch(ctx, true);
}

/* Before 5.18 (fa2c3254d7cf "sched/tracing: Don't re-read p->state when emitting sched_switch
 * event") the tracepoint has no prev_state. The loader loads the one that fits. */
SEC("tp_btf/sched_switch")
int on_switch_3_arguments(__u64 *ctx)
{
	return log_switch(ctx, false);
}
