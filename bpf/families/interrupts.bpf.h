/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Logs family 3: interrupts that hit a traced thread; with trace_all also those that hit the idle
 * task. They show which interrupts take time from a thread. The interrupt that wakes a thread is in
 * the record of the wakeup.
 */
static __always_inline int log_interrupt(__u16 code, __u16 number)
{
	struct task_struct *current;

	if (!is_on(code))
		return 0;
	current = bpf_get_current_task_btf();
	if (trace_all || is_recorded(current))
		log_full(code, number, current->pid, 0, 0);
	return 0;
}

/* An interrupt request (/proc/interrupts has the number). */
SEC("tp_btf/irq_handler_entry")
int BPF_PROG(irq_on_irq_handler_entry, int irq, struct irqaction *action)
{
	return log_interrupt(FTrace_EVT_interrupt_start, irq & 0x3fff);
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(irq_on_irq_handler_exit, int irq, struct irqaction *action, int ret)
{
	return log_interrupt(FTrace_EVT_interrupt_end, irq & 0x3fff);
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(irq_on_softirq_entry, unsigned int number)
{
	return log_interrupt(FTrace_EVT_interrupt_start, FTRACE_INTERRUPT_SOFT | number);
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(irq_on_softirq_exit, unsigned int number)
{
	return log_interrupt(FTrace_EVT_interrupt_end, FTRACE_INTERRUPT_SOFT | number);
}

/* On x86 the timer and the interrupts from other CPUs are no interrupt requests: they come through
 * the local APIC, each kind with tracepoints of its own. */
#define APIC_VECTOR(kind)                                                                          \
	SEC("tp_btf/" #kind "_entry")                                                              \
	int BPF_PROG(irq_on_##kind##_entry, int vector)                                            \
	{                                                                                          \
		return log_interrupt(FTrace_EVT_interrupt_start,                                   \
				     FTRACE_INTERRUPT_VECTOR | vector);                            \
	}                                                                                          \
	SEC("tp_btf/" #kind "_exit")                                                               \
	int BPF_PROG(irq_on_##kind##_exit, int vector)                                             \
	{                                                                                          \
		return log_interrupt(FTrace_EVT_interrupt_end, FTRACE_INTERRUPT_VECTOR | vector);  \
	}

APIC_VECTOR(local_timer)
APIC_VECTOR(reschedule)
APIC_VECTOR(call_function)
APIC_VECTOR(call_function_single)
APIC_VECTOR(irq_work)
