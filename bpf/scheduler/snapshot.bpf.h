/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records the state of the threads that were alive before the capture.
 */

/* Without trace_all: the processes whose threads are to be traced, as the loader counts pids. Set
 * by the loader before loading. */
const volatile __u32 target_pids[CAPTURE_TARGETS] = {};
const volatile __u32 targets = 0;

/* The same processes, as the machine counts pids; 0: not found. Set by note_target(). */
__u32 found_pids[CAPTURE_TARGETS] = {};

/* Whether transitions are logged. If not, a recorded state would soon be out of date. Set by the
 * loader before loading. */
const volatile bool has_transitions = true;

__u32 threads_found = 0; /* by snapshot() */
__u32 newly_traced = 0;	 /* by mark_targets(), set to 0 by the loader */

/* With -t: the threads, as the loader counts tids. */
const volatile __u32 target_tids[CAPTURE_TARGETS] = {};
const volatile __u32 tids_used = 0;

/* Returns the number of an id in the loader's PID namespace: each namespace counts its own ids. The
 * iterator visits only threads of that namespace and of namespaces inside it, so all have an id at
 * that level. */
static __always_inline __u32 number_for_loader(struct pid *pid)
{
	struct task_struct *loader = bpf_get_current_task_btf();
	__u32 level = BPF_CORE_READ(loader, thread_pid, level), number = 0;

	if (pid)
		bpf_probe_read_kernel(&number, sizeof(number),
				      (char *)pid + bpf_core_field_offset(struct pid, numbers) +
					      level * bpf_core_type_size(struct upid) +
					      bpf_core_field_offset(struct upid, nr));
	return number;
}

/* Returns whether a thread is of a target. If so, notes the pid of the target. */
static __always_inline bool note_target(struct task_struct *p)
{
	__u32 pid = number_for_loader(BPF_CORE_READ(p, group_leader, thread_pid));

	for (__u32 n = 0; n < CAPTURE_TARGETS && n < targets; n++)
		if (target_pids[n] == pid) {
			found_pids[n] = p->tgid;
			return true;
		}
	return false;
}

static __always_inline bool is_chosen_tid(struct task_struct *p)
{
	__u32 tid = number_for_loader(BPF_CORE_READ(p, thread_pid));

	for (__u32 n = 0; n < CAPTURE_TARGETS && n < tids_used; n++)
		if (target_tids[n] == tid)
			return true;
	return false;
}

/* With filters, notes which of them a living thread passes. */
static __noinline int look_at_fits(struct task_struct *p)
{
	struct thread_facts *facts = facts_of(p->pid),
			    *parent = facts_of(BPF_CORE_READ(p, real_parent, pid));
	__u32 fits = visible_fits(p), before, exit_state = BPF_CORE_READ(p, exit_state);
	bool traced;

	if (!facts || !parent || exit_state)
		return 0;
	if (note_target(p) || (!only_targets && parent->fits & FITS_SCOPE))
		fits |= FITS_SCOPE;
	if (tids_used && is_chosen_tid(p))
		fits |= FITS_TID;
	fits |= facts->fits & (FITS_SCOPE | FITS_TID);
	before = __sync_fetch_and_or(&facts->fits, fits);
	__sync_fetch_and_and(&facts->fits, fits | FITS_SHOWN | FITS_ENTERED);
	traced = marks_of(p->pid) & THREAD_TRACED;
	if ((fits & ~before) & FITS_SCOPE || traced != passes(fits))
		newly_traced++;
	if (passes(fits) && !traced) {
		__sync_fetch_and_or(&facts->fits, FITS_SHOWN);
		set_traced(p->pid, 0);
	} else if (traced && !passes(fits)) {
		end_recording(p);
	}
	return 0;
}

/* Lets the threads of the targets be traced and, unless only_targets, those of their living
 * descendants. The loader runs it until it finds none any more: a child may be visited before its
 * parent, and threads are created meanwhile. */
SEC("iter/task")
int mark_targets(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	__u32 tid, parent;

	if (!p || !p->pid)
		return 0;
	tid = p->pid;
	if (selects)
		return look_at_fits(p);
	if (marks_of(tid) & THREAD_TRACED)
		return 0;
	parent = BPF_CORE_READ(p, real_parent, pid);
	if (note_target(p) || (!only_targets && marks_of(parent) & THREAD_TRACED)) {
		set_traced(tid, 0);
		newly_traced++;
	}
	return 0;
}

/* Lists the threads that are traced, for --dry-run. */
SEC("iter/task")
int list_traced(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct listed_thread one = {};

	if (!p || !p->pid || !is_traced(p->pid))
		return 0;
	one.tid = p->pid;
	one.pid = p->tgid;
	bpf_probe_read_kernel_str(one.comm, sizeof(one.comm), p->comm);
	bpf_seq_write(ctx->meta->seq, &one, sizeof(one));
	return 0;
}

/* Returns whether on_newtask records a thread, as a new one. A thread that is being created can
 * be visited before it is announced, and would be recorded as two. */
static __always_inline bool is_announced(struct task_struct *p)
{
	return p->__state & TASK_NEW && BPF_CORE_READ(p, start_time) >= complete_since;
}

/* Records the threads that are alive. The loader has marked them as traced, and has waited until
 * every switch that was under way at that time is over. The clock is read after the state: a
 * transition before that instant says more than the snapshot, and one after it agrees with it. */
SEC("iter/task")
int snapshot(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct life_record r;

	if (!p || !p->pid)
		return 0;
	snapshot_holder(p);
	if (!is_traced(p->pid) || is_announced(p))
		return 0;
	threads_found++;
	change_marks(p->pid, THREAD_NAMED, 0);
	life_fill(&r, LIFE_SNAPSHOT, p,
		  has_transitions ? snapshot_word(p, p->on_cpu)
				  : FTRACE_SNAPSHOT_NO_CPU << FTRACE_SNAPSHOT_CPU_SHIFT);
	if ((r.arg & FTRACE_SNAPSHOT_STATE_MASK) == OVNI_THREAD_PAUSED)
		r.call = blocked_call(p);
	note_found(p, r.arg);
	life_fill_parent(&r, p);
	fill_cgroup(&r, p);
	if (!try_with_cpus(&r, p))
		life_count_lost();
	return 0;
}
