/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handles the tracepoints of high-resolution timers, for the families of timers and of servers.
 */
SEC("tp_btf/hrtimer_start")
int BPF_PROG(server_timer_on_hrtimer_start, struct hrtimer *timer)
{
	struct task_struct *throttled = replenished_by(timer);

	if (throttled) {
		if (is_on(FTrace_EVT_server_exhaust))
			server_is_throttled(throttled);
	} else if (is_on(FTrace_EVT_timer_post)) {
		if (timer_was_armed(ctx) && is_on(FTrace_EVT_timer_delete))
			timer_is_cancelled(bpf_get_current_task_btf(), timer);
		timer_is_armed(bpf_get_current_task_btf(), timer);
	}
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(server_timer_on_hrtimer_expire_entry, struct hrtimer *timer)
{
	struct task_struct *throttled = replenished_by(timer);
	__s64 time;

	if (throttled) {
		if (is_on(FTrace_EVT_server_replenish))
			server_is_replenished(throttled);
	} else if (is_on(FTrace_EVT_timer_wakeup_start) && read_expiry_time(ctx + 1, &time)) {
		timer_expires(timer, time);
	}
	return 0;
}
