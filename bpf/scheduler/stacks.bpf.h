/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records the stacks of threads that leave their CPU, and of their wakers. A stack is kept once, in
 * a table that the loader maps; its place in the table is its number. The kernel's own map for
 * stacks is not used: it can be read only by a system call, which before 5.19 needs privileges that
 * the loader has given up by then.
 */
const volatile __u32 stacks_wanted = 0; /* enum stack_choice; set by the loader before loading */

/* Frames of the program's part, at most CAPTURE_STACK_DEPTH; set by the loader before loading. */
const volatile __u32 stack_depth = CAPTURE_STACK_DEPTH;

__u64 stacks_lost = 0; /* found no place in the table */

MAPPED_ARRAY(stack_slots, struct stack_slot, 1); /* CAPTURE_STACKS, set by the loader */

/* Holds the stack that a CPU examines. Interrupts are off, so a CPU examines one at a time. */
ARRAY(stack_scratch, struct stack_slot, 1); /* possible CPUs, set by the loader */

/* By tid: the record of the stack of who wakes it, from sched_waking to sched_wakeup. */
ARRAY(waker_stacks, __u64, 1); /* FTRACE_TID_MASK + 1 with STACKS_WAKEUP, set by the loader */

static __always_inline __u64 mix_hash(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

/* Keeps the `count` addresses in the scratch of this CPU. Returns their place + 1; 0 if there was
 * no room. Equal hashes of 64 bits are taken for equal stacks. Not static, so that the verifier
 * looks at the loop once and not on each path that leads here. */
__noinline int keep_stack(__u32 cpu, __u32 count)
{
	struct stack_slot *scratch = bpf_map_lookup_elem(&stack_scratch, &cpu);
	__u64 hash = count;
	__u32 place;

	if (!scratch || !count || count > CAPTURE_STACK_DEPTH)
		return 0;
	for (__u32 n = 0; n < CAPTURE_STACK_DEPTH && n < count; n++) {
		hash = mix_hash(hash, scratch->addresses[n]);
	}
	hash |= 1; /* 0 is a free place */
	for (__u32 step = 0; step < 8; step++) {
		struct stack_slot *slot;
		__u64 there;

		place = ((hash >> 20) + step) & (CAPTURE_STACKS - 1);
		slot = bpf_map_lookup_elem(&stack_slots, &place);
		if (!slot)
			return 0;
		there = *(volatile __u64 *)&slot->hash;
		if (!there && !(there = __sync_val_compare_and_swap(&slot->hash, 0, hash))) {
			/* All of it: older verifiers forget the limit of `count`. */
			bpf_probe_read_kernel(slot->addresses, sizeof(slot->addresses),
					      scratch->addresses);
			*(volatile __u64 *)&slot->count = count;
			return place + 1;
		}
		if (there == hash)
			return place + 1;
	}
	__sync_fetch_and_add(&stacks_lost, 1);
	return 0;
}

#include "unwind.bpf.h"

#define USUAL_FRAMES 24 /* most stacks of the kernel have fewer */

/* Lets the kernel walk a stack, and returns the number of frames. It walks the program's part by
 * frame pointers, so the caller of any function may be missing. */
static __always_inline __u32 walk_stack(void *ctx, struct stack_slot *scratch, __u64 flags)
{
	/* The helper clears what it does not fill, which costs as much as a frame. */
	long bytes = bpf_get_stack(ctx, scratch->addresses,
				   (flags ? stack_depth : USUAL_FRAMES) * sizeof(__u64), flags);

	if (!flags && bytes == USUAL_FRAMES * sizeof(__u64))
		bytes = bpf_get_stack(ctx, scratch->addresses, sizeof(scratch->addresses), flags);
	return bytes > 0 ? (__u32)bytes / sizeof(__u64) : 0;
}

/* Not static, so that the verifier looks at the loop once. */
__noinline int mark_guessed(__u32 cpu, __u32 count)
{
	struct stack_slot *scratch = bpf_map_lookup_elem(&stack_scratch, &cpu);

	if (!scratch)
		return 0;
	for (__u32 n = 0; n < CAPTURE_STACK_DEPTH && n < count; n++) {
		scratch->addresses[n] |= STACK_GUESSED;
	}
	return 0;
}

static __always_inline __u32 take_user_stack(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), count;
	struct stack_slot *scratch = bpf_map_lookup_elem(&stack_scratch, &cpu);

	count = scratch ? walk_stack(ctx, scratch, BPF_F_USER_STACK) : 0;
	if (!count)
		return 0;
	mark_guessed(cpu, count);
	return keep_stack(cpu, count);
}

#include "kernel_stack.bpf.h"

/* Returns whether the thread goes on behind the instruction that called the kernel. It does not if
 * it stops where a signal handler is about to start. */
static __always_inline bool is_behind_call(struct task_struct *current)
{
#if defined(__TARGET_ARCH_x86)
	struct pt_regs *regs = entry_regs(current);
	const __u16 syscall_instruction = 0x050f;
	__u16 before = 0;

	if (regs->cx == regs->ip) /* the instruction does this, except with FRED */
		return true;
	bpf_probe_read_user(&before, sizeof(before), (void *)(regs->ip - sizeof(before)));
	return before == syscall_instruction;
#else
	return true;
#endif
}

/* Returns the record of the running thread's stack, which comes before the record of what the
 * thread does. `user`: the thread's own code led there. */
static __noinline __u64 stack_word(void *ctx, __u32 whose, bool user)
{
	struct task_struct *current = bpf_get_current_task_btf();
	__u32 kernel_stack = 0, user_stack = 0, call = blocked_call(current);
	__u64 in_call = 0;

	if (stacks_wanted & STACKS_KERNEL)
		kernel_stack = take_kernel_stack(ctx, current, call);
	if (stacks_wanted & STACKS_USER && user && !(current->flags & PF_KTHREAD)) {
		if (call >= FTRACE_CALL_NATIVE && is_behind_call(current))
			in_call = SCHED_STACK_IN_CALL;
		user_stack = can_unwind(current) ? unwind_user_stack(in_call != 0)
						 : take_user_stack(ctx);
	}
	if (!kernel_stack && !user_stack)
		return 0;
	return SCHED_STACK_WORD(whose, kernel_stack, user_stack, current->tgid) | in_call;
}

/* Returns whether the stack is wanted with which a thread leaves its CPU. */
static __always_inline bool wants_stack(__u32 reason)
{
	if (!stacks_wanted || reason == FTRACE_OFFCPU_DEAD)
		return false;
	return !ftrace_offcpu_is_runnable(reason) || stacks_wanted & STACKS_PREEMPT;
}

static __always_inline void remember_waker_stack(void *ctx, __u32 tid, bool in_task)
{
	__u64 *word = bpf_map_lookup_elem(&waker_stacks, &tid);

	if (word)
		*word = stack_word(ctx, SCHED_STACK_OF_WAKER, in_task);
}

/* Returns the remembered record of the waker's stack, and forgets it. */
static __always_inline __u64 waker_stack_of(__u32 tid)
{
	__u64 *word, found = 0;

	if (!(stacks_wanted & STACKS_WAKEUP))
		return 0;
	word = bpf_map_lookup_elem(&waker_stacks, &tid);
	if (word) {
		found = *word;
		*word = 0;
	}
	return found;
}
