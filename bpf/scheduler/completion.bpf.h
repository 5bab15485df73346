/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Says which block device woke a thread. The kernel raises a tracepoint when a request of a device
 * is complete, wakes the threads that wait for it, and raises another one when the request has
 * ended. In between, the CPU's staging area has the place of the device (bpf/causes.bpf.c).
 */
#ifndef OVNITRACE_COMPLETION_H
#define OVNITRACE_COMPLETION_H

#define COMPLETING_PLACE (CAPTURE_DEVICES - 1)

/* Returns a number for what a CPU is doing, with the bits of COMPLETING_PLACE clear. The number
 * changes when `current` is switched, and when an interrupt starts or ends: threads that an
 * interrupt wakes while a request is being ended are not woken by the request. */
static __always_inline __u64 stretch_of(struct task_struct *current,
					enum ftrace_wakeup_context context)
{
	return (__u64)context << 6 | (__u64)(current->pid & FTRACE_TID_MASK) << 9 |
	       (__u64)(current->nvcsw + current->nivcsw) << 31;
}

/* Returns the place of the device whose request this CPU ends now; 0: it does something else. */
static __always_inline __u32 completing_device(struct task_struct *current,
					       enum ftrace_wakeup_context context)
{
	struct cpu_stage *s = stage_of_this_cpu();

	if (likely(!s || !s->completing) ||
	    (s->completing & ~(__u64)COMPLETING_PLACE) != stretch_of(current, context))
		return 0;
	return s->completing & COMPLETING_PLACE;
}

#endif
