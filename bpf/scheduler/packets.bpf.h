/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Says whether a thread was woken by a packet of the running thread. A packet to an address of the
 * same machine uses a loopback device: the sender puts it into a queue, and a soft interrupt takes
 * it out and wakes who waits for it. The soft interrupt nearly always runs at once, while the
 * sender is still the running thread. That alone proves nothing: it may handle another packet.
 * bpf/causes.bpf.c therefore notes the sender of each packet, and marks the CPU's staging area
 * while a packet of the running thread is handled.
 */
#ifndef OVNITRACE_PACKETS_H
#define OVNITRACE_PACKETS_H

static __always_inline bool receives_own_packet(struct task_struct *current,
						enum ftrace_wakeup_context context)
{
	struct cpu_stage *s;

	if (context != FTRACE_WAKER_SOFTIRQ)
		return false;
	s = stage_of_this_cpu();
	return s && s->receiving == stretch_of(current, context);
}

#endif
