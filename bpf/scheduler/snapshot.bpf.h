/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records the state of the threads that were alive before the capture.
 */

/* Without trace_all: the processes whose threads are to be traced, as the loader counts pids. Set
 * by the loader before loading. */
const volatile __u32 target_pids[CAPTURE_TARGETS] = {};
const volatile __u32 targets = 0;

/* Whether transitions are logged. If not, a recorded state would soon be out of date. Set by the
 * loader before loading. */
const volatile bool has_transitions = true;

__u32 newly_traced = 0; /* by mark_targets(), set to 0 by the loader */

/* Returns the process id of a thread in the loader's PID namespace: each namespace counts its own
 * ids. The iterator visits only threads of that namespace and of namespaces inside it, so all have
 * an id at that level. */
static __always_inline __u32 pid_for_loader(struct task_struct *p)
{
	struct task_struct *loader = bpf_get_current_task_btf();
	struct pid *pid = BPF_CORE_READ(p, group_leader, thread_pid);
	__u32 level = BPF_CORE_READ(loader, thread_pid, level), number = 0;

	if (pid)
		bpf_probe_read_kernel(&number, sizeof(number),
				      (char *)pid + bpf_core_field_offset(struct pid, numbers) +
					      level * bpf_core_type_size(struct upid) +
					      bpf_core_field_offset(struct upid, nr));
	return number;
}

static __always_inline bool is_target(struct task_struct *p)
{
	__u32 pid = pid_for_loader(p);

	for (__u32 n = 0; n < CAPTURE_TARGETS && n < targets; n++)
		if (target_pids[n] == pid)
			return true;
	return false;
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
	if (marks_of(tid) & THREAD_TRACED)
		return 0;
	parent = BPF_CORE_READ(p, real_parent, pid);
	if (is_target(p) || (!only_targets && marks_of(parent) & THREAD_TRACED)) {
		set_traced(tid, 0);
		newly_traced++;
	}
	return 0;
}

/* Whether on_newtask records a thread, as a new one. A thread that is being created can be visited
 * before it is announced, and would be recorded as two. */
static __always_inline bool is_announced(struct task_struct *p)
{
	return task_state(p) & TASK_NEW && BPF_CORE_READ(p, start_time) >= complete_since;
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
	change_marks(p->pid, THREAD_NAMED, 0);
	life_fill(&r, LIFE_SNAPSHOT, p,
		  has_transitions ? snapshot_word(p, p->on_cpu)
				  : FTRACE_SNAPSHOT_NO_CPU << FTRACE_SNAPSHOT_CPU_SHIFT);
	if ((r.arg & FTRACE_SNAPSHOT_STATE_MASK) == OVNI_THREAD_PAUSED)
		r.call = blocked_call(p);
	if (!try_with_cpus(&r, p))
		life_count_lost();
	return 0;
}
