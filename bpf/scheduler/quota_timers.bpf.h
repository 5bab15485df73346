/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the two functions that the timers of all cgroups call when a CPU quota may be refilled, and
 * the one that the timers of all threads call when a budget of SCHED_DEADLINE is replenished. It
 * looks up no symbol, which would take one more privilege and a search among 100,000 symbols.
 */
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

/* The loader runs this program before it loads bpf/causes.bpf.c. */
SEC("syscall")
int find_quota_timers(struct quota_timers *found)
{
	struct task_struct___grouped *current = (void *)bpf_get_current_task_btf();

	found->deadline = (__u64)bpf_get_current_task_btf()->dl.dl_timer.function;
	if (!bpf_core_field_exists(current->sched_task_group->cfs_bandwidth.period_timer))
		return 0;
	found->period = (__u64)BPF_CORE_READ(current, sched_task_group,
					     cfs_bandwidth.period_timer.function);
	found->slack =
		(__u64)BPF_CORE_READ(current, sched_task_group, cfs_bandwidth.slack_timer.function);
	return 0;
}
