/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declares functions of the kernel that not every kernel has (kfuncs). They are not declared
 * `__ksym __weak`. If the kernel lacks a name, libbpf then reads the types of all modules before it
 * believes so, and CAP_BPF is not enough for that.
 *
 * A call looks like that of a helper whose number no helper has. It must not be reached unless
 * has_kfunc() says so: the loader has then turned it into a call of the kfunc
 * (user/bpf/kernel_functions.h). The loader sees programs with the code that is inlined into them,
 * but not the functions that they call.
 */
#ifndef OVNITRACE_KFUNCS_H
#define OVNITRACE_KFUNCS_H

const volatile __u32 kfuncs = 0; /* a bit each of enum kfunc, set by the loader */

static __always_inline bool has_kfunc(enum kfunc which)
{
	return kfuncs & 1u << which;
}

/* 6.2, a35b9af4ec2c "bpf: Add a kfunc for generic type cast". */
static void *(*const kfunc_rdonly_cast)(void *address,
					__u32 btf_id) = (void *)(KFUNC_CALL + KFUNC_RDONLY_CAST);

/* 6.7, c68a78ffe2cb "bpf: Introduce task open coded iterator kfuncs". */
enum { BPF_TASK_ITER_ALL_THREADS = 1, BPF_TASK_ITER_PROC_THREADS = 2 };
static int (*const kfunc_iter_task_new)(struct bpf_iter_task *it, struct task_struct *task,
					unsigned int flags) = (void *)(KFUNC_CALL +
								       KFUNC_ITER_TASK_NEW);
static struct task_struct *(*const kfunc_iter_task_next)(struct bpf_iter_task *it) =
	(void *)(KFUNC_CALL + KFUNC_ITER_TASK_NEXT);
static void (*const kfunc_iter_task_destroy)(struct bpf_iter_task *it) =
	(void *)(KFUNC_CALL + KFUNC_ITER_TASK_DESTROY);

/* 6.10, fc7566ad0a82 "bpf: Introduce bpf_preempt_[disable,enable] kfuncs". */
static void (*const kfunc_preempt_disable)(void) = (void *)(KFUNC_CALL + KFUNC_PREEMPT_DISABLE);
static void (*const kfunc_preempt_enable)(void) = (void *)(KFUNC_CALL + KFUNC_PREEMPT_ENABLE);

/* 6.2, 9bb00b2895cb "bpf: Add kfunc bpf_rcu_read_lock/unlock()". For programs that may sleep. */
static void (*const kfunc_rcu_read_lock)(void) = (void *)(KFUNC_CALL + KFUNC_RCU_READ_LOCK);
static void (*const kfunc_rcu_read_unlock)(void) = (void *)(KFUNC_CALL + KFUNC_RCU_READ_UNLOCK);

/* 6.13, 6280cf718db0 "bpf: Implement bpf_send_signal_task() kfunc". Its signals are the kernel's.
 */
static int (*const kfunc_send_signal_task)(struct task_struct *task, int signal, int type,
					   __u64 value) = (void *)(KFUNC_CALL +
								   KFUNC_SEND_SIGNAL_TASK);

/* From 6.13 on, the kernel keeps stacks of 64 bytes and more in memory of the CPU. A program of a
 * uprobe can be preempted, and another thread of that CPU then runs it on the same stack: one of
 * them reads what the other wrote, and the kernel may crash. A program that contains a tail call
 * uses the stack of its thread, even if the call is never reached. The loader turns the call below
 * into a tail call. */
const volatile bool never = false;
static void (*const tail_call)(void *ctx) = (void *)KFUNC_TAIL_CALL;

/* Call this at the start of each program of a uprobe. */
static __always_inline void keep_own_stack(void *ctx)
{
	if (never)
		tail_call(ctx);
}

#endif
