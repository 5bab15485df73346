/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Logs families 1, 9 and A: what the traced programs log themselves, through the probes of
 * <ovnitrace/user_event.h>; and what FTrace_enable, FTrace_disable and FTrace_set_filter do to a
 * capture.
 *
 * Everything that comes from the program is checked: it may log its own events and nothing else, or
 * it could forge what the scheduler did, or records that describe the file.
 */

ARRAY(user_probes, struct user_probe, 1); /* set by the loader */

__u64 user_refused = 0; /* events of codes that a program may not log */

/* ---- enabled and disabled processes ------------------------------------------------------------
 */

/* Which run of a program a tgid stands for: a tid comes to other processes, and a process to other
 * programs. */
struct program_run {
	__u64 start;
	__u64 exec;
};

/* Processes that called FTrace_disable last; enabled is what a program starts with. When too many
 * are disabled the one that logged longest ago is forgotten, and enabled again. */
MAP(LRU_HASH, 0, disabled, __u32, struct program_run, 16384);
__u32 any_disabled = 0; /* set with the first one; until then the map is not read */

static __always_inline struct program_run run_of(struct task_struct *p)
{
	struct program_run run = {};

	run.start = p->group_leader->start_time;
	if (bpf_core_field_exists(p->group_leader->self_exec_id))
		run.exec = p->group_leader->self_exec_id;
	return run;
}

static __always_inline bool is_disabled(struct task_struct *current)
{
	__u32 pid = current->tgid;
	struct program_run *since, run;

	if (!any_disabled)
		return false;
	since = bpf_map_lookup_elem(&disabled, &pid);
	if (!since)
		return false;
	run = run_of(current);
	return since->start == run.start && since->exec == run.exec;
}

static __always_inline void enable(struct task_struct *current, bool on)
{
	__u32 pid = current->tgid;
	struct program_run run;

	if (on) {
		bpf_map_delete_elem(&disabled, &pid);
		return;
	}
	run = run_of(current);
	bpf_map_update_elem(&disabled, &pid, &run, BPF_ANY);
	any_disabled = 1;
}

/* ---- what a program may log --------------------------------------------------------------------
 */

#define FAST_IPOINT 0x8000 /* bit of a code */

static __always_inline bool is_own_event(__u16 code)
{
	__u16 family = code & FTrace_family_mask;

	return (family == FTrace_EVT_user_event_0 && code <= FTrace_EVT_user_event_14) ||
	       code == FTrace_EVT_ipoint || code == FTrace_EVT_data_pointer;
}

const volatile __u32 recorder_uid = 0; /* who records; set by the loader before loading */

/* A filter acts on the whole capture. With -a, that includes other users' programs, so they may not
 * set one. Not bpf_get_current_uid_gid(), which counts in the user namespace of the caller. */
static __always_inline bool may_filter(struct task_struct *current)
{
	return marks_of(current->pid) & THREAD_PROGRAM ||
	       BPF_CORE_READ(current, cred, uid.val) == recorder_uid;
}

/* FTrace_set_filter(code, status). It changes nothing for the scheduler's family, nor for those
 * that the user of ovnitrace has not chosen, and then it is not logged either. */
static __always_inline bool is_filter(__u16 code, __u32 status)
{
	return code >= FTrace_filter_trace_Events && code <= FTrace_filter_timer && status <= 1 &&
	       (chosen & FAMILY(code));
}

/* Logs the event while the family is filtered, so no event of the family comes between the two that
 * say that it is filtered and no longer filtered. */
static __always_inline void set_filter(__u16 code, __u16 status, __u32 par2, __u32 tid)
{
	if (status)
		__sync_fetch_and_and(&families, ~FAMILY(code));
	log_full(code, status, par2, FAMILY_OWN | tid, 0);
	if (!status)
		__sync_fetch_and_or(&families, FAMILY(code));
}

/* ---- the probes --------------------------------------------------------------------------------
 */

static __always_inline __u32 argument(struct pt_regs *ctx, const struct user_argument *what)
{
	__u64 value = 0;

	if (!what->in_register)
		return what->value;
	/* The place is not known to the verifier: so it is read as memory of the kernel is. */
	bpf_probe_read_kernel(&value, sizeof(value), (char *)ctx + (what->value & 0x1ff));
	return (__u32)value;
}

static __always_inline void log_own(struct pt_regs *ctx, struct user_probe *probe,
				    struct task_struct *current)
{
	__u32 type = argument(ctx, &probe->arguments[0]);
	__u32 par1 = argument(ctx, &probe->arguments[1]);
	__u32 par2 = argument(ctx, &probe->arguments[2]);
	__u16 code = type & FTRACE_CODE_MASK;

	if (type & ~(FAST_IPOINT | FTRACE_CODE_MASK) || par1 > 0xffff)
		code = FTrace_EVT_empty;
	if (is_own_event(code)) {
		if (is_on(code) && !is_disabled(current) && in_region(current))
			log_full(code, par1, par2, FAMILY_OWN | current->pid, 0);
	} else if (is_filter(code, par1) && may_filter(current)) {
		set_filter(code, par1, par2, current->pid);
	} else {
		__sync_fetch_and_add(&user_refused, 1);
	}
}

/* With --control, lets the program itself start and stop its region in this way, whatever the
 * chains say. */
static __always_inline void set_region(struct task_struct *current, __u32 event, __u32 tid,
				       bool all)
{
	struct visitor v = {};

	if (!has_regions)
		return;
	v.pid = current->tgid;
	v.tid = tid;
	do_event(&v, event,
		 CONTROL_PROGRAM << FTRACE_REGION_TYPE_SHIFT | event << FTRACE_REGION_EVENT_SHIFT |
			 (all ? FTRACE_REGION_BCAST : 0),
		 all);
	if (v.visit)
		visit_threads(&v, false);
}

/* Returns whether the tid is that of a thread of the process. Where the kernel cannot say, no. */
static __always_inline bool is_thread_of(__u32 pid, __u32 tid)
{
	struct bpf_iter_task it;
	struct task_struct *p;
	bool found = false;

	if (!has_kfunc(KFUNC_ITER_TASK_NEW))
		return false;
	kfunc_iter_task_new(&it, (void *)0, BPF_TASK_ITER_ALL_THREADS);
	while ((p = kfunc_iter_task_next(&it)))
		if ((__u32)p->pid == tid && (__u32)p->tgid == pid)
			found = true;
	kfunc_iter_task_destroy(&it);
	return found;
}

/* FTrace_fire(event, tid, bcast). A program may fire for its own threads only. */
static __always_inline void fire(struct pt_regs *ctx, struct user_probe *probe,
				 struct task_struct *current)
{
	__u32 event = argument(ctx, &probe->arguments[0]);
	__u32 tid = argument(ctx, &probe->arguments[1]);
	__u32 all = argument(ctx, &probe->arguments[2]);
	__u32 own = current->pid;

	if (!tid)
		tid = own;
	if (event <= CONTROL_THREADID && (tid == own || is_thread_of(current->tgid, tid)))
		set_region(current, event, tid, all);
	else
		__sync_fetch_and_add(&user_refused, 1);
}

/* Handles a nop of the program. The cookie is the number of its probe. */
SEC("uprobe")
int on_user_probe(struct pt_regs *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	__u32 number = bpf_get_attach_cookie(ctx);
	struct user_probe *probe = bpf_map_lookup_elem(&user_probes, &number);

	keep_own_stack(ctx);
	if (!probe || !is_traced(current->pid))
		return 0;
	switch (probe->kind) {
	case USER_PROBE_EVENT:
		log_own(ctx, probe, current);
		break;
	case USER_PROBE_ENABLE:
		enable(current, true);
		set_region(current, CONTROL_START, current->pid, false);
		if (in_region(current))
			log_thread(FTrace_EXT_enable, current->pid, 0);
		break;
	case USER_PROBE_DISABLE:
		enable(current, false);
		if (in_region(current))
			log_thread(FTrace_EXT_disable, current->pid, 0);
		set_region(current, CONTROL_STOP, current->pid, false);
		break;
	case USER_PROBE_FIRE:
		fire(ctx, probe, current);
		break;
	}
	return 0;
}
