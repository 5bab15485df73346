/*
 * The ends of the system calls that change priorities and policies, for the families that these concern.
 */

/* 6.7, c68a78ffe2cb "bpf: Introduce task open coded iterator kfuncs". */
enum { BPF_TASK_ITER_ALL_THREADS = 1 };
extern int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *task,
			     unsigned int flags) __ksym __weak;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __ksym __weak;
extern void bpf_iter_task_destroy(struct bpf_iter_task *it) __ksym __weak;

static __always_inline void look_at_scheduling(struct task_struct *p)
{
	if (is_on(FTrace_EVT_set_priority))
		look_at_priority(p);
	if (is_on(FTrace_EVT_server_create))
		look_at_server(p);
}

/* One has succeeded. If it was not for the caller's `own` thread, it was for a thread, a group or a user by an id of
 * the caller's namespace: all threads are looked at. */
static __always_inline void scheduling_was_set(struct task_struct *current, bool own)
{
	struct bpf_iter_task it;
	struct task_struct *p;

	look_at_scheduling(current);
	if (own || !bpf_iter_task_new || !bpf_iter_task_next || !bpf_iter_task_destroy)
		return;
	bpf_iter_task_new(&it, (void *)0, BPF_TASK_ITER_ALL_THREADS);
	while ((p = bpf_iter_task_next(&it)))
		look_at_scheduling(p);
	bpf_iter_task_destroy(&it);
}
