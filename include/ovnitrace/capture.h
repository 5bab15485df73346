/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Defines the three kinds of messages from the BPF programs to the loader.
 *
 * - Scheduling transitions, 16 bytes each, staged per CPU and passed on in batches of
 *   CAPTURE_BATCH through that CPU's own ring buffer, so that the price of a reservation is paid
 *   once a batch.
 * - Life events (creation, exec, renaming, exit, death), rare and larger, through one ring buffer
 * of their own: they are logged with interrupts on, so they may not touch the staging area.
 * - Events of the other families (interrupts, signals, the program's own, …), 24 bytes each,
 * straight through the CPU's ring: they too are logged with interrupts on. The reader knows them
 * from batches by their size.
 *
 * Both sides are the same machine: native byte order. Values are never renumbered.
 */
#ifndef OVNITRACE_CAPTURE_H
#define OVNITRACE_CAPTURE_H

#include <ovnitrace/ftrace_codes.h>
#include <ovnitrace/unwind.h>

#ifndef __bpf__
#include <linux/types.h>
#endif

#define CAPTURE_BATCH	   32 /* transitions in one message: 2^n */
#define CAPTURE_COMM_LEN   16
#define CAPTURE_TARGETS	   64	      /* most processes that a capture can be attached to */
#define CAPTURE_LIFE_BYTES (4u << 20) /* ring of life events: room for 40,000 */
#define CAPTURE_WORK_ITEMS 4096	      /* queued work items whose queuer is remembered: 2^n */
#define CAPTURE_WORKERS	   1024	      /* kernel workers whose item's queuer is remembered: 2^n */
#define CAPTURE_REGIONS	   (FTRACE_TID_MASK + 2) /* bpf/shared_maps.h's `regions` */
#define CAPTURE_LIFE_CPUS  192 /* in one life event: whole words of ours and of FTrace's */

/* ---- scheduling transitions ------------------------------------------------------------------ */

enum sched_kind {
	SCHED_KIND_NONE = 0,   /* an empty slot */
	SCHED_KIND_SWITCH = 1, /* a: prev tid, b: next tid, reason: why prev left, prio: of next.
				* One that was found out later, when b left its CPU, has no a, and
				* its time is before those of records that are staged already.
				* Where neither is traced, a traced thread waits for this CPU */
	SCHED_KIND_WAKEUP = 2, /* a: woken tid, b: waker tid, reason: enum ftrace_wakeup_context,
				* prio: place in the table of devices of the one that woke it,
				* 0: none did; and SCHED_HELD_SHIFT */
	SCHED_KIND_WAKEUP_NEW = 3, /* the same, first wakeup of a new thread */
	SCHED_KIND_MIGRATE = 4,	   /* a: tid, b: the CPU it was put on */
	SCHED_KIND_EXEC = 5,   /* a: tid, b: the tid that it had before; LIFE_EXEC comes later */
	SCHED_KIND_STACK = 6,  /* SCHED_STACK_* below: a stack that belongs to the next record, of a
				* switch or a wakeup at the same time */
	SCHED_KIND_HOLDER = 7, /* a: tid of who has a CPU for which a traced thread waits from now
				* on, b: that CPU, prio: of a, 0: not known */
	SCHED_KIND_WORK = 9, /* a: a thread that a kernel worker wakes next, b: who queued the work
			      * item that it runs, 0: an interrupt; how long ago: SCHED_WORK_AGE */
	SCHED_KIND_REFILL = 11, /* a: tid of one that was throttled and may run again */
};

/* One transition. A tid has 22 bits (PID_MAX_LIMIT), so a switch fits into 62 bits, except for the
 * system call in which a thread is blocked. The call takes the place of the upper bits of the time.
 * The lower 48 bits of the time are enough: they last for 78 hours, and the loader reads records
 * all the time. */
struct sched_record {
	__u64 when; /* SCHED_WHEN */
	__u64 word; /* SCHED_*_SHIFT below */
};

/* `time`: ns, CLOCK_MONOTONIC; `call`: enum ftrace_call of a switch in which a is blocked. */
#define SCHED_TIME_SHIFT       16
#define SCHED_WHEN(time, call) ((__u64)(time) << SCHED_TIME_SHIFT | (call))

#define SCHED_KIND_SHIFT   0		/* 4 bits, enum sched_kind */
#define SCHED_REASON_SHIFT 4		/* 4 bits */
#define SCHED_PRIO_SHIFT   8		/* 8 bits: FTRACE_PRIO_BIAS + kernel priority */
#define SCHED_A_SHIFT	   16		/* 22 bits */
#define SCHED_B_SHIFT	   38		/* 22 bits */
#define SCHED_A_TRACED	   (1ULL << 62) /* a passes the filter */
#define SCHED_B_TRACED	   (1ULL << 63) /* b passes the filter */

#define SCHED_WORD(kind, reason, prio, a, b)                                                       \
	((__u64)(kind) << SCHED_KIND_SHIFT | (__u64)(reason) << SCHED_REASON_SHIFT |               \
	 (__u64)(prio) << SCHED_PRIO_SHIFT | (__u64)(a) << SCHED_A_SHIFT |                         \
	 (__u64)(b) << SCHED_B_SHIFT)

/* Why a woken thread may not run yet: 2 bits above the place of the device, 0: it may run. */
#define SCHED_HELD_SHIFT     14
#define SCHED_HELD_THROTTLED (1ULL << SCHED_HELD_SHIFT) /* FTRACE_OFFCPU_THROTTLED */
#define SCHED_HELD_EXHAUSTED (2ULL << SCHED_HELD_SHIFT) /* FTRACE_OFFCPU_EXHAUSTED */

#define SCHED_STACK_WHOSE_SHIFT	 4 /* 1 bit */
#define SCHED_STACK_OF_PREV	 0 /* who leaves its CPU */
#define SCHED_STACK_OF_WAKER	 1
#define SCHED_STACK_IN_CALL	 (1ULL << 5) /* its innermost frame is at a system call */
#define SCHED_STACK_KERNEL_SHIFT 8	     /* 16 bits: place of the stack + 1; 0: not known */
#define SCHED_STACK_USER_SHIFT	 24	     /* the same */
#define SCHED_STACK_PID_SHIFT	 40	     /* 22 bits: process (tgid) */

#define SCHED_STACK_WORD(whose, kernel, user, pid)                                                 \
	((__u64)SCHED_KIND_STACK << SCHED_KIND_SHIFT | (__u64)(whose) << SCHED_STACK_WHOSE_SHIFT | \
	 (__u64)(kernel) << SCHED_STACK_KERNEL_SHIFT | (__u64)(user) << SCHED_STACK_USER_SHIFT |   \
	 (__u64)(pid) << SCHED_STACK_PID_SHIFT)

/* How long before a SCHED_KIND_WORK its item was queued: 27 bits of ns, or of us if
 * SCHED_WORK_MICROSECONDS is set. The lowest 16 bits are where other records have `call`, the next
 * ones where they have the reason, then the priority. */
#define SCHED_WORK_MICROSECONDS (1u << 27)
#define SCHED_WORK_AGE(call, word)                                                                 \
	((__u32)(call) | ((__u32)((word) >> SCHED_REASON_SHIFT) & 0xfu) << 16 |                    \
	 ((__u32)((word) >> SCHED_PRIO_SHIFT) & 0xffu) << 20)

/* A CPU's staging area and, up to and with `records`, the message in its ring. The loader maps it,
 * to read what is left in it when the programs are detached. A multiple of a cache line. */
struct sched_batch {
	__u64 lost;	  /* events lost on this CPU just before the first record */
	__u64 lost_since; /* `when` of the first lost one */
	struct sched_record records[CAPTURE_BATCH];
};

struct cpu_stage {
	struct sched_batch batch;
	__u32 count;	    /* records staged */
	__u32 running;	    /* the traced thread that was seen to take this CPU last, 0: another */
	__u64 switched;	    /* ns: when that was */
	__u64 events;	    /* transitions logged on this CPU, lost ones included */
	__u64 lost_total;   /* of them lost */
	__u64 running_task; /* address of its task_struct: its tid can change while it runs */
	__u64 renamed;	    /* 1: the thread that has this CPU has renamed itself */
	/* A cache line that other CPUs write to. */
	__u32 holder; /* who has this CPU: tid and HOLDER_* (bpf/scheduler/holders.bpf.h) */
	__u32 unused;
	__u32 waiters;	  /* traced threads that wait for this CPU: the sum of both, modulo 2^32. */
	__u32 moved;	  /* This one is changed atomically, the other under the run queue's lock */
	__u64 completing; /* not 0: it ends the I/O of a device (bpf/scheduler/completion.bpf.h) */
	__u64 receiving;  /* not 0: a packet of the running thread (bpf/scheduler/packets.bpf.h) */
	__u64 pad[52];	  /* to 2^n bytes: the programs find theirs without a multiplication */
};

/* Block devices that have woken threads, by their place, from 1 on: dev_t, 0: none yet. The last
 * place stands for all that find no other. */
#define CAPTURE_DEVICES	     64
#define CAPTURE_OTHER_DEVICE (CAPTURE_DEVICES - 1)

/* Threads that are throttled, in a circle: if there are more, the oldest are evicted. */
#define CAPTURE_THROTTLED 1024 /* 2^n */
struct throttled_thread {
	__u64 task; /* address of its task_struct; 0: it is none, or may run again */
	__u32 tid, pid;
};
struct throttled_threads {
	__u32 next; /* where the next one goes, counted on */
	__u32 left; /* how many there are */
	struct throttled_thread of[CAPTURE_THROTTLED];
};

/* Functions that the kernel calls when a quota may be refilled, and when the budget of a
 * SCHED_DEADLINE thread is replenished; 0: not known. */
struct quota_timers {
	__u64 period, slack, deadline;
};
/* The loader writes their addresses into the code of bpf/causes.bpf.c, in place of these. */
#define QUOTA_TIMER_PERIOD 0x3c8e51a7d2960f4bULL
#define QUOTA_TIMER_SLACK  0x6ad30b94e71f285cULL
#define DEADLINE_TIMER	   0x51f7c20e8d4b936aULL

/* ---- stacks -----------------------------------------------------------------------------------
 */

enum stack_choice {
	STACKS_KERNEL = 1,  /* the kernel's part */
	STACKS_USER = 2,    /* the program's part */
	STACKS_WAKEUP = 4,  /* the waker's, too */
	STACKS_PREEMPT = 8, /* also of threads that leave their CPU while they could run */
};

#define CAPTURE_STACKS	    32768 /* distinct stacks that a capture can hold: 2^n below 65536 */
#define WALKED_STACKS	    16384 /* stacks of the kernel that are found by their memory: 2^n */
#define CAPTURE_STACK_DEPTH 126	  /* frames of one; the kernel takes no more than 127 */

/* One stack, of the kernel or of a program, from the innermost frame outward. 1 KiB. */
struct stack_slot {
	__u64 hash;			      /* 0: free */
	__u64 count;			      /* of addresses; 0 while they are being written */
	__u64 addresses[CAPTURE_STACK_DEPTH]; /* those of a program with STACK_* marks */
};

/* A stack whose walk met an address without a rule. A record of SCHED_KIND_STACK names it by
 * STACK_COPY_FIRST + a number, in the place of a stack of the program. */
#define STACK_COPY_FIRST (CAPTURE_STACKS + 1) /* up to 0xffff */
#define STACK_COPY_PAGE	 4096u
#define STACK_COPY_PAGES 8
#define STACK_COPY_RING	 (8u << 20)

struct stack_copy {
	__u64 image;  /* unwind_image() */
	__u32 pid;    /* process (tgid) */
	__u32 id;     /* what names it */
	__u32 count;  /* of addresses; the last one is `state`'s */
	__u32 pages;  /* of the memory, up to the last that could be read */
	__u32 absent; /* bit n: page n of them could not be read, as one never used */
	__u32 unused;
	struct unwind_state state;
	__u64 addresses[CAPTURE_STACK_DEPTH];
	/* The memory from the page of state.sp on, known from state.sp on. Only `pages` of it are
	 * sent. */
	__u8 memory[STACK_COPY_PAGES * STACK_COPY_PAGE];
};

/* ---- events of the other families --------------------------------------------------------------
 */

/* One FTrace record to be, but for contexts, which only the loader knows. */
struct family_record {
	__u64 time; /* ns, CLOCK_MONOTONIC */
	__u16 code; /* enum ftrace_code */
	__u16 par1;
	__u32 par2;
	__u32 par1_tid; /* not 0: parameter 1 is the context of this thread; with FAMILY_OWN,
			 * parameter 1 is as it is, and this thread logged the event itself and runs
			 * on this CPU */
	__u32 par2_tid; /* not 0: parameter 2 is the context of this thread */
};

#define FAMILY_OWN (1u << 31) /* a tid has 22 bits */

/* What one CPU logged of all families, in memory that the loader maps. A cache line. */
struct family_count {
	__u64 events;	  /* logged, lost ones included */
	__u64 lost;	  /* of them found no room in the ring */
	__u64 lost_since; /* ns: the first that the loader has not reported yet */
	__u64 lost_until; /* ns: the last */
	__u64 reported;	  /* what the loader has reported of `lost`: written by it */
	__u64 pad[3];
};

/* ---- probes of user events ----------------------------------------------------------------------
 */

enum user_probe_kind {
	USER_PROBE_EVENT = 0, /* has three arguments */
	USER_PROBE_ENABLE = 1,
	USER_PROBE_DISABLE = 2,
	USER_PROBE_FIRE = 3, /* has three arguments */
};

/* Where an argument of a probe is. */
struct user_argument {
	__u32 in_register; /* 0: it is a constant */
	__u32 value; /* the constant, or where the register is saved, in bytes in struct pt_regs */
};

/* One place in a program where a probe is. */
struct user_probe {
	__u32 kind; /* enum user_probe_kind */
	struct user_argument arguments[3];
};

/* ---- life events ------------------------------------------------------------------------------
 */

enum life_kind {
	LIFE_NEW = 1,	   /* a thread was created: arg = creator's tid */
	LIFE_EXEC = 2,	   /* execve: arg = the tid that the thread had before */
	LIFE_RENAME = 3,   /* its comm changed */
	LIFE_EXIT = 4,	   /* begins to exit: arg = wait status */
	LIFE_DEAD = 5,	   /* has left its CPU for ever: account is final */
	LIFE_SNAPSHOT = 6, /* was alive before the capture, or passes the filters again or, with
			    * the state Unknown, no longer: arg = par2 of FTrace_EXT_snapshot */
	LIFE_NAME = 7,	   /* the name of one that appears beside traced threads, or, arg = 1, of a
			    * traced one that the snapshot did not show; no event of its own */
	LIFE_AFFINITY = 9, /* the CPUs that it may use: arg = number of the first CPU in `cpus` */
	LIFE_ENTER = 10,   /* as LIFE_SNAPSHOT, of a thread that was not recorded before: it passes
			    * the filters from now on */
	LIFE_CGROUP = 11,  /* it was put into another cgroup: arg = 1: all threads of its process
			    * were, and none of them has a record of its own */
	LIFE_REGION = 8,   /* a region starts or stops: arg = par2 of FTrace_EXT_region; its comm is
			    * not sent */
};

/* The kernel's own accounting of a thread, from its task_struct. */
struct life_account {
	__u64 run_ns;	   /* se.sum_exec_runtime */
	__u64 wait_ns;	   /* sched_info.run_delay */
	__u64 slices;	   /* sched_info.pcount: times it got a CPU */
	__u64 voluntary;   /* nvcsw */
	__u64 involuntary; /* nivcsw */
};

struct life_record {
	__u64 time; /* ns, CLOCK_MONOTONIC */
	__u16 kind; /* enum life_kind */
	__u16 call; /* LIFE_SNAPSHOT, LIFE_ENTER: enum ftrace_call in which it is blocked */
	__u32 cpu;  /* where it was logged */
	__u32 tid;
	__u32 pid; /* process (tgid) */
	__u32 arg;
	__u16 outside;	/* 1: outside a region of --control: who the thread is, and no event */
	__u16 has_cpus; /* 1: `cpus` says which the thread may use */
	__u32 parent;	/* LIFE_SNAPSHOT, LIFE_ENTER of a main thread: tid of its parent */
	__u32 unused;	/* alignment of what follows */
	char comm[CAPTURE_COMM_LEN];
	__u64 cgroup; /* LIFE_NEW, LIFE_SNAPSHOT, LIFE_ENTER, LIFE_NAME, LIFE_CGROUP: the key of its
		       * cgroup, CAPTURE_CGROUP_KEY_SHIFT; 0: not known */
	union {
		struct life_account account; /* LIFE_DEAD */
		__u64 born; /* LIFE_NAME: when the thread was created, ns; 0: not known */
		/* A bit for each CPU that the thread may use. Except in a LIFE_AFFINITY, these are
		 * the first CPUs. If there are more, a LIFE_AFFINITY with the others follows at the
		 * same time. */
		__u64 cpus[CAPTURE_LIFE_CPUS / 64];
	};
};

/* ---- cgroups ----------------------------------------------------------------------------------
 */

#define CAPTURE_CGROUP_KEY_SHIFT                                                                   \
	8			    /* a key: the id of a directory, above its hierarchy's number  \
				     */
#define CAPTURE_KERNEL_CGROUP 1	    /* the key of all threads of the kernel: no cgroup has it */
#define CAPTURE_CGROUPS	      16384 /* cgroups at a time whose path is known */
#define CAPTURE_CGROUP_RING   (2u << 20) /* of cgroup_record */
#define CAPTURE_CGROUP_LEVELS 32	 /* parts of a path */
#define CAPTURE_CGROUP_PATH   1024	 /* bytes of a path, before its first part: 2^n */
#define CAPTURE_CGROUP_NAME   256	 /* bytes of a part, NAME_MAX + 1 */

/* The path of a cgroup below the root of its hierarchy. */
struct cgroup_record {
	__u64 key;
	__u32 cut;					      /* 1: its first parts are missing */
	__u32 bytes;					      /* of `text` */
	char text[CAPTURE_CGROUP_PATH + CAPTURE_CGROUP_NAME]; /* its parts, the last one first, each
							       * with a byte 0 behind it */
};

/* ---- command lines ----------------------------------------------------------------------------
 */

#define CAPTURE_CMDLINES_BYTES (1u << 20) /* their ring */
#define CAPTURE_CMDLINE_SHORT  240	  /* bytes that most have room in */
#define CAPTURE_CMDLINE_LONG   4096	  /* bytes that are recorded at most */

/* What a process has executed. */
struct cmdline_record {
	__u64 time;  /* ns, CLOCK_MONOTONIC */
	__u32 pid;   /* process (tgid) */
	__u32 bytes; /* of the command line, which may have been cut */
	char text[]; /* its arguments, each with a byte 0 behind it */
};

/* The argument of the program follow_caller, which the loader runs in itself. */
struct follow_request {
	__u32 follow; /* 1: the children that this thread creates from now on are traced */
};

/* ---- functions of the kernel -------------------------------------------------------------------
 */

/* The calls of bpf/kfuncs.h, and what the loader knows them by. */
enum kfunc {
	KFUNC_RDONLY_CAST,
	KFUNC_ITER_TASK_NEW,
	KFUNC_ITER_TASK_NEXT,
	KFUNC_ITER_TASK_DESTROY,
	KFUNC_PREEMPT_DISABLE,
	KFUNC_PREEMPT_ENABLE,
	KFUNC_RCU_READ_LOCK,
	KFUNC_RCU_READ_UNLOCK,
	KFUNC_SEND_SIGNAL_TASK,
	KFUNCS, /* how many */
};
#define KFUNC_CALL 0x70000000 /* helper numbers start at 1 */
#define KFUNC_TAIL_CALL                                                                            \
	0x70001000 /* no kfunc, but bpf_tail_call(), where there are private stacks */

#endif
