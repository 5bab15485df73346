/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declares the few kernel types that the programs look into, with the few members that they read.
 * CO-RE finds the real offsets in the running kernel's BTF when the programs are loaded, so neither
 * order nor size here means anything.
 */
#ifndef OVNITRACE_KTYPES_H
#define OVNITRACE_KTYPES_H

#define __VMLINUX_H__ /* bpf_tracing.h: registers have the kernel's names */

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
enum { false = 0, true = 1 };

/* Which way is taken nearly always: what is kept in registers depends on it. */
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* include/uapi/linux/bpf.h */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_F_NO_PREALLOC = 1, BPF_F_MMAPABLE = 1 << 10 };
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_F_USER_STACK = 1 << 8 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };
enum { BPF_RB_AVAIL_DATA = 0 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct;

struct rq {
	struct task_struct *curr;
	__u64 clock; /* ns, what SCHED_DEADLINE's deadlines are on */
	int online;
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
	__u64 sum_exec_runtime;
};

struct sched_info {
	unsigned long pcount;
	unsigned long long run_delay;
	unsigned long long last_arrival;
};

struct thread_info {
	__u64 preempt_count; /* arm64; the lower half is the count */
	__u32 status;	     /* x86 */
};

struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[1]; /* one a level of namespaces */
};

struct timerqueue_node {
	__s64 expires; /* ns, on the clock of the base */
};

struct hrtimer_clock_base {
	__s64 offset; /* ns: how much it is ahead of CLOCK_MONOTONIC */
};

struct hrtimer {
	struct timerqueue_node node;
	void *function;
	struct hrtimer_clock_base *base;
};

struct sched_dl_entity {
	__u64 dl_runtime; /* ns: the budget of a period */
	__s64 runtime;	  /* ns that are left; negative: overrun */
	__u64 deadline;	  /* absolute, of the job under way, on the clock of the runqueue */
	unsigned int dl_throttled : 1;
	unsigned int dl_yielded : 1;
	unsigned int dl_server : 1; /* no thread, but the budget of a whole class of threads */
	struct hrtimer dl_timer;    /* replenishes the budget */
};

struct cpumask {
	unsigned long bits[1]; /* a bit for each CPU that the kernel is built for */
};

typedef struct {
	unsigned int val;
} kuid_t;
struct cred {
	kuid_t uid;
	kuid_t suid;
};

struct list_head {
	struct list_head *next;
};

struct net_device {
	unsigned int flags; /* IFF_* */
};

struct sk_buff {
	struct net_device *dev;
};

struct kernfs_node {
	__u64 id;
	struct kernfs_node *__parent; /* null: the root */
	const char *name;
};

struct cgroup_root {
	int hierarchy_id; /* as in /proc/self/cgroup; 0: version 2 */
};

struct cgroup {
	int level; /* how many cgroups it is in */
	struct kernfs_node *kn;
	struct cgroup_root *root;
	struct cgroup *ancestors[1]; /* from the root to itself */
};

struct cgrp_cset_link {
	struct cgroup *cgrp;
	struct list_head cgrp_link;
};

/* The cgroups of a thread, one in each hierarchy. */
struct css_set {
	struct cgroup *dfl_cgrp;     /* of version 2 */
	struct list_head cgrp_links; /* all */
};

struct mm_struct {
	unsigned long arg_start, arg_end; /* the command line, in the process's memory */
	unsigned long task_size;	  /* bytes of its addresses */
};

struct task_struct {
	void *stack;
	struct mm_struct *mm;
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	unsigned int on_cpu; /* a byte from 7.2 on: a load of it fits both, as it is unsigned */
	int prio;
	int normal_prio; /* without what it inherits */
	unsigned int policy;
	struct cpumask cpus_mask; /* CPUs that it may use */
	struct sched_dl_entity dl;
	int exit_code;
	int exit_state;
	unsigned long jobctl;	 /* JOBCTL_* */
	unsigned int frozen : 1; /* is in the trap of the freezer, stopped or waits in vfork */
	int pid;
	int tgid;
	unsigned long nvcsw;
	unsigned long nivcsw;
	char comm[16];
	struct sched_entity se;
	struct sched_info sched_info;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	__u64 start_time;
	__u64 self_exec_id; /* one more after each execve */
	struct pid *thread_pid;
	const struct cred *cred;
	const struct cred *real_cred; /* its own, whatever it overrides */
	struct css_set *cgroups;
};

/* The user's registers at the entry into the kernel: the system call, if it was one, and its
 * arguments, which are still there when it returns. */
#if defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31];
	__u64 sp, pc, pstate;
};
struct pt_regs {
	__u64 regs[31];
	__u64 sp, pc, pstate;
	__u64 orig_x0; /* regs[0] becomes the result */
	int syscallno; /* -1 or below for an interrupt */
};
#else
struct pt_regs {
	unsigned long bx, cx, dx, si, di, ip, ax, sp, bp, cs;
	unsigned long orig_ax; /* the system call; -1 or below for an interrupt */
};
#endif

/* An iterator's state, on the stack of a program (kernel/bpf/task_iter.c). */
struct bpf_iter_task {
	__u64 __opaque[3];
} __attribute__((aligned(8)));

struct gendisk {
	int major;
	int first_minor;
};

struct block_device {
	struct gendisk *bd_disk;
};

struct bio {
	struct block_device *bi_bdev;
};

struct request_queue;
struct request {
	struct request_queue *q;
	struct block_device *part;
};

struct linux_binprm;
struct kernel_siginfo;
struct k_sigaction;
struct irqaction;

struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
	__u64 seq_num;
};
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

/* include/linux/sched/prio.h */
#define MAX_RT_PRIO 100

/* include/linux/sched.h */
#define TASK_INTERRUPTIBLE   0x0001
#define TASK_UNINTERRUPTIBLE 0x0002
#define __TASK_STOPPED	     0x0004
#define __TASK_TRACED	     0x0008
#define EXIT_DEAD	     0x0010
#define EXIT_ZOMBIE	     0x0020
#define TASK_PARKED	     0x0040
#define TASK_DEAD	     0x0080
#define TASK_WAKING	     0x0200
#define TASK_NOLOAD	     0x0400
#define TASK_NEW	     0x0800
#define TASK_FROZEN	     0x8000 /* 6.1 */
#define PF_WQ_WORKER	     0x00000020
#define PF_FROZEN	     0x00010000 /* until 6.0: by a freezer. Later: a thread of the kernel */
#define JOBCTL_TRAP_FREEZE   (1UL << 23)
#define PF_KTHREAD	     0x00200000

/* include/uapi/linux/if.h */
#define IFF_LOOPBACK 0x8

#endif
