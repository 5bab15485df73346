/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Defines the chains of --control as the loader hands them to the BPF programs, and the records
 * that these hand back. docs/control.md says what chains mean. Both sides are the same machine.
 * Values are never renumbered: some are in traces.
 */
#ifndef OVNITRACE_CONTROL_H
#define OVNITRACE_CONTROL_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define CONTROL_CHAINS 16 /* most chains of a capture */
#define CONTROL_ALARMS 64 /* most alarms in all of them: a bit each in a cookie */
#define CONTROL_STRING 64 /* bytes of the string of pcontrol, its end included */

enum control_event {
	CONTROL_STOP = 0,
	CONTROL_START = 1,
	CONTROL_THREADID = 2,
	CONTROL_PRECOND = 3,
};

enum control_type {
	CONTROL_NO_ALARM = 0, /* no start event in any chain */
	CONTROL_ICOUNT = 1,
	CONTROL_ADDRESS = 2,
	CONTROL_SSC = 3,
	CONTROL_ITEXT = 4,
	CONTROL_ISA_EXTENSION = 5,
	CONTROL_ISA_CATEGORY = 6,
	CONTROL_INT3 = 7,
	CONTROL_MAGIC = 8,
	CONTROL_CPUID = 9,
	CONTROL_PCONTROL = 10,
	CONTROL_ENTER_FUNC = 11,
	CONTROL_EXIT_FUNC = 12,
	CONTROL_INTERACTIVE = 13,
	CONTROL_TIMEOUT = 14,
	CONTROL_PROGRAM = 15, /* no alarm: FTrace_enable, FTrace_disable, FTrace_fire */
	CONTROL_END = 16,     /* no alarm: another program was executed */
};

#define CONTROL_BCAST	  1u
#define CONTROL_GLOBAL	  2u
#define CONTROL_ONE_TID	  4u /* only for the thread of number `tid` */
#define CONTROL_IMMEDIATE 8u /* the start of a uniform: fires as soon as it is armed, first */

struct control_alarm {
	__u8 event; /* enum control_event */
	__u8 type;  /* enum control_type */
	__u8 flags; /* CONTROL_BCAST, … */
	__u8 pad;
	__u32 tid;
	__u64 count; /* hits at which it fires; of icount, instructions */
	/* ssc, cpuid: what the register must be; magic: b << 32 | a; timeout: ns; address: the
	 * address, 0: wherever it is probed */
	__u64 value;
	char text[CONTROL_STRING]; /* pcontrol */
};

struct control_chain {
	__u32 first;   /* index of its first alarm */
	__u32 alarms;  /* how many */
	__u32 repeat;  /* rounds, 0: endless */
	__u32 waiters; /* chains that wait for it, a bit each */
	__u32 waits;   /* 1: for another */
	/* A uniform is two alarms, `loop` and the next one. They are repeated `loops` times in a
	 * round. */
	__u32 loop, loops; /* loops: 1 without it */
};

/* Where a thread is in a chain, beside the index of the alarm that is armed for it. */
#define CONTROL_WAITING	 254u /* for another chain */
#define CONTROL_FINISHED 255u

/* A thread in one chain. */
struct control_place {
	__u64 count;	/* hits of the alarm that is armed */
	__u64 since;	/* ns: when it was armed */
	__u32 round;	/* rounds of repeat that are over, times the loops of the uniform */
	__u32 position; /* index in the chain of the alarm that is armed, or CONTROL_WAITING, … */
	__u32 epoch;	/* the last broadcast that it knows of */
	__u32 pad;
};

/* A call that a thread is in. */
struct control_call {
	__u64 sp;   /* stack pointer at its first instruction; 0: there is no call */
	__u64 back; /* x86: the return address, which lies there; 0: not known */
};

struct control_thread {
	__u32 pid;
	__u32 number; /* 0: the main thread */
	struct control_place places[CONTROL_CHAINS];
	__u64 hits;		   /* of a program: what the verifier need not follow */
	char text[CONTROL_STRING]; /* of on_pcontrol: what the program gives it */
	struct control_call outermost[CONTROL_ALARMS]; /* by alarm, of type exit_func */
	__u32 held; /* 1: it waits until probes are set (CONTROL_HELD) */
	__u32 pad;
};

/* What is the same for all threads of a process. A broadcast is one word, so that threads on all
 * CPUs agree on it without a lock. The word has the number of the broadcast and the place to which
 * it puts all threads. */
struct control_process {
	__u32 threads; /* that there were: the number of the next */
	__u32 alive;
	__u64 broadcast[CONTROL_CHAINS]; /* epoch << 40 | position << 32 | round */
	__u64 since[CONTROL_CHAINS];	 /* ns: when that was */
	__u64 counts[CONTROL_ALARMS];	 /* of global alarms: epoch << 40 | hits of all threads */
};
#define CONTROL_EPOCH_SHIFT    40
#define CONTROL_EPOCH_MASK     0xffffffu
#define CONTROL_POSITION_SHIFT 32
#define CONTROL_COUNT_MASK     ((1ull << 40) - 1)

/* Messages to the loader, through a ring of its own. */
enum control_message_kind {
	CONTROL_ARMED = 1,   /* an alarm that the loader makes hit: timeout */
	CONTROL_VISIT = 2,   /* the threads of a process are to be visited (bpf/region.bpf.h) */
	CONTROL_LIBRARY = 3, /* the process has loaded or closed a library, and is stopped */
	CONTROL_IMAGE = 4,   /* the process has executed another program, and is stopped */
	CONTROL_COUNT = 5,   /* an icount is armed for threads that do not know it yet */
	CONTROL_DONE = 8,    /* a chain has finished, in this thread or, tid 0, in the process */
	CONTROL_FORK = 6,    /* the process is a copy of one that has probes, and may be stopped */
	CONTROL_GONE = 7,    /* the process has ended; or, of a thread, another one leads it now */
};

struct control_message {
	__u64 time; /* ns, CLOCK_MONOTONIC */
	__u32 kind;
	__u32 pid;	   /* process (tgid) */
	__u32 tid;	   /* 0: all threads of the process */
	__u32 alarm;	   /* CONTROL_ARMED: its index; CONTROL_DONE: that of the chain;
			    * CONTROL_VISIT: the thread that fired; of a process that may be stopped,
			    * 1: it is not */
	__u32 visit, what; /* CONTROL_VISIT: as struct visitor has them */
};

/* What the map of stopped processes has of each, until the loader continues it. */
#define CONTROL_HELD_PROCESS   1
#define CONTROL_PARENT_STOPPED 2 /* the process's parent was stopped before, by somebody else */

/* The argument of the program hit_alarm, which the loader runs for a thread. */
struct control_hit {
	__u32 pid; /* 0: that of the thread, which is the result */
	__u32 tid;
	__u64 alarms;  /* a bit each; 0 only looks at the thread, and takes CONTROL_HELD from it */
	__u64 fired;   /* result: those that fired */
	__u64 counted; /* result: those that took the hit and need more of them */
	__u32 result;  /* CONTROL_STEPPING, … */
	__u32 pad;
};

#define CONTROL_STEPPING  1u /* an icount is armed for the thread now */
#define CONTROL_NO_THREAD 2u /* there is none */
#define CONTROL_HELD	  4u /* it has loaded code, and must not go on before probes are set */

/* Parameter 2 of FTrace_EXT_region: which alarm of which chain did what. */
#define FTRACE_REGION_CHAIN_SHIFT 0	     /* 8 bits: 1 + index of the chain, 0: none */
#define FTRACE_REGION_ALARM_SHIFT 8	     /* 8 bits: index of the alarm in it */
#define FTRACE_REGION_TYPE_SHIFT  16	     /* 8 bits: enum control_type */
#define FTRACE_REGION_EVENT_SHIFT 24	     /* 2 bits: enum control_event */
#define FTRACE_REGION_THREAD	  (1u << 26) /* of this thread alone, not of its process */
#define FTRACE_REGION_BCAST	  (1u << 27) /* the event is for all threads of the process */
#define FTRACE_REGION_AGAIN	  (1u << 28) /* a start of a region that is open already */
#define FTRACE_REGION_OTHER	  (1u << 29) /* it happened in another thread of the process */
#define FTRACE_REGION_STARTS(par2)                                                                 \
	(((par2) >> FTRACE_REGION_EVENT_SHIFT & 3) == CONTROL_START &&                             \
	 !((par2)&FTRACE_REGION_AGAIN))

#endif
