/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Family E: idle states and frequencies of all CPUs, whoever ran there before.
 */
#define POWER_IDLE_END 0xffffffffu /* PWR_EVENT_EXIT */

SEC("tp_btf/cpu_idle")
int BPF_PROG(power_on_cpu_idle, unsigned int state, unsigned int cpu)
{
	__u16 code = state == POWER_IDLE_END ? FTrace_EXT_idle_end : FTrace_EXT_idle_start;

	if (is_on(code))
		log_full(code, 0, state == POWER_IDLE_END ? 0 : state, 0, 0);
	return 0;
}

SEC("tp_btf/cpu_frequency")
int BPF_PROG(power_on_cpu_frequency, unsigned int khz, unsigned int cpu)
{
	if (is_on(FTrace_EXT_frequency))
		log_full(FTrace_EXT_frequency, cpu, khz, 0, 0);
	return 0;
}
