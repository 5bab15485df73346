/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opens and closes regions of --control. A region is a process's or, with region_by_thread, a
 * thread's. When it is opened each of its threads is recorded with the state that it is in.
 *
 * The order of the steps makes the trace correct. First the region is opened, so every transition
 * from then on is logged. Then each thread's state is read, and then the clock. A transition that
 * was logged before that instant says more than the snapshot, and one after it agrees with it. A
 * switch may be under way when the region is opened. It has set the run queue's current thread
 * before it asks whether the region is open (__schedule()). The current thread of the run queue
 * therefore counts as running. task_struct::on_cpu does not, because it follows later.
 */
#ifndef OVNITRACE_REGION_H
#define OVNITRACE_REGION_H

#include <ovnitrace/control.h>

/* What is left to do when an alarm has fired: its program must do that itself, because no function
 * that it calls can call functions of the kernel (bpf/kfuncs.h). */
enum visit {
	VISIT_NOBODY = 0,
	VISIT_OPENED = 1, /* record the threads of a region that was opened */
	VISIT_OPEN = 2,	  /* with region_by_thread: open it for all threads of the process */
	VISIT_CLOSE = 3,
};

struct visitor {
	__u32 pid, tid; /* who fired */
	__u32 visit;	/* enum visit */
	__u32 what;	/* par2 of FTrace_EXT_region */
	__u32 only;	/* VISIT_OPENED: this thread; 0: all of the process */
};

/* Sends a region event. Builds the record in the ring, because callers leave too little stack
 * on 6.1. */
static __noinline int send_region(__u32 pid, __u32 tid, __u32 what, __u64 time)
{
	__u64 wakeup = life_wakeup();
	struct life_record *r = bpf_ringbuf_reserve(&life, sizeof(*r), 0);

	if (!r) {
		life_count_lost();
		return 0;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->time = time;
	r->kind = LIFE_REGION;
	r->cpu = bpf_get_smp_processor_id();
	r->tid = tid;
	r->pid = pid;
	r->arg = what | (region_by_thread ? FTRACE_REGION_THREAD : 0);
	bpf_ringbuf_submit(r, wakeup);
	return 0;
}

static __always_inline void count_region(__s64 more)
{
	__u32 open = REGIONS_OPEN;
	__u64 *count = bpf_map_lookup_elem(&regions, &open);

	if (count)
		__sync_fetch_and_add(count, more);
}

/* Opens a region, and returns whether it was closed. The count of open regions is raised first, so
 * it is never lower than the number of open regions. */
static __always_inline bool set_open(__u64 *region, __u64 now)
{
	__u32 opened = REGIONS_OPENED;
	__u64 *last;

	count_region(1);
	if (__sync_val_compare_and_swap(region, 0, now)) {
		count_region(-1);
		return false;
	}
	last = bpf_map_lookup_elem(&regions, &opened);
	if (last)
		*(volatile __u64 *)last = now;
	return true;
}

/* Closes a region, and returns whether it was open. */
static __always_inline bool set_closed(__u64 *region)
{
	if (!region || !__sync_lock_test_and_set(region, 0))
		return false;
	count_region(-1);
	return true;
}

/* Opens the region of a thread, and returns whether it was closed. An alarm that starts an open
 * region is recorded, too, as long as that leaves room in the ring for more important events. */
static __always_inline bool open_region(__u32 pid, __u32 tid, __u32 what)
{
	__u64 *region = region_of(pid, tid), now = bpf_ktime_get_ns();

	if (!region)
		return false;
	if (set_open(region, now)) {
		send_region(pid, tid, what, now);
		return true;
	}
	if (!(what >> FTRACE_REGION_TYPE_SHIFT & 0xff))
		return false; /* no alarm: the program itself has opened it */
	if (bpf_ringbuf_query(&life, BPF_RB_AVAIL_DATA) < CAPTURE_LIFE_BYTES / 2)
		send_region(pid, tid, what | FTRACE_REGION_AGAIN, now);
	else
		life_count_lost();
	return false;
}

static __always_inline void close_region(__u32 pid, __u32 tid, __u32 what)
{
	if (set_closed(region_of(pid, tid)))
		send_region(pid, tid, what, bpf_ktime_get_ns());
}

/* Applies an event of a chain to the thread that fires or, with `all`, to every thread of its
 * process. */
static __always_inline void do_event(struct visitor *v, __u32 event, __u32 what, bool all)
{
	if (event == CONTROL_THREADID) {
		send_region(v->pid, v->tid, what, bpf_ktime_get_ns());
	} else if (event == CONTROL_PRECOND) {
		return;
	} else if (region_by_thread && all) {
		v->visit = event == CONTROL_START ? VISIT_OPEN : VISIT_CLOSE;
		v->what = what;
	} else if (event == CONTROL_STOP) {
		close_region(v->pid, v->tid, what);
	} else if (open_region(v->pid, v->tid, what)) {
		v->visit = VISIT_OPENED;
		v->only = region_by_thread ? v->tid : 0;
	}
}

static __noinline int visit_thread(struct task_struct *p, struct visitor *v)
{
	struct life_record r;
	__u32 pid, tid, what;

	if (!p || !v)
		return 0;
	pid = p->tgid;
	tid = p->pid;
	if (pid != v->pid || (v->only && tid != v->only) || !is_traced(tid))
		return 0;
	what = v->what | (tid == v->tid ? 0 : FTRACE_REGION_OTHER);
	if (v->visit == VISIT_CLOSE) {
		close_region(pid, tid, what);
		return 0;
	}
	if (v->visit == VISIT_OPEN && !open_region(pid, tid, what))
		return 0;
	life_fill(&r, LIFE_SNAPSHOT, p, 0);
	r.arg = snapshot_word(p, has_its_cpu(p));
	if ((r.arg & FTRACE_SNAPSHOT_STATE_MASK) == OVNI_THREAD_PAUSED)
		r.call = blocked_call(p);
	r.time = bpf_ktime_get_ns();
	if (in_region(p)) /* it may have been closed meanwhile */
		life_send(&r);
	return 0;
}

/* Visits all threads of the machine. A thread cannot visit only those of its process, because the
 * iterator goes from the thread that it is given to the last one. `sleepable`: the calling program
 * may sleep. Returns false if the kernel cannot do it: then the loader does. */
static __always_inline bool visit_threads(struct visitor *v, bool sleepable)
{
	struct bpf_iter_task it;
	struct task_struct *p;

	/* Before 6fceea0fa59f ("bpf: Transfer RCU lock state between subprog calls", 6.9), a
	 * program that may sleep cannot call its functions under the lock. A kernel with the kfunc
	 * of 6.10 is new enough. */
	if (!has_kfunc(KFUNC_ITER_TASK_NEW) || (sleepable && !has_kfunc(KFUNC_PREEMPT_DISABLE)))
		return false;
	if (sleepable)
		kfunc_rcu_read_lock();
	kfunc_iter_task_new(&it, (void *)0, BPF_TASK_ITER_ALL_THREADS);
	while ((p = kfunc_iter_task_next(&it)))
		visit_thread(p, v);
	kfunc_iter_task_destroy(&it);
	if (sleepable)
		kfunc_rcu_read_unlock();
	return true;
}

#endif
