/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Logs the system calls that families record. The tracepoints are raised for every call of every
 * thread, so the programs test the number of the call first.
 */

/* What the calls are to the families. */
enum call {
	CALL_OTHER = 0,
	CALL_SET_OWN_NICE,  /* nice of i386 */
	CALL_SETPRIORITY,   /* (which, whose, …) */
	CALL_SCHED_SET,	    /* (whose, …): sched_setparam, sched_setscheduler, sched_setattr */
	CALL_FUTEX,	    /* (futex, operation, …) */
	CALL_FUTEX_WAIT,    /* (futex, …) or, of futex_waitv, (array of them, …) */
	CALL_FUTEX_WAKE,    /* (futex, …) */
	CALL_FUTEX_REQUEUE, /* (array of two: from and to, …) */
};

#define MAX_CALL 512
#define FUTEX2_CALLS                                                                               \
	[449] = CALL_FUTEX_WAIT, [454] = CALL_FUTEX_WAKE, [455] = CALL_FUTEX_WAIT,                 \
	[456] = CALL_FUTEX_REQUEUE
#if defined(__TARGET_ARCH_x86)
/* arch/x86/entry/syscalls/syscall_64.tbl, and syscall_32.tbl for programs of 32 bits */
static const __u8 calls[MAX_CALL] = {
	[141] = CALL_SETPRIORITY, [142] = CALL_SCHED_SET, [144] = CALL_SCHED_SET,
	[314] = CALL_SCHED_SET,	  [202] = CALL_FUTEX,	  FUTEX2_CALLS,
};
static const __u8 compat_calls[MAX_CALL] = {
	[34] = CALL_SET_OWN_NICE, [97] = CALL_SETPRIORITY,
	[154] = CALL_SCHED_SET,	  [156] = CALL_SCHED_SET,
	[351] = CALL_SCHED_SET,	  [240] = CALL_FUTEX,
	[422] = CALL_FUTEX,	  FUTEX2_CALLS,
};
#else
/* include/uapi/asm-generic/unistd.h; calls of arm64's programs of 32 bits are ignored */
static const __u8 calls[MAX_CALL] = {
	[118] = CALL_SCHED_SET, [119] = CALL_SCHED_SET, [140] = CALL_SETPRIORITY,
	[274] = CALL_SCHED_SET, [98] = CALL_FUTEX,	FUTEX2_CALLS,
};
static const __u8 compat_calls[MAX_CALL] = {};
#endif

static __always_inline enum call call_of(struct pt_regs *regs, bool compat)
{
#if defined(__TARGET_ARCH_x86)
	__u32 number = regs->orig_ax;
#else
	__u32 number = regs->syscallno;
#endif

	barrier_var(number); /* so that the test is of what is the index */
	if (number >= MAX_CALL)
		return CALL_OTHER;
	return compat ? compat_calls[number] : calls[number];
}

static __always_inline __u64 first_argument(struct pt_regs *regs, bool compat)
{
#if defined(__TARGET_ARCH_x86)
	return compat ? regs->bx : regs->di;
#else
	return regs->orig_x0; /* its register gets the result */
#endif
}

static __always_inline __u32 second_argument(struct pt_regs *regs, bool compat)
{
#if defined(__TARGET_ARCH_x86)
	return compat ? regs->cx : regs->si;
#else
	return regs->regs[1];
#endif
}

/* Returns which futex a call is about. */
static __always_inline __u32 futex_of(enum call call, __u64 first)
{
	__u64 futex[2] = {}; /* struct futex_waitv: value, address */

	if (call != CALL_FUTEX_REQUEUE)
		return first;
	bpf_probe_read_user(futex, sizeof(futex), (void *)first);
	return futex[1];
}

static __always_inline enum futex_action action_of(enum call call, __u32 operation)
{
	if (call == CALL_FUTEX)
		return futex_action(operation);
	return call == CALL_FUTEX_WAIT ? FUTEX_ACTION_WAIT : FUTEX_ACTION_POST;
}

TWIN_PROG("tp_btf/sys_enter", mutex_on_sys_enter, 1, struct pt_regs *regs, long id)
{
	struct task_struct *current = bpf_get_current_task_btf();
	bool compat = in_compat_syscall(current);
	enum call call = call_of(regs, compat);

	if (call >= CALL_FUTEX && is_on(FTrace_EVT_mutex_wait) && is_recorded(current))
		futex_begins(current->pid, action_of(call, second_argument(regs, compat)),
			     futex_of(call, first_argument(regs, compat)));
	return 0;
}

TWIN_PROG("tp_btf/sys_exit", prio_mutex_server_on_sys_exit, 2, struct pt_regs *regs, long result)
{
	struct task_struct *current = bpf_get_current_task_btf();
	bool compat = in_compat_syscall(current);
	enum call call = call_of(regs, compat);
	__u64 first;

	if (call == CALL_OTHER)
		return 0;
	first = first_argument(regs, compat);
	if (call >= CALL_FUTEX) {
		if (is_on(FTrace_EVT_mutex_lock) && is_recorded(current))
			futex_ends(current->pid, action_of(call, second_argument(regs, compat)),
				   first, result);
		return 0;
	}
	if (!result)
		scheduling_was_set(current,
				   call == CALL_SET_OWN_NICE || /* or for the thread 0: */
					   (!(__u32)first && (call == CALL_SCHED_SET ||
							      !second_argument(regs, compat))));
	return 0;
}
