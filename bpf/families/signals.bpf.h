/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Logs family 7: signals that are sent to a traced thread or process, and those that it takes.
 */

/* include/trace/events/signal.h: what became of a signal that was sent */
enum { TRACE_SIGNAL_DELIVERED = 0, TRACE_SIGNAL_LOSE_INFO = 4 };

SEC("tp_btf/signal_generate")
int BPF_PROG(signal_on_signal_generate, int number, struct kernel_siginfo *info,
	     struct task_struct *receiver, int to_process, int result)
{
	struct task_struct *current = bpf_get_current_task_btf();
	__u32 par2 = (__u32)number << FTRACE_SIGNAL_SHIFT;

	if (!is_on(FTrace_EVT_signal) || !is_recorded(receiver))
		return 0;
	if (result != TRACE_SIGNAL_DELIVERED && result != TRACE_SIGNAL_LOSE_INFO)
		return 0; /* ignored, or pending already: nothing comes of it */
	if (to_process)
		par2 |= FTRACE_SIGNAL_PROCESS;
	if (in_task(current))
		par2 |= current->pid;
	log_thread(FTrace_EVT_signal, receiver->pid, par2);
	return 0;
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(signal_on_signal_deliver, int number, struct kernel_siginfo *info,
	     struct k_sigaction *action)
{
	struct task_struct *current = bpf_get_current_task_btf();

	if (is_on(FTrace_EVT_signal) && is_recorded(current))
		log_thread(FTrace_EVT_signal, current->pid,
			   (__u32)number << FTRACE_SIGNAL_SHIFT | FTRACE_SIGNAL_DELIVERED);
	return 0;
}
