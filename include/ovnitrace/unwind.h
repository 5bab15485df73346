/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks from a frame of a program's stack to its caller. The kernel side and the loader use the
 * same step: it follows a rule, which the loader makes of a file's call-frame information.
 *
 * A rule belongs to one address of one process image. The loader publishes rules in a hash table
 * that the kernel side reads: struct unwind_slot, and UNWIND_PROBES places for each key.
 */
#ifndef OVNITRACE_UNWIND_H
#define OVNITRACE_UNWIND_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define UNWIND_RULES  (1u << 18) /* slots of the table: 2^n */
#define UNWIND_PROBES 8		 /* slots in which a key can be, one after another */
#define UNWIND_ASKS   4096	 /* keys whose questions are counted: 2^n */

/* How to find the caller of a frame. */
enum unwind_kind {
	UNWIND_UNKNOWN = 0, /* there is no rule */
	UNWIND_SP = 1,	    /* the frame ends `offset` bytes above the stack pointer */
	UNWIND_BP = 2,	    /* the same, above the frame pointer */
	UNWIND_AT_BP = 3,   /* where it ends is stored `offset` bytes above the frame pointer */
	UNWIND_PLT = 4,	    /* an entry of a procedure linkage table */
	UNWIND_SIGNAL = 5,  /* the kernel's frame of a signal, with all registers */
	UNWIND_GUESS = 6,   /* nothing is known: as if it had a frame pointer */
	UNWIND_END = 7,	    /* it has no caller */
	UNWIND_STOP = 8,    /* its caller cannot be found */
	UNWIND_ENTRY = 9,   /* it has no caller, and its address is that of its first instruction */
	UNWIND_IN_LINK = 10, /* as UNWIND_SP, but the return address is in rdi, as in vfork() */
	UNWIND_CLONE = 11,   /* as UNWIND_SP, but without a caller in the thread that it created */
};

/* Where the frame pointer of the caller is. */
enum unwind_bp {
	UNWIND_BP_KEPT = 0,  /* still in the register */
	UNWIND_BP_SAVED = 1, /* some words below the end of the frame */
	UNWIND_BP_AT_BP = 2, /* where the frame pointer points */
	UNWIND_BP_LOST = 3,
};

#define UNWIND_MOST_BP_WORDS 0xffffu
/* A rule: `offset` in bytes, `words` below the end of the frame. Never 0. */
#define UNWIND_RULE(kind, offset, bp, words)                                                       \
	((__u64)(kind) | (__u64)(bp) << 4 | (__u64)(words) << 16 | (__u64)(__u32)(offset) << 32)
#define UNWIND_KIND(rule)     ((__u32)(rule)&15)
#define UNWIND_BP_RULE(rule)  ((__u32)(rule) >> 4 & 3)
#define UNWIND_BP_WORDS(rule) ((__u32)(rule) >> 16)
#define UNWIND_OFFSET(rule)   ((__s64)(rule) >> 32)

/* The loader writes a rule before its key. A reader that sees the key before and after it reads the
 * rule has the right one. */
struct unwind_slot {
	__u64 key; /* 0: free; UNWIND_REMOVED */
	__u64 rule;
};
#define UNWIND_REMOVED 1 /* what follows may still be in use */

/* How often a rule was asked for. */
struct unwind_ask {
	__u64 key;
	__u64 count;
};

/* Marks on the addresses of a stack, above those that a program can have. */
#define STACK_GUESSED	    (1ULL << 63) /* frames may be missing between this one and the next */
#define STACK_EXACT	    (1ULL << 62) /* the address is that of an instruction to come */
#define STACK_LAST	    (1ULL << 61) /* this is where the thread started */
#define STACK_CUT	    (1ULL << 60) /* frames are missing behind this one */
#define STACK_ADDRESS(mark) ((mark) & ((1ULL << 60) - 1))

/* What `bp` of a state is. */
enum unwind_bp_state {
	UNWIND_BP_HERE = 0,   /* the frame pointer */
	UNWIND_BP_STORED = 1, /* the address at which it is saved: few walks need it */
	UNWIND_BP_GONE = 2,   /* nothing */
};

struct unwind_state {
	__u64 pc, sp, bp;
	__u64 link;	 /* rdi or x30 in the innermost frame; 0 in others, and in new threads */
	__u64 highest;	 /* on arm64: address of the program. Bits above it can be a signature */
	__u32 exact;	 /* pc is an instruction to come; otherwise it is a return address */
	__u32 has_bp;	 /* enum unwind_bp_state */
	__u32 sp_is_low; /* on arm64: the stack pointer is not known, but not lower than sp */
	__u32 unused;
};

/* Tells the image of a process from all others: a process that executes another program gets
 * another one. Equal values of 64 bits are taken for equal images. */
static inline __u64 unwind_image(__u32 pid, __u64 started, __u64 execs)
{
	__u64 image = (started ^ (__u64)pid << 42) * 0x9e3779b97f4a7c15ULL;

	return (image ^ image >> 29 ^ execs) * 0xbf58476d1ce4e5b9ULL;
}

/* `address`: in the instruction that calls, or the one to come. */
static inline __u64 unwind_key(__u64 image, __u64 address)
{
	__u64 key = (address ^ image) * 0x9e3779b97f4a7c15ULL;

	key = (key ^ key >> 32) * 0xbf58476d1ce4e5b9ULL;
	return (key ^ key >> 29) | 2;
}

static inline __u64 unwind_address(const struct unwind_state *state)
{
	return state->pc - !state->exact;
}

/* Reads a word of the program's memory; not 0: that failed. */
typedef long unwind_read(void *memory, __u64 address, __u64 *to);

/* Reads the frame pointer if it is not here yet. Not 0: it is not known. */
static inline __attribute__((always_inline)) long unwind_need_bp(struct unwind_state *state,
								 unwind_read *read, void *memory)
{
	if (state->has_bp == UNWIND_BP_STORED) {
		__u64 bp;

		if (read(memory, state->bp, &bp))
			return -1;
		state->bp = bp;
		state->has_bp = UNWIND_BP_HERE;
	}
	return state->has_bp != UNWIND_BP_HERE;
}

/* Goes on to the caller. Returns marks of the frame that is left: with STACK_LAST or STACK_CUT,
 * there is nothing to go on to. Each step leads to a higher stack pointer, except that of a signal
 * and the only one with UNWIND_IN_LINK. */
static inline __attribute__((always_inline)) __u64
unwind_step_x86(__u64 rule, struct unwind_state *state, unwind_read *read, void *memory)
{
	const __u64 most_guessed = 1u << 20; /* bytes of a frame */
	__u32 kind = UNWIND_KIND(rule), bp_rule = UNWIND_BP_RULE(rule);
	__u64 end, pc, marks = 0;

	if (kind == UNWIND_END)
		return STACK_LAST;
	if (kind == UNWIND_ENTRY)
		return STACK_LAST | STACK_EXACT;
	if (kind == UNWIND_SIGNAL) { /* arch/x86: struct ucontext behind the return address */
		__u64 sp = state->sp;

		if (read(memory, sp + 168, &state->pc) || read(memory, sp + 120, &state->bp) ||
		    read(memory, sp + 160, &state->sp))
			return STACK_CUT;
		state->exact = 1;
		state->has_bp = UNWIND_BP_HERE;
		state->link = 0;
		/* Nothing called the frame: its address is that of its first instruction. */
		return STACK_EXACT | (!state->pc || state->pc >> 47 ? STACK_CUT : 0);
	}
	if (kind == UNWIND_CLONE && !state->link)
		return STACK_LAST;
	if (kind == UNWIND_SP || kind == UNWIND_IN_LINK || kind == UNWIND_CLONE) {
		end = state->sp + UNWIND_OFFSET(rule);
	} else if (kind == UNWIND_PLT) {
		end = state->sp + 8 + ((state->pc & 15) >= 11) * 8;
	} else {
		if (unwind_need_bp(state, read, memory))
			return STACK_CUT;
		end = state->bp + UNWIND_OFFSET(rule);
		if (kind == UNWIND_AT_BP) {
			if (read(memory, end, &end))
				return STACK_CUT;
		} else if (kind == UNWIND_GUESS) {
			if (state->bp < state->sp || state->bp - state->sp > most_guessed ||
			    state->bp & 7)
				return STACK_CUT;
			end = state->bp + 16;
			bp_rule = UNWIND_BP_AT_BP;
			marks = STACK_GUESSED;
		} else if (kind != UNWIND_BP) {
			return STACK_CUT;
		}
	}
	if (kind == UNWIND_IN_LINK) {
		pc = state->link;
		if (end < state->sp || !pc)
			return STACK_CUT;
	} else if (end <= state->sp || read(memory, end - 8, &pc)) {
		return STACK_CUT;
	}
	if (!pc && !marks)
		return STACK_LAST;
	if (!pc || pc >> 47)
		return STACK_CUT;
	if (bp_rule == UNWIND_BP_SAVED) {
		state->bp = end - 8 * (__u64)UNWIND_BP_WORDS(rule);
		state->has_bp = UNWIND_BP_STORED;
	} else if (bp_rule == UNWIND_BP_AT_BP) {
		if (unwind_need_bp(state, read, memory))
			return STACK_CUT;
		state->has_bp = UNWIND_BP_STORED; /* where it points */
	} else if (bp_rule == UNWIND_BP_LOST) {
		state->has_bp = UNWIND_BP_GONE;
	}
	state->pc = pc;
	state->sp = end;
	state->link = 0;
	state->exact = 0;
	return marks;
}

#include <ovnitrace/unwind_arm64.h>

#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#define unwind_step unwind_step_arm64
#else
#define unwind_step unwind_step_x86
#endif

#endif
