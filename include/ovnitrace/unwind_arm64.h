/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The step of unwind.h on arm64. A call puts the return address into the link register (x30), and a
 * function that calls others saves it somewhere in its frame, mostly beside the caller's frame
 * pointer (x29).
 */
#ifndef OVNITRACE_UNWIND_ARM64_H
#define OVNITRACE_UNWIND_ARM64_H

#include <ovnitrace/unwind.h>

/* A rule: `words` below the end of the frame is the return address; 0: it is in the link register.
 * `apart` words below that is the saved frame pointer. */
#define UNWIND_MOST_APART 511
#define UNWIND_RULE_ARM64(kind, offset, bp, words, apart)                                          \
	(UNWIND_RULE(kind, offset, bp, words) | ((__u64)(apart)&1023) << 6)
#define UNWIND_LINK_WORDS(rule) ((__u32)(rule) >> 16)
#define UNWIND_APART(rule)	((__s64)((rule) << 48) >> 54)

/* Bytes from the kernel's frame of a signal to registers of what it interrupted: arch/arm64, struct
 * sigcontext in struct ucontext behind struct siginfo. */
#define UNWIND_SIGNAL_X29 544
#define UNWIND_SIGNAL_X30 552
#define UNWIND_SIGNAL_SP  560
#define UNWIND_SIGNAL_PC  568

static inline __attribute__((always_inline)) __u64
unwind_signal_arm64(struct unwind_state *state, unwind_read *read, void *memory)
{
	__u64 frame = state->sp;

	if (state->sp_is_low || read(memory, frame + UNWIND_SIGNAL_X29, &state->bp) ||
	    read(memory, frame + UNWIND_SIGNAL_X30, &state->link) ||
	    read(memory, frame + UNWIND_SIGNAL_SP, &state->sp) ||
	    read(memory, frame + UNWIND_SIGNAL_PC, &state->pc))
		return STACK_CUT;
	state->exact = 1;
	state->has_bp = UNWIND_BP_HERE;
	return STACK_EXACT | (!state->pc || state->pc > state->highest ? STACK_CUT : 0);
}

/* Goes on to the caller, as unwind_step_x86() does. Each step leads to a higher stack pointer,
 * except that of a signal and the one behind it or behind the start, which uses the link register.
 *
 * A guess follows the frame pointer to a pair of words: the caller's frame pointer, and the return
 * address. The pair can be anywhere in its frame, so the stack pointer is then not known until a
 * frame's end is known by the frame pointer. All frames up to there are guessed. */
static inline __attribute__((always_inline)) __u64
unwind_step_arm64(__u64 rule, struct unwind_state *state, unwind_read *read, void *memory)
{
	const __u64 most_guessed = 1u << 20; /* bytes of a frame */
	__u32 kind = UNWIND_KIND(rule), bp_rule = UNWIND_BP_RULE(rule);
	__u64 words = UNWIND_LINK_WORDS(rule), apart = UNWIND_APART(rule), end, pc, marks = 0;

	if (kind == UNWIND_END)
		return STACK_LAST;
	if (kind == UNWIND_ENTRY)
		return STACK_LAST | STACK_EXACT;
	if (kind == UNWIND_SIGNAL)
		return unwind_signal_arm64(state, read, memory);
	if (kind == UNWIND_SP && state->sp_is_low)
		kind = UNWIND_GUESS;
	if (kind == UNWIND_SP) {
		end = state->sp + UNWIND_OFFSET(rule);
	} else {
		if ((kind != UNWIND_BP && kind != UNWIND_GUESS) ||
		    unwind_need_bp(state, read, memory))
			return STACK_CUT;
		end = state->bp + UNWIND_OFFSET(rule);
		if (kind == UNWIND_GUESS) {
			if (state->bp < state->sp || state->bp - state->sp > most_guessed ||
			    state->bp & 7)
				return STACK_CUT;
			end = state->bp + 16;
			words = 1;
			apart = 1;
			bp_rule = UNWIND_BP_SAVED;
			marks = STACK_GUESSED;
		}
	}
	if (words) {
		if (end <= state->sp || read(memory, end - 8 * words, &pc))
			return STACK_CUT;
		if (!pc && !marks)
			return STACK_LAST;
	} else {
		pc = state->link;
		if (end < state->sp)
			return STACK_CUT;
	}
	if (pc >> 55)
		return STACK_CUT;
	pc &= state->highest;
	if (!pc)
		return STACK_CUT;
	if (bp_rule == UNWIND_BP_SAVED) {
		state->bp = end - 8 * (words + apart);
		state->has_bp = UNWIND_BP_STORED;
	} else if (bp_rule != UNWIND_BP_KEPT) {
		state->has_bp = UNWIND_BP_GONE;
	}
	state->pc = pc;
	state->sp = end;
	state->link = 0;
	state->exact = 0;
	state->sp_is_low = marks != 0;
	return marks;
}

#endif
