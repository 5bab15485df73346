/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handles the ends of the system calls that change priorities and policies, for all families that
 * record such changes.
 */

static __always_inline void look_at_scheduling(struct task_struct *p)
{
	if (is_on(FTrace_EVT_set_priority))
		look_at_priority(p);
	if (is_on(FTrace_EVT_server_create))
		look_at_server(p);
}

/* One has succeeded. If it was not for the caller's `own` thread, it was for a thread, a group or a
 * user by an id of the caller's namespace: all threads are looked at. */
static __always_inline void scheduling_was_set(struct task_struct *current, bool own)
{
	struct bpf_iter_task it;
	struct task_struct *p;

	look_at_scheduling(current);
	if (own || !has_kfunc(KFUNC_ITER_TASK_NEW))
		return;
	kfunc_iter_task_new(&it, (void *)0, BPF_TASK_ITER_ALL_THREADS);
	while ((p = kfunc_iter_task_next(&it)))
		look_at_scheduling(p);
	kfunc_iter_task_destroy(&it);
}
