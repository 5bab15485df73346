/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of the threads that are alive before the capture.
 */
#include <ovnitrace/thread_state.h>

const volatile __u32 snapshot_pid =
	0; /* only of this process, 0: all; set by the loader before loading */

/* The process id of a thread as the loader knows it: ids are counted anew in each PID namespace.
 * The iterator visits the threads of the loader's namespace and of those in it, so that level is
 * there. */
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

/* Threads that are alive already. The clock is read after the state: a transition before that
 * instant tells more than the snapshot, and one after it agrees with it. */
SEC("iter/task")
int snapshot(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	__u32 state, value = OVNI_THREAD_PAUSED, reason = 0;
	struct life_record r;

	if (!p || !p->pid || (snapshot_pid && pid_for_loader(p) != snapshot_pid))
		return 0;
	if (snapshot_pid)
		set_traced(p->pid);
	state = task_state(p);
	if (p->on_cpu)
		value = OVNI_THREAD_RUNNING;
	else if (!state)
		value = OVNI_THREAD_WARMING; /* whether it was woken or preempted is past */
	else
		reason = blocked_reason(state);
	life_fill(&r, LIFE_SNAPSHOT, p,
		  value | task_cpu(p) << FTRACE_SNAPSHOT_CPU_SHIFT | reason << FTRACE_REASON_SHIFT);
	life_send(&r);
	return 0;
}
