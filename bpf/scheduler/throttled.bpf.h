/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Traced threads that are off their CPU because their cgroup has no CPU quota left. No tracepoint
 * shows when it has some again. It gets some in two timers of the kernel, so these threads are
 * noted, and looked at when one of those timers has expired (bpf/causes.bpf.c).
 */
#ifndef OVNITRACE_THROTTLED_H
#define OVNITRACE_THROTTLED_H

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct throttled_threads);
} throttled SEC(".maps");

/* With CONFIG_CFS_BANDWIDTH. */
struct cfs_bandwidth {
	struct hrtimer period_timer, slack_timer;
} __attribute__((preserve_access_index));
struct task_group {
	struct cfs_bandwidth cfs_bandwidth;
} __attribute__((preserve_access_index));
struct task_struct___grouped {
	struct task_group *sched_task_group;
} __attribute__((preserve_access_index));

/* `p` leaves its CPU. One that is forgotten is throttled until it gets a CPU, to us. */
static __always_inline void note_throttled(struct task_struct *p)
{
	struct task_struct___grouped *grouped = (void *)p;
	struct throttled_threads *all;
	struct throttled_thread *one;
	__u32 zero = 0;

	if (!bpf_core_field_exists(grouped->sched_task_group->cfs_bandwidth.period_timer))
		return;
	all = bpf_map_lookup_elem(&throttled, &zero);
	if (!all)
		return;
	if (!all->timers[0]) { /* those of all groups call the same */
		all->timers[1] = (__u64)BPF_CORE_READ(grouped, sched_task_group,
						      cfs_bandwidth.slack_timer.function);
		all->timers[0] = (__u64)BPF_CORE_READ(grouped, sched_task_group,
						      cfs_bandwidth.period_timer.function);
	}
	one = &all->of[__sync_fetch_and_add(&all->next, 1) & (CAPTURE_THROTTLED - 1)];
	one->tid = p->pid;
	one->pid = p->tgid;
	if (!__sync_lock_test_and_set(&one->task, (__u64)p))
		__sync_fetch_and_add(&all->left, 1);
}

#endif
