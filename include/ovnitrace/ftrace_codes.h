/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Defines the event codes of FTrace, the trace format of the S.Ha.R.K. tracer, by the names of its
 * manual ("S.Ha.R.K. User Manual, Volume V: The New Tracer", chapter 2), and ovnitrace's extensions
 * on codes that the manual leaves free. docs/format.md explains each extension.
 *
 * The low nibble of a code is its family, the high nibble the event in it.
 */
#ifndef OVNITRACE_FTRACE_CODES_H
#define OVNITRACE_FTRACE_CODES_H

enum ftrace_family {
	FTRACE_FAMILY_TRACE = 0,
	FTRACE_FAMILY_IPOINT = 1,
	FTRACE_FAMILY_TASK = 2,
	FTRACE_FAMILY_INTERRUPT = 3,
	FTRACE_FAMILY_CPU = 4,
	FTRACE_FAMILY_PRIORITY = 5,
	FTRACE_FAMILY_MUTEX = 6,
	FTRACE_FAMILY_SIGNAL = 7,
	FTRACE_FAMILY_SERVER = 8,
	FTRACE_FAMILY_USER = 9,
	FTRACE_FAMILY_DATA = 10,
	FTRACE_FAMILY_TIMER = 11,
	FTRACE_FAMILIES = 12,	  /* how many the manual has */
	FTRACE_FAMILY_POWER = 14, /* ovnitrace's */
};

/* A set of families has this bit for each. */
#define FTRACE_FAMILY_BIT(family) (1u << (family))

enum ftrace_code {
	/* family 0: general trace events */
	FTrace_EVT_empty = 0x00,	   /* an unused slot: skipped by readers */
	FTrace_EVT_cycles_per_msec = 0x10, /* (-, ticks of the clock per millisecond) */
	FTrace_EVT_trace_start = 0x20,	   /* (context, clk_per_msec) */
	FTrace_EVT_trace_stop = 0x30,
	FTrace_EVT_blackout_start = 0x40, /* events were lost from here ... */
	FTrace_EVT_blackout_end = 0x50,	  /* ... to here; par2: how many */
	FTrace_EVT_id = 0x60,	     /* (context, pid): binds a context; our pid is a Linux tid */
	FTrace_EVT_numevents = 0x70, /* par2: records of this chunk, this one included */

	/* family 1: lightweight tracing */
	FTrace_EVT_ipoint = 0x01, /* (number, -) */

	/* family 2: tasks */
	FTrace_EVT_task_create = 0x02,	 /* (context, pid) */
	FTrace_EVT_task_activate = 0x12, /* (context, -): woken; par2: ftrace_wakeup_* below */
	FTrace_EVT_task_dispatch = 0x22, /* gets the CPU; par2: ftrace_dispatch_* below */
	FTrace_EVT_task_epilogue = 0x32, /* loses the CPU while ready; par2: ftrace_offcpu_* */
	FTrace_EVT_task_end = 0x42,	 /* (context, pid): has left its CPU for the last time */
	FTrace_EVT_task_begin_cycle = 0x52,
	FTrace_EVT_task_end_cycle = 0x62, /* (context, level) */
	FTrace_EVT_task_sleep = 0x72,	  /* loses the CPU blocked; par2: ftrace_offcpu_* */
	FTrace_EVT_task_schedule = 0x82,  /* (exec_shadow.context, exec.context) */
	FTrace_EVT_task_timer = 0x92,	  /* (context, level) */
	FTrace_EVT_task_disable = 0xA2,
	FTrace_EVT_task_deadline_miss = 0xB2,  /* (context, -) */
	FTrace_EVT_task_wcet_violation = 0xC2, /* (context, -) */

	/* family 3: interrupts */
	FTrace_EVT_interrupt_start = 0x03, /* (int, -) */
	FTrace_EVT_interrupt_end = 0x13,   /* (int, -) */
	FTrace_EVT_interrupt_hit = 0x23,   /* the instant of an interrupt that has no end event */
	FTrace_EVT_interrupt_count = 0x33, /* raised since the last interrupt_count */

	/* family 4: CPU */
	FTrace_EVT_to_real_mode = 0x04,
	FTrace_EVT_to_protected_mode = 0x14,
	FTrace_EVT_CLI = 0x24,
	FTrace_EVT_STI = 0x34,

	/* family 5: priority */
	FTrace_EVT_set_priority = 0x05,
	FTrace_EVT_context_switch = 0x15, /* (context, -) */
	FTrace_EVT_inheritance = 0x25,	  /* (exec_shadow.context, exec.context) */

	/* family 6: mutexes */
	FTrace_EVT_mutex_create = 0x06,
	FTrace_EVT_mutex_lock = 0x16, /* (context, mutex) */
	FTrace_EVT_mutex_inherit = 0x26,
	FTrace_EVT_mutex_unlock = 0x36,		 /* (context, mutex) */
	FTrace_EVT_mutex_unlock_misprint = 0x43, /* as the manual prints it: read, never written */
	FTrace_EVT_mutex_wait = 0x46,		 /* (context, mutex) */
	FTrace_EVT_mutex_post = 0x56,		 /* (context, mutex) */

	/* family 7: signals */
	FTrace_EVT_signal = 0x07,

	/* family 8: servers */
	FTrace_EVT_server_create = 0x08, /* (-, server) */
	FTrace_EVT_server_replenish = 0x18,
	FTrace_EVT_server_exhaust = 0x28,
	FTrace_EVT_server_reclaiming = 0x38,
	FTrace_EVT_server_remove = 0x48,
	FTrace_EVT_server_active = 0x58,
	FTrace_EVT_server_using_rec = 0x68, /* (reclaiming, server) */

	/* family 9: user events (free, free); number n is n << 4 | 9, 0 <= n <= 14 */
	FTrace_EVT_user_event_0 = 0x09,
	FTrace_EVT_user_event_1 = 0x19,
	FTrace_EVT_user_event_2 = 0x29,
	FTrace_EVT_user_event_3 = 0x39,
	FTrace_EVT_user_event_4 = 0x49,
	FTrace_EVT_user_event_5 = 0x59,
	FTrace_EVT_user_event_6 = 0x69,
	FTrace_EVT_user_event_7 = 0x79,
	FTrace_EVT_user_event_8 = 0x89,
	FTrace_EVT_user_event_9 = 0x99,
	FTrace_EVT_user_event_10 = 0xA9,
	FTrace_EVT_user_event_11 = 0xB9,
	FTrace_EVT_user_event_12 = 0xC9,
	FTrace_EVT_user_event_13 = 0xD9,
	FTrace_EVT_user_event_14 = 0xE9,

	/* family A: data */
	FTrace_EVT_data_pointer = 0x1A, /* data of the previous event */

	/* family B: timers */
	FTrace_EVT_timer_post = 0x0B,
	FTrace_EVT_timer_delete = 0x1B,
	FTrace_EVT_timer_wakeup_start = 0x2B,
	FTrace_EVT_timer_wakeup_end = 0x3B, /* (context, -) */

	/* family C, free in the manual: ovnitrace's extensions about a thread */
	FTrace_EXT_process =
		0x0C, /* (context, tgid); the TSC is the birth of the thread, 0 unknown */
	FTrace_EXT_name_0 = 0x1C, /* (context, characters 0-3 of the comm, first in the low byte) */
	FTrace_EXT_name_1 = 0x2C, /* characters 4-7 */
	FTrace_EXT_name_2 = 0x3C, /* characters 8-11 */
	FTrace_EXT_name_3 = 0x4C, /* characters 12-15 */
	FTrace_EXT_exec = 0x5C,	  /* (context, tid that the thread had before) */
	FTrace_EXT_exit = 0x6C,	  /* (context, wait status): begins to exit */
	FTrace_EXT_migrate = 0x7C,  /* (context, CPU it was put on) */
	FTrace_EXT_snapshot = 0x8C, /* (context, ftrace_snapshot_*): alive before the capture */
	FTrace_EXT_parent = 0x9C,   /* (context, tid of the creator); the TSC is the birth */
	FTrace_EXT_state =
		0xAC, /* (context, as EXT_snapshot): its state, for who lacks what is before */
	FTrace_EXT_stack = 0xBC, /* (context, number of the stack with which it leaves its CPU) */
	FTrace_EXT_waker_stack = 0xCC, /* (context, number of the stack of its waker) */
	FTrace_EXT_affinity = 0xDC,    /* (context, ftrace_affinity_*): CPUs that it may use */
	FTrace_EXT_switch = 0xEC, /* (context, FTRACE_SWITCH_*): it leaves its CPU to another one */
	FTrace_EXT_wake_switch = 0xFC, /* the same, which it has woken (FTRACE_WAKE_SWITCH_*) */

	/* family D, free in the manual: ovnitrace's extensions about a chunk */
	FTrace_EXT_chunk = 0x0D,   /* (CPU, number of the chunk in its file, from 0) */
	FTrace_EXT_format = 0x1D,  /* (version of the extensions, FTRACE_FORMAT_*) */
	FTrace_EXT_enable = 0x2D,  /* (context, -): the program called FTrace_enable */
	FTrace_EXT_disable = 0x3D, /* (context, -): it called FTrace_disable */
	FTrace_EXT_region = 0x4D,  /* (context, FTRACE_REGION_*): an alarm of --control has fired */
	FTrace_EXT_holder = 0x5D,  /* (CPU, tid): who has this CPU, for which a thread of the
				    * trace waits */
	FTrace_EXT_device = 0x6D, /* (context, FTRACE_DEVICE_*): it is woken by this block device */
	FTrace_EXT_refill = 0x7D, /* (context, -): throttled until now, it may run again */
	FTrace_EXT_work =
		0x8D, /* (context, tid): the next wakeup of the thread is by a kernel worker,
		       * in a work item that this thread queued, 0: an interrupt */
	FTrace_EXT_work_age = 0x9D, /* (context, FTRACE_WORK_*): follows it: how long ago */
	FTrace_EXT_cgroup = 0xAD, /* (context, number of its cgroup in trace.json); the TSC is since
				   * when it is in it, 0: since before the capture */
	FTrace_EXT_cgroup_move = 0xBD, /* (context, number): it was put into this cgroup */
	FTrace_EXT_mark = 0xCD, /* (number of the mark, -): the user called ovnitrace ctl mark */
	/* room for events that need more than one record: */
	FTrace_EXT_extension = 0xDD, /* (EXT_payload records that follow, 32-bit family) */
	FTrace_EXT_payload = 0xED,   /* 14 bytes of it in place of the other fields */

	/* family E, free in the manual: ovnitrace's extensions about power */
	FTrace_EXT_idle_start = 0x0E, /* (-, number of the idle state that the CPU enters) */
	FTrace_EXT_idle_end = 0x1E,   /* (-, -): the CPU has left it */
	FTrace_EXT_frequency = 0x2E,  /* (CPU, kHz that it runs at from now on) */
	FTrace_EXT_steal = 0x3E,      /* (-, us that the hypervisor took since the last reading) */

	FTrace_EVT_next_chunk = 0xFF, /* the chunk ends here and goes on in the linked one */
};

/* Version of the extensions, parameter 1 of FTrace_EXT_format. A reader refuses a newer one. Since
 * 2, records of blocked threads have an ftrace_call; since 3 there are FTrace_EXT_switch and
 * FTrace_EXT_wake_switch, and times can be differences; since 4 there are the codes that only 4
 * has, an FTrace_EXT_region can be a start of a region that is open already, and
 * FTrace_EXT_extension can add families of events without a new version. */
#define FTRACE_EXT_VERSION 4

/* par2 of FTrace_EXT_format: from the next record on to the end of the chunk, the TSC is how much
 * more it is than that of the record before, modulo 2^64. */
#define FTRACE_FORMAT_DIFFERENCES 1u

/* What FTrace_fire() does: the events of --control. */
enum FTrace_fire_event {
	FTrace_FIRE_stop = 0,	  /* the region stops */
	FTrace_FIRE_start = 1,	  /* it starts */
	FTrace_FIRE_threadid = 2, /* the thread is marked in the trace */
};

/* A reader looks at these bits of a code: fast ipoints set bit 15, an ftrace_call bits 8-14. */
#define FTRACE_CODE_MASK 0x00FF

/* Filters: family n has the filter code 0xF0 | n. */
#define FTrace_filter_trace_Events 0xF0
#define FTrace_filter_ipoint	   0xF1
#define FTrace_filter_task	   0xF2
#define FTrace_filter_interrupt	   0xF3
#define FTrace_filter_CPU	   0xF4
#define FTrace_filter_priority	   0xF5
#define FTrace_filter_mutex	   0xF6
#define FTrace_filter_signal	   0xF7
#define FTrace_filter_server	   0xF8
#define FTrace_filter_user	   0xF9
#define FTrace_filter_data	   0xFA
#define FTrace_filter_timer	   0xFB
#define FTrace_family_mask	   0x0F

/* par2 of task_epilogue, task_sleep (offcpu) and task_activate (wakeup): a tid in the low 22 bits
 * (a Linux tid is below 2^22, PID_MAX_LIMIT), a reason or context in the high byte, of which an
 * ftrace_call has the upper half. */
#define FTRACE_TID_MASK	    0x003fffffu
#define FTRACE_REASON_SHIFT 24
#define FTRACE_REASON_MASK  0x0f000000u

/* The class of the thread that gets a CPU and is not traced: bits 22-23 of par2 of task_epilogue,
 * task_sleep and FTrace_EXT_holder. */
enum ftrace_class {
	FTRACE_CLASS_UNKNOWN = 0,
	FTRACE_CLASS_NORMAL = 1,
	FTRACE_CLASS_REAL_TIME = 2, /* SCHED_FIFO, SCHED_RR, or it inherits such a priority */
	FTRACE_CLASS_DEADLINE = 3,
};
#define FTRACE_CLASS_SHIFT 22
#define FTRACE_CLASS_MASK  0x00c00000u

/* Why a thread left its CPU: high byte of par2 of task_epilogue and task_sleep; the tid is the one
 * that runs instead (0: the idle task). Values are never renumbered. */
enum ftrace_offcpu_reason {
	FTRACE_OFFCPU_YIELDED = 0,    /* runnable, gave the CPU up */
	FTRACE_OFFCPU_PREEMPTED = 1,  /* runnable, preempted */
	FTRACE_OFFCPU_SLEEP = 2,      /* S: interruptible sleep */
	FTRACE_OFFCPU_DISK = 3,	      /* D: uninterruptible sleep */
	FTRACE_OFFCPU_STOPPED = 4,    /* T: by a signal */
	FTRACE_OFFCPU_TRACED = 5,     /* t: by a debugger */
	FTRACE_OFFCPU_DEAD = 6,	      /* X, Z: never comes back (written as task_end) */
	FTRACE_OFFCPU_PARKED = 7,     /* P: parked kernel thread */
	FTRACE_OFFCPU_IDLE = 8,	      /* I: idle kernel thread */
	FTRACE_OFFCPU_THROTTLED = 9,  /* runnable, its cgroup has used up its CPU quota */
	FTRACE_OFFCPU_REFILLED = 10,  /* was throttled, and may run again (EXT_refill) */
	FTRACE_OFFCPU_EXHAUSTED = 11, /* runnable, SCHED_DEADLINE: has used up its budget and waits
				       * for its next period */
	FTRACE_OFFCPU_NEXT_PERIOD = 12, /* runnable, SCHED_DEADLINE: has yielded, which gives the
					 * rest of its budget back until its next period */
	FTRACE_OFFCPU_FROZEN = 13,	/* by the freezer of its cgroup or of the system */
	FTRACE_OFFCPU_WAITED = 14, /* Warming: waited for a CPU when a snapshot found it; whether it
				    * was woken or preempted is not known */
};

/* Returns whether a thread that left its CPU for this reason is throttled: it could run, but may
 * not before an EXT_refill. */
static inline int ftrace_offcpu_is_throttled(unsigned reason)
{
	return reason == FTRACE_OFFCPU_THROTTLED || reason == FTRACE_OFFCPU_EXHAUSTED ||
	       reason == FTRACE_OFFCPU_NEXT_PERIOD;
}

/* Returns whether a thread that left its CPU for this reason could still run: written as
 * task_epilogue. */
static inline int ftrace_offcpu_is_runnable(unsigned reason)
{
	return reason <= FTRACE_OFFCPU_PREEMPTED || ftrace_offcpu_is_throttled(reason);
}

/* In which system call a thread is when it leaves its CPU blocked: 11 bits of the record of that.
 * The numbers are those of the machine that was recorded. */
enum ftrace_call {
	FTRACE_CALL_UNKNOWN = 0, /* nobody looked */
	FTRACE_CALL_NONE = 1,	 /* in none: a page fault, or a kernel thread */
	FTRACE_CALL_NATIVE = 2,	 /* and from here on: 2 + the number, which is below 1022 */
	FTRACE_CALL_COMPAT =
		1024, /* 1024 + the number of a call of a 32-bit program, which is below 1024 */
	FTRACE_CALLS = 2048, /* how many values */
};

/* Where it is in task_sleep, FTrace_EXT_switch, FTrace_EXT_wake_switch, FTrace_EXT_snapshot and
 * FTrace_EXT_state: its upper 7 bits in bits 8-14 of the code, its lower 4 in bits 28-31 of par2.
 */
#define FTRACE_CALL_OF(code, par2) (((code) >> 8 & 0x7fu) << 4 | (par2) >> 28)
#define FTRACE_CALL_CODE(call)	   ((unsigned)(call) >> 4 << 8)
#define FTRACE_CALL_PAR2(call)	   ((unsigned)(call) << 28)

/* In which context a wakeup was made: bits 24-27 of par2 of task_activate; the tid is that of the
 * waker, the thread that ran there (0: the idle task). Only a waker in task context woke by itself;
 * otherwise an interrupt did while it ran. */
enum ftrace_wakeup_context {
	FTRACE_WAKER_TASK = 0,
	FTRACE_WAKER_SOFTIRQ = 1,
	FTRACE_WAKER_HARDIRQ = 2,
	FTRACE_WAKER_NMI = 3,
	FTRACE_WAKER_UNKNOWN = 4,
};
#define FTRACE_WAKEUP_NEW	 0x00800000u /* bit 23 of par2: the first wakeup of a new thread */
/* Bits 28-31 of par2: why the woken thread may not run yet, enum ftrace_offcpu_reason, one of those
 * that are throttled. 0: it may run. */
#define FTRACE_WAKEUP_HELD_SHIFT 28

/* par2 of task_dispatch: 2 + the kernel's priority (-1 SCHED_DEADLINE, 0-98 real time, 100-139 nice
 * -20..19) in the low byte; 0 when it is not known. */
#define FTRACE_PRIO_MASK       0xffu
#define FTRACE_PRIO_BIAS       2
#define FTRACE_PRIO_FIRST_NICE (100 + FTRACE_PRIO_BIAS) /* nice -20 */

/* Returns the class of a thread with this priority. */
static inline enum ftrace_class ftrace_class_of(unsigned priority)
{
	return !priority			   ? FTRACE_CLASS_UNKNOWN
	       : priority < FTRACE_PRIO_BIAS	   ? FTRACE_CLASS_DEADLINE
	       : priority < FTRACE_PRIO_FIRST_NICE ? FTRACE_CLASS_REAL_TIME
						   : FTRACE_CLASS_NORMAL;
}

/* par2 of FTrace_EXT_switch, which says what a task_sleep or a task_epilogue (by the reason) of the
 * thread and a task_dispatch of the next one would: the context of the next one in the low 16 bits,
 * its priority as in task_dispatch above them, and the reason as in task_sleep. */
#define FTRACE_SWITCH_NEXT_MASK	 0xffffu
#define FTRACE_SWITCH_PRIO_SHIFT 16

/* par2 of FTrace_EXT_wake_switch, which says first that the thread woke the next one by itself (as
 * task_activate does), so many ticks before, and then what FTrace_EXT_switch does: the context of
 * the next one in the low 13 bits, the ticks in 11 bits above them. Its priority is that of nice 0.
 */
#define FTRACE_WAKE_SWITCH_NEXT_MASK   0x1fffu
#define FTRACE_WAKE_SWITCH_TICKS_SHIFT 13
#define FTRACE_WAKE_SWITCH_TICKS_MASK  0x7ffu
#define FTRACE_WAKE_SWITCH_PRIO	       (120 + FTRACE_PRIO_BIAS)

/* par2 of set_priority: the priority as in task_dispatch, and above it 1 + the policy (SCHED_OTHER
 * 0, SCHED_FIFO 1, …, of <linux/sched.h>). par2 of inheritance: the context of the thread that it
 * runs for; its own: for no other any more. */
#define FTRACE_POLICY_SHIFT 8

/* Parameter 1 of blackout_start and blackout_end: what was lost. */
enum ftrace_blackout {
	FTRACE_BLACKOUT_TRANSITIONS = 0, /* and maybe others, on this CPU */
	FTRACE_BLACKOUT_SOMEWHERE = 1,	 /* on the whole machine, it is not known on which CPU */
	FTRACE_BLACKOUT_FAMILIES = 2,	 /* no transitions, only events of other families */
	FTRACE_BLACKOUT_FORGOTTEN =
		3, /* all on this CPU, by a flight recorder: older than what it keeps */
	FTRACE_BLACKOUT_MISSING =
		4, /* in no file: a reader says so where records of this CPU are missing */
	FTRACE_BLACKOUT_PAUSED = 5, /* all: the user had paused the capture */
	FTRACE_BLACKOUT_OUTSIDE =
		6, /* in no file: of several traces, this one begins later or ends earlier */
};

/* Parameter 1 of interrupt_start and interrupt_end: an interrupt request has its number, the others
 * these bits beside it. par2 is the tid of the thread that was interrupted (0: the idle task). */
#define FTRACE_INTERRUPT_SOFT	0x8000u /* softirq: its number in the low bits */
#define FTRACE_INTERRUPT_VECTOR 0x4000u /* x86: a vector of the local APIC, timer and IPIs */

/* par2 of signal; par1 is the context of the receiver. */
#define FTRACE_SIGNAL_SHIFT 24 /* 8 bits: number of the signal */
#define FTRACE_SIGNAL_DELIVERED                                                                    \
	0x00800000u /* bit 23: the receiver takes it now; 0: it is being sent */
#define FTRACE_SIGNAL_PROCESS                                                                      \
	0x00400000u /* bit 22: sent to the whole process. Bits 0-21: the sender's                  \
		     * tid, 0: the kernel; not known on delivery */

/* par2 of the events of mutexes: the low 32 bits of the futex's address, which has its two lowest
 * bits 0. These are used on mutex_lock, the end of a wait. */
#define FTRACE_FUTEX_PLAIN   1u /* not a PI futex: the kernel does not know whether it is a lock */
#define FTRACE_FUTEX_GAVE_UP 2u /* the wait failed: timeout, signal, or the value had changed */

/* par2 of server_exhaust: by how many ns more than its budget the thread ran; with this bit, it
 * gave the rest of it back (sched_yield), so many ns. */
#define FTRACE_SERVER_YIELDED 0x80000000u

/* par2 of the events of timers: which kind in the low bits, above it of timer_post in how many us
 * it is to expire, of timer_wakeup_start by how many ns it is late; at most 2^28 - 1. Values are
 * never renumbered. */
enum ftrace_timer_kind {
	FTRACE_TIMER_OTHER = 0,
	FTRACE_TIMER_SLEEP = 1,	  /* a sleep, or the timeout of another wait */
	FTRACE_TIMER_ITIMER = 2,  /* setitimer(ITIMER_REAL), alarm */
	FTRACE_TIMER_POSIX = 3,	  /* timer_settime */
	FTRACE_TIMER_TIMERFD = 4, /* timerfd_settime */
};
#define FTRACE_TIMER_KIND_MASK 0xfu
#define FTRACE_TIMER_SHIFT     4

/* par2 of FTrace_EXT_snapshot and FTrace_EXT_state: the thread state, by ovni's value, in the low
 * byte, the reason of enum ftrace_offcpu_reason in the high byte where it is off its CPU, its CPU
 * in bits 8-23 (0xffff: not known). */
#define FTRACE_SNAPSHOT_STATE_MASK 0xffu
#define FTRACE_SNAPSHOT_CPU_SHIFT  8
#define FTRACE_SNAPSHOT_NO_CPU	   0xffffu

/* par2 of FTrace_EXT_work_age: ns or, with this bit, us. */
#define FTRACE_WORK_MICROSECONDS  0x80000000u
/* par2 of FTrace_EXT_device: the device whose I/O has just ended, as the kernel numbers it (dev_t);
 * 0: it is not known which. The next record is the wakeup. */
#define FTRACE_DEVICE_MAJOR_SHIFT 20
#define FTRACE_DEVICE_MINOR_MASK  0x000fffffu

/* par2 of FTrace_EXT_affinity: one word of a mask of CPUs, a bit for each that the thread may use:
 * CPU 24 * index + bit. The words of one mask follow one another at one time, index 0 first; those
 * without a bit may be left out but for that. */
#define FTRACE_AFFINITY_CPUS  24
#define FTRACE_AFFINITY_MASK  0x00ffffffu
#define FTRACE_AFFINITY_SHIFT 24			   /* 8 bits: the index */
#define FTRACE_AFFINITY_MOST  (256 * FTRACE_AFFINITY_CPUS) /* beyond: not recorded */

#endif
