/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Provides USDT probes without systemtap's headers. A probe is one nop in the code, and a note in
 * the section .note.stapsdt of the ELF file that says where the nop and the arguments are. A tracer
 * finds the note and puts a uprobe on the nop; without a tracer nothing happens.
 *
 * The note's layout is the one that systemtap defined and gdb, perf, bpftrace and libbpf read: type
 * 3, owner "stapsdt"; the addresses of the nop, of the section .stapsdt.base (to detect a prelinked
 * file) and of a semaphore (0: none); provider, name and arguments as strings. An argument is
 * SIZE@OPERAND, a register or a constant in the assembler's own spelling.
 *
 * C and C++, x86-64 and arm64, GCC and Clang. On other machines a probe is nothing at all.
 */
#ifndef OVNITRACE_USDT_H
#define OVNITRACE_USDT_H

#if defined(__x86_64__)
/* Not the nop of five bytes, which Linux 6.18 replaces by a call rather than by a trap: the call
 * leads to a page that a forked child does not have, and the child dies of it. */
#define OVNITRACE_USDT_NOP	     "nop"
#define OVNITRACE_USDT_OPERAND(name) "4@%k[" #name "]"
#define OVNITRACE_USDT_VALUE(x)	     ((unsigned int)(x))
#elif defined(__aarch64__)
#define OVNITRACE_USDT_NOP	     "nop"
#define OVNITRACE_USDT_OPERAND(name) "4@%[" #name "]"
/* 64 bits wide, so that the register is spelled x0, the only spelling that libbpf knows. */
#define OVNITRACE_USDT_VALUE(x)	     ((unsigned long)(unsigned int)(x))
#endif

#ifdef OVNITRACE_USDT_NOP

/* Only constants and registers ("nr"): not every reader understands every memory operand. */
#define OVNITRACE_USDT_ASM(provider, name, arguments)                                              \
	"990:	" OVNITRACE_USDT_NOP "\n"                                                          \
	"	.pushsection .note.stapsdt,\"?\",\"note\"\n"                                             \
	"	.balign 4\n"                                                                             \
	"	.4byte 992f-991f, 994f-993f, 3\n"                                                        \
	"991:	.asciz \"stapsdt\"\n"                                                                \
	"992:	.balign 4\n"                                                                         \
	"993:	.8byte 990b\n"                                                                       \
	"	.8byte _.stapsdt.base\n"                                                                 \
	"	.8byte 0\n"                                                                              \
	"	.asciz \"" provider "\"\n"                                                         \
	"	.asciz \"" name "\"\n"                                                             \
	"	.asciz \"" arguments "\"\n"                                                        \
	"994:	.balign 4\n"                                                                         \
	"	.popsection\n"                                                                           \
	"	.ifndef _.stapsdt.base\n"                                                                \
	"	.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"                   \
	"	.weak _.stapsdt.base\n"                                                                  \
	"	.hidden _.stapsdt.base\n"                                                                \
	"_.stapsdt.base: .space 1\n"                                                               \
	"	.size _.stapsdt.base, 1\n"                                                               \
	"	.popsection\n"                                                                           \
	"	.endif\n"

/* Fires PROVIDER:NAME without arguments. */
#define OVNITRACE_USDT0(provider, name)                                                            \
	__asm__ __volatile__(OVNITRACE_USDT_ASM(provider, name, "") : :)

/* Fires PROVIDER:NAME with three arguments, each an unsigned number of 32 bits. */
#define OVNITRACE_USDT3(provider, name, x, y, z)                                                   \
	__asm__ __volatile__(                                                                      \
		OVNITRACE_USDT_ASM(provider, name,                                                 \
				   OVNITRACE_USDT_OPERAND(arg1) " " OVNITRACE_USDT_OPERAND(        \
					   arg2) " " OVNITRACE_USDT_OPERAND(arg3))                 \
		:                                                                                  \
		: [arg1] "nr"(OVNITRACE_USDT_VALUE(x)), [arg2] "nr"(OVNITRACE_USDT_VALUE(y)),      \
		  [arg3] "nr"(OVNITRACE_USDT_VALUE(z)))

#else

#define OVNITRACE_USDT0(provider, name)		 ((void)0)
#define OVNITRACE_USDT3(provider, name, x, y, z) ((void)(x), (void)(y), (void)(z))

#endif

#endif
