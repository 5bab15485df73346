/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hides the differences between kernels, each behind one small function. The functions ask the
 * running kernel's BTF (CO-RE) and never its version, because distributions backport.
 */
#ifndef OVNITRACE_KERNEL_DIFFS_H
#define OVNITRACE_KERNEL_DIFFS_H

/* The CPU moved from task_struct to thread_info in 5.16 where thread_info lies in the task
 * (bcf9033e5449 "sched: move CPU field back into thread_info if THREAD_INFO_IN_TASK=y"). */
struct thread_info___with_cpu {
	__u32 cpu;
} __attribute__((preserve_access_index));
struct task_struct___info_cpu {
	struct thread_info___with_cpu thread_info;
} __attribute__((preserve_access_index));
struct task_struct___own_cpu {
	unsigned int cpu;
} __attribute__((preserve_access_index));

static __always_inline __u32 task_cpu(struct task_struct *p)
{
	struct task_struct___info_cpu *with = (void *)p;

	if (bpf_core_field_exists(with->thread_info.cpu))
		return with->thread_info.cpu;
	return ((struct task_struct___own_cpu *)p)->cpu;
}

/* Whether a real-time thread may not run because the quota of such threads is used up: with
 * CONFIG_RT_GROUP_SCHED that of its cgroup, else, until 6.11, that of its CPU. */
struct rt_rq___throttled {
	int rt_throttled;
} __attribute__((preserve_access_index));
struct sched_rt_entity___grouped {
	struct rt_rq___throttled *rt_rq;
} __attribute__((preserve_access_index));
struct task_struct___rt_grouped {
	struct sched_rt_entity___grouped rt;
} __attribute__((preserve_access_index));
struct rq___rt {
	struct rt_rq___throttled rt;
} __attribute__((preserve_access_index));

static __always_inline bool is_rt_throttled(struct task_struct *p)
{
	struct task_struct___rt_grouped *grouped = (void *)p;
	struct rq___rt *rq;

	if (bpf_core_field_exists(grouped->rt.rt_rq))
		return grouped->rt.rt_rq->rt_throttled;
	if (!bpf_core_field_exists(p->se.cfs_rq->rq))
		return false;
	rq = (void *)p->se.cfs_rq->rq;
	return bpf_core_field_exists(rq->rt.rt_throttled) && rq->rt.rt_throttled;
}

/* Whether a thread that left its CPU runnable did so because its cgroup has no CPU quota left. In
 * the fair class, from 6.18 on ("sched/fair: Switch to task based throttle model") each thread is
 * taken off its runqueue on its way back to user space, and knows so. Before, the runqueue of its
 * cgroup is taken away as a whole. Without CONFIG_CFS_BANDWIDTH there is neither. */
struct task_struct___throttled {
	bool throttled;
} __attribute__((preserve_access_index));
struct cfs_rq___throttled {
	int throttle_count;
} __attribute__((preserve_access_index));

static __always_inline bool is_throttled(struct task_struct *p)
{
	struct task_struct___throttled *each = (void *)p;
	struct cfs_rq___throttled *group = (void *)p->se.cfs_rq;

	if (unlikely(p->prio < MAX_RT_PRIO))
		return p->prio >= 0 && is_rt_throttled(p);
	if (bpf_core_field_exists(each->throttled))
		return each->throttled;
	return bpf_core_field_exists(group->throttle_count) && group->throttle_count > 0;
}

/* Returns why a SCHED_DEADLINE thread that could go on may not run before its next period: enum
 * ftrace_offcpu_reason. 0: it may run. */
static __always_inline __u32 awaits_period(struct task_struct *p)
{
	struct sched_dl_entity *dl = &p->dl;

	if (likely(p->prio >= 0) || !BPF_CORE_READ_BITFIELD_PROBED(dl, dl_throttled))
		return 0;
	return BPF_CORE_READ_BITFIELD_PROBED(dl, dl_yielded) ? FTRACE_OFFCPU_NEXT_PERIOD
							     : FTRACE_OFFCPU_EXHAUSTED;
}

/* Returns the registers with which a thread entered the kernel. */
static __always_inline struct pt_regs *entry_regs(struct task_struct *p)
{
	return (struct pt_regs *)bpf_task_pt_regs(p);
}

/* Bytes from the lowest address of a thread's kernel stack to its registers. They are the same for
 * all threads. 0: not known yet. */
static __u32 regs_in_stack;

/* Returns the same without calling the helper, for the hot path of a switch. On processors with
 * slow returns (a mitigation of Spectre), that call costs more than all that is done with the
 * registers. Use it only in inlined code (kfuncs.h). */
static __always_inline struct pt_regs *entry_regs_without_call(struct task_struct *p)
{
	volatile __u32 *distance = &regs_in_stack;

	if (!has_kfunc(KFUNC_RDONLY_CAST))
		return entry_regs(p);
	/* Before 6.17, the stack is a number for the verifier, and the registers are a pointer. It
	 * then refuses their difference in 64 bits, but not in 32. */
	if (unlikely(!*distance))
		*distance = (__u32)(__u64)entry_regs(p) - (__u32)(__u64)p->stack;
	return kfunc_rdonly_cast((char *)p->stack + *distance,
				 bpf_core_type_id_kernel(struct pt_regs));
}

/* Returns whether the thread is in a system call of a 32-bit program on a 64-bit kernel. Such calls
 * have other numbers, and on x86 other registers for arguments. */
static __always_inline bool in_compat_syscall(struct task_struct *p)
{
#if defined(__TARGET_ARCH_x86)
	return p->thread_info.status & 2; /* TS_COMPAT */
#elif defined(__TARGET_ARCH_arm64)
	return entry_regs(p)->pstate & 0x10; /* PSR_MODE32_BIT */
#else
	return false;
#endif
}

/* Returns in which system call a thread with these registers is: enum ftrace_call. Threads of the
 * kernel, of io_uring and of vhost have never been in user space. They have no saved registers of
 * their own: what is in that place is zeros, or the registers of their creator. */
static __always_inline __u32 call_in(struct task_struct *p, struct pt_regs *regs)
{
	__s32 number;

#if defined(__TARGET_ARCH_x86)
	number = (__s32)regs->orig_ax;
#elif defined(__TARGET_ARCH_arm64)
	number = regs->syscallno;
#else
	return FTRACE_CALL_UNKNOWN;
#endif
	if (unlikely(number < 0) || unlikely(!regs->sp))
		return FTRACE_CALL_NONE;
	if (unlikely(in_compat_syscall(p)))
		return number < FTRACE_CALLS - FTRACE_CALL_COMPAT ? FTRACE_CALL_COMPAT + number
								  : FTRACE_CALL_UNKNOWN;
#if defined(__TARGET_ARCH_x86)
	number &= ~0x40000000; /* __X32_SYSCALL_BIT */
#endif
	return likely(number < FTRACE_CALL_COMPAT - FTRACE_CALL_NATIVE)
		       ? FTRACE_CALL_NATIVE + number
		       : FTRACE_CALL_UNKNOWN;
}

static __always_inline __u32 blocked_call(struct task_struct *p)
{
	return call_in(p, entry_regs(p));
}

/* Returns whether a thread that left its CPU runnable did so by sched_yield(). The tracepoint's
 * `preempt` is not enough: it is set only where the kernel itself was preempted, and not where a
 * thread lost its CPU on the way back to user space (exit_to_user_mode_loop() calls schedule()),
 * as most do. */
static __always_inline bool called_sched_yield(struct task_struct *p)
{
	const __u32 compat = 158; /* of i386 and of arm */
#if defined(__TARGET_ARCH_x86)
	const __u32 native = 24;
#else
	const __u32 native = 124;
#endif
	__u32 call = blocked_call(p);

	return call == FTRACE_CALL_NATIVE + native || call == FTRACE_CALL_COMPAT + compat;
}

/* The preemption count says in which context we are. arm64 keeps it in the thread_info of the
 * running task. x86 keeps it in a per-CPU variable: of its own until 6.1 and from 6.15 on, in
 * pcpu_hot between (64701838bf05 "x86/percpu: Move preempt_count next to current_task"). Its symbol
 * is not available if kallsyms lists no data (CONFIG_KALLSYMS_ALL off). But BTF has its place in
 * the per-CPU section, and the place of the run queues, and every task leads to the run queue of
 * this CPU. */
const volatile __s64 preempt_count_distance = 0; /* from this CPU's runqueue; 0: not known */

/* If a pointer to the count can be made, a plain load that may fault reads it: a helper costs four
 * times as much. The type of the pointer can be any struct that starts with a word. */
struct seqcount {
	unsigned int sequence;
} __attribute__((preserve_access_index));

static __always_inline bool read_preempt_count(struct task_struct *current, __u32 *count)
{
#if defined(__TARGET_ARCH_arm64)
	*count = (__u32)current->thread_info.preempt_count;
	return true;
#else
	char *rq;

	if (!preempt_count_distance || !bpf_core_field_exists(current->se.cfs_rq->rq))
		return false;
	rq = (char *)current->se.cfs_rq->rq;
	if (has_kfunc(KFUNC_RDONLY_CAST)) {
		struct seqcount *word = kfunc_rdonly_cast(rq + preempt_count_distance,
							  bpf_core_type_id_kernel(struct seqcount));

		*count = word->sequence;
		return true;
	}
	return !bpf_probe_read_kernel(count, sizeof(*count), rq + preempt_count_distance);
#endif
}

/* Returns for how many ns a thread has run that is being switched out. The kernel has just read the
 * clock of the run queue. 0: not known, as without CONFIG_SCHED_INFO. */
static __always_inline __u64 time_on_cpu(struct task_struct *p)
{
	__u64 clock;

	if (!bpf_core_field_exists(p->sched_info.last_arrival) ||
	    !bpf_core_field_exists(p->se.cfs_rq->rq))
		return 0;
	clock = p->se.cfs_rq->rq->clock;
	return clock > p->sched_info.last_arrival ? clock - p->sched_info.last_arrival : 0;
}

/* With PREEMPT_RT the softirq being served is counted in the task and not in the preemption count.
 */
struct task_struct___rt {
	int softirq_disable_cnt;
} __attribute__((preserve_access_index));

/* include/linux/preempt.h. Below the interrupts, 7.3 counts how often they were disabled
 * (9634d860ac15 "preempt: Introduce HARDIRQ_DISABLE_BITS"): they moved by 8 bits. */
const volatile __u32 hardirq_shift = 16; /* set by the loader before loading */
#define SOFTIRQ_SERVING 0x00000100
#define HARDIRQ_MASK	(0xfu << hardirq_shift)
#define NMI_MASK	(0xf0u << hardirq_shift)

static __always_inline enum ftrace_wakeup_context wakeup_context(struct task_struct *current)
{
	struct task_struct___rt *rt = (void *)current;
	__u32 count;

	if (!read_preempt_count(current, &count))
		return FTRACE_WAKER_UNKNOWN;
	if (bpf_core_field_exists(rt->softirq_disable_cnt))
		count |= rt->softirq_disable_cnt & SOFTIRQ_SERVING;
	if (!(count & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_SERVING)))
		return FTRACE_WAKER_TASK;
	if (count & NMI_MASK)
		return FTRACE_WAKER_NMI;
	return count & HARDIRQ_MASK ? FTRACE_WAKER_HARDIRQ : FTRACE_WAKER_SOFTIRQ;
}

/* The time at which a timer expires, ns: the second argument of hrtimer_expire_entry, which is a
 * pointer to it until 7.0. Before 91f2dc6838c1 ("bpf/btf: Fix is_int_ptr()", 6.4) no program may
 * load a pointer to a typedef of an integer from its context, so a helper reads it. As a number, an
 * address of the kernel is negative, and a time never is. */
static __always_inline bool read_expiry_time(__u64 *argument, __s64 *time)
{
	if (bpf_probe_read_kernel(time, sizeof(*time), argument))
		return false;
	return *time >= 0 || !bpf_probe_read_kernel(time, sizeof(*time), (void *)*time);
}

/* Whether a timer that is started was armed: the third argument of hrtimer_start from 7.0 on
 * (f2e388a019e4 "hrtimer: Reduce trace noise in hrtimer_start()"). Before, hrtimer_cancel is raised
 * first. */
const volatile bool start_has_was_armed = false; /* set by the loader before loading */

static __always_inline bool timer_was_armed(__u64 *ctx)
{
	return start_has_was_armed && (bool)ctx[2];
}

/* Returns whether a thread that sleeps is in the trap of the freezer of cgroup 2. `frozen` alone is
 * not enough: it is also set while a thread is stopped or waits in vfork. */
static __always_inline bool in_freezer_trap(struct task_struct *task)
{
	bool frozen = bpf_core_field_exists(task->frozen) && BPF_CORE_READ_BITFIELD(task, frozen);

	return unlikely(frozen) && task->jobctl & JOBCTL_TRAP_FREEZE;
}

/* Returns why a thread that blocked did; __state as include/linux/sched.h has it. Compound
 * states (killable and idle sleeps) are known by the bits by which ps knows them. */
static __always_inline __u32 blocked_reason(struct task_struct *p, __u32 state)
{
	if (state & (TASK_DEAD | EXIT_DEAD | EXIT_ZOMBIE))
		return FTRACE_OFFCPU_DEAD;
	if (likely(state & TASK_INTERRUPTIBLE)) /* most of them */
		return in_freezer_trap(p) ? FTRACE_OFFCPU_FROZEN : FTRACE_OFFCPU_SLEEP;
	if (state & TASK_UNINTERRUPTIBLE) {
		if (unlikely((p->flags & (PF_FROZEN | PF_KTHREAD)) == PF_FROZEN))
			return FTRACE_OFFCPU_FROZEN;
		return state & TASK_NOLOAD ? FTRACE_OFFCPU_IDLE : FTRACE_OFFCPU_DISK;
	}
	if (state & TASK_WAKING) /* a wakeup on another CPU has overwritten why: mostly a sleep */
		return FTRACE_OFFCPU_SLEEP;
	if (state & __TASK_STOPPED)
		return FTRACE_OFFCPU_STOPPED;
	if (state & __TASK_TRACED)
		return FTRACE_OFFCPU_TRACED;
	if (state & TASK_PARKED)
		return FTRACE_OFFCPU_PARKED;
	if (state & TASK_FROZEN)
		return FTRACE_OFFCPU_FROZEN;
	return FTRACE_OFFCPU_DISK; /* waiting for a lock of PREEMPT_RT, …: off the CPU in the
				      kernel */
}

#endif
