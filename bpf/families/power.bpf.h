/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Logs family E: idle states, frequencies and stolen time of all CPUs, whether traced threads run
 * there or not.
 */
#define POWER_IDLE_END 0xffffffffu /* PWR_EVENT_EXIT */

/* ---- stolen time ----------------------------------------------------------------------------- */

/* The kernel counts at its ticks how long the hypervisor ran others instead of this CPU, in
 * kernel_cpustat. Its place in the per-CPU section is in BTF, like that of the runqueues, and to
 * this CPU's runqueue there is a way from every task. */
const volatile __s64 steal_distance = 0; /* from this CPU's runqueue; 0: not known */

struct stolen {
	__u64 counted; /* ns, of which the trace knows */
	__u32 last_us; /* in the last event */
	__u32 seen;
};

ARRAY(stolen, struct stolen, 1); /* possible CPUs, set by the loader */

/* Runs with interrupts off. Logs the first look as an event of 0, and an event when nothing more
 * was stolen for the first time. Later looks without stolen time log nothing. */
static __always_inline void look_at_stolen_time(void)
{
	struct task_struct *current = bpf_get_current_task_btf();
	__u32 cpu = bpf_get_smp_processor_id(), us = 0;
	struct stolen *of = bpf_map_lookup_elem(&stolen, &cpu);
	__u64 ns = 0;

	if (!steal_distance || !of || !is_on(FTrace_EXT_steal) ||
	    !bpf_core_field_exists(current->se.cfs_rq->rq) ||
	    bpf_probe_read_kernel(&ns, sizeof(ns), (char *)current->se.cfs_rq->rq + steal_distance))
		return;
	if (of->seen)
		us = (ns - of->counted) / 1000;
	else
		of->counted = ns;
	if (of->seen && !us && !of->last_us)
		return;
	of->seen = 1;
	of->counted += us * 1000ULL;
	of->last_us = us;
	log_full(FTrace_EXT_steal, 0, us, 0, 0);
}

/* The tick is one of these timers. */
SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(power_on_hrtimer_expire_exit, struct hrtimer *timer)
{
	look_at_stolen_time();
	return 0;
}

/* ---- idle states and frequencies ------------------------------------------------------------- */

SEC("tp_btf/cpu_idle")
int BPF_PROG(power_on_cpu_idle, unsigned int state, unsigned int cpu)
{
	__u16 code = state == POWER_IDLE_END ? FTrace_EXT_idle_end : FTrace_EXT_idle_start;

	if (is_on(code))
		log_full(code, 0, state == POWER_IDLE_END ? 0 : state, 0, 0);
	look_at_stolen_time();
	return 0;
}

SEC("tp_btf/cpu_frequency")
int BPF_PROG(power_on_cpu_frequency, unsigned int khz, unsigned int cpu)
{
	if (is_on(FTrace_EXT_frequency))
		log_full(FTrace_EXT_frequency, cpu, khz, 0, 0);
	return 0;
}
