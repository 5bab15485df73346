/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Logs what families other than the scheduler's record at a switch.
 */
SEC("tp_btf/sched_switch")
int BPF_PROG(prio_server_on_sched_switch, bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	if (is_on(FTrace_EVT_set_priority)) {
		look_at_priority(prev);
		look_at_priority(next);
	}
	if (is_on(FTrace_EVT_server_active)) {
		server_leaves_cpu(prev, preempt);
		server_gets_cpu(next);
	}
	return 0;
}
