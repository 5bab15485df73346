/*
 * Captures every scheduling transition of the traced threads.
 *
 * The hot programs (switch, waking, wakeup) cost a test for a thread that is not traced, and for one
 * that is: a clock read and two stores into this CPU's staging area. One message of CAPTURE_BATCH
 * transitions at a time goes to this CPU's ring buffer.
 *
 * Why the staging area needs no lock: sched_switch, sched_wakeup, sched_wakeup_new and
 * sched_migrate_task run with interrupts off (under the runqueue lock or p->pi_lock), so a CPU has a
 * single producer. The one exception is try_to_wake_up() of the running thread itself, which holds
 * only preemption off: that is no transition, and those programs return before they touch anything.
 * An interrupt in those few instructions can make the kernel skip a run of the same program
 * (bpf_prog::stats::misses); the loader reads that counter and tells it.
 *
 * Creation, exec, renaming and exit run with interrupts on: they go straight to the life ring.
 */
#include "ktypes.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include <ovnitrace/capture.h>
#include "kernel_diffs.h"
#include "shared_maps.h"

char LICENSE[] SEC("license") = "GPL";

/* ---- parameters, set by the loader before loading -------------------------------------------- */

const volatile __u32 snapshot_pid = 0; /* snapshot only this process, 0: all */

/* ---- maps ------------------------------------------------------------------------------------ */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* possible CPUs, set by the loader */
	__type(key, __u32);
	__type(value, struct cpu_stage);
} stages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, CAPTURE_LIFE_BYTES);
} life SEC(".maps");

__u64 life_lost = 0; /* life events that found no room */
__u32 program_pid = 0; /* the process that the loader started */
__u32 program_threads = 0; /* its threads that have not left their CPU for ever */
__u64 complete_since = -1ULL; /* ns: from here on the state of every traced thread is known; set by the loader */

/* ---- staging --------------------------------------------------------------------------------- */

/* Hands a full batch to this CPU's ring. The reader is woken once, when the watermark is crossed.
 * A batch that finds no room is lost as a whole, and told with the next that does. */
static __noinline int flush(struct cpu_stage *s, __u32 cpu)
{
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	__u64 used;

	if (!s)
		return 0;
	s->events += CAPTURE_BATCH;
	if (ring) {
		used = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);
		if (!bpf_ringbuf_output(ring, &s->batch, sizeof(s->batch),
					used < wakeup_watermark &&
							used + sizeof(s->batch) >= wakeup_watermark ?
						BPF_RB_FORCE_WAKEUP :
						BPF_RB_NO_WAKEUP)) {
			s->batch.lost = 0;
			return 0;
		}
	}
	if (!s->batch.lost)
		s->batch.lost_since = s->batch.records[0].time;
	s->batch.lost += CAPTURE_BATCH;
	s->lost_total += CAPTURE_BATCH;
	return 0;
}

static __always_inline void stage_at(struct cpu_stage *s, __u32 cpu, __u64 time, __u64 word)
{
	__u32 n = s->count & (CAPTURE_BATCH - 1);

	s->batch.records[n].time = time;
	s->batch.records[n].word = word;
	if (++n == CAPTURE_BATCH) {
		flush(s, cpu);
		n = 0;
	}
	s->count = n;
}

static __always_inline void stage(__u64 word)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_stage *s = bpf_map_lookup_elem(&stages, &cpu);

	if (s)
		stage_at(s, cpu, bpf_ktime_get_ns(), word);
}

/* ---- filter, the rest of it in shared_maps.h ---------------------------------------------------------------- */

static __always_inline void set_traced(__u32 tid)
{
	__u32 *entry = bpf_map_lookup_elem(&threads, &tid);

	if (entry)
		*entry = THREAD_TRACED | FTRACE_WAKER_UNKNOWN << THREAD_CONTEXT_SHIFT;
}

/* ---- life events ----------------------------------------------------------------------------- */

static __always_inline void life_fill(struct life_record *r, __u32 kind, struct task_struct *p,
				      __u32 arg)
{
	__builtin_memset(r, 0, sizeof(*r));
	r->time = bpf_ktime_get_ns();
	r->kind = kind;
	r->cpu = bpf_get_smp_processor_id();
	r->tid = p->pid;
	r->pid = p->tgid;
	r->arg = arg;
	bpf_probe_read_kernel_str(r->comm, sizeof(r->comm), p->comm); /* old kernels leave bytes behind its end */
}

static __always_inline void life_send(struct life_record *r)
{
	__u64 used = bpf_ringbuf_query(&life, BPF_RB_AVAIL_DATA);

	/* The reader is woken at each step of 64 KiB above a quarter, and not at one watermark: several CPUs
	 * send at once, and none of them may see a crossing. */
	if (bpf_ringbuf_output(&life, r, sizeof(*r),
			       used >= CAPTURE_LIFE_BYTES / 4 &&
					       used >> 16 != (used + sizeof(*r)) >> 16 ?
				       BPF_RB_FORCE_WAKEUP :
				       BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&life_lost, 1);
}

/* The last switch: the kernel's accounting of the thread is final now, its own update for this
 * switch (put_prev_task()) included. */
static __noinline int log_death(struct task_struct *p, __u32 tid)
{
	struct life_record r;

	life_fill(&r, LIFE_DEAD, p, 0);
	r.tid = tid;
	r.account.run_ns = p->se.sum_exec_runtime;
	r.account.wait_ns = p->sched_info.run_delay;
	r.account.slices = p->sched_info.pcount;
	r.account.voluntary = p->nvcsw;
	r.account.involuntary = p->nivcsw;
	life_send(&r);
	if ((__u32)p->tgid == program_pid)
		__sync_fetch_and_add(&program_threads, -1);
	return 0;
}

/* task_newtask and not sched_process_fork: that one is not raised for the threads that io_uring and
 * vhost create (create_io_thread()), and this one is, just as early: before the child can run. */
SEC("tp_btf/task_newtask")
int BPF_PROG(on_newtask, struct task_struct *child, __u64 clone_flags)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	__u32 tid = child->pid;
	__u32 *entry = bpf_map_lookup_elem(&threads, &tid);
	__u32 creator = thread_entry(parent->pid);
	struct life_record r;

	if (creator & THREAD_FOLLOW)
		program_pid = child->tgid;
	if (!trace_all && !(creator & (THREAD_TRACED | THREAD_FOLLOW))) {
		if (entry && *entry)
			*entry = 0; /* the tid was a traced thread's once */
		return 0;
	}
	set_traced(tid);
	if ((__u32)child->tgid == program_pid)
		__sync_fetch_and_add(&program_threads, 1);
	life_fill(&r, LIFE_NEW, child, parent->pid);
	life_send(&r);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *p, int old_tid, struct linux_binprm *bprm)
{
	struct life_record r;

	if (!is_traced(p->pid) && !is_traced(old_tid))
		return 0;
	if (p->pid != old_tid)
		set_traced(p->pid);
	life_fill(&r, LIFE_EXEC, p, old_tid);
	life_send(&r);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct *p, const char *comm)
{
	struct life_record r;

	if (!is_traced(p->pid))
		return 0;
	life_fill(&r, LIFE_RENAME, p, 0);
	__builtin_memset(r.comm, 0, sizeof(r.comm));
	bpf_probe_read_kernel_str(r.comm, sizeof(r.comm), comm);
	life_send(&r);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *p)
{
	struct life_record r;

	if (!is_traced(p->pid))
		return 0;
	life_fill(&r, LIFE_EXIT, p, p->exit_code);
	life_send(&r);
	return 0;
}

/* ---- transitions ----------------------------------------------------------------------------- */

/* Why a thread that blocked did; __state as include/linux/sched.h has it. Compound states (killable
 * and idle sleeps) are told by the bits that ps tells them by. */
static __always_inline __u32 blocked_reason(__u32 state)
{
	if (state & (TASK_DEAD | EXIT_DEAD | EXIT_ZOMBIE))
		return FTRACE_OFFCPU_DEAD;
	if (state & TASK_INTERRUPTIBLE)
		return FTRACE_OFFCPU_SLEEP;
	if (state & TASK_UNINTERRUPTIBLE)
		return state & TASK_NOLOAD ? FTRACE_OFFCPU_IDLE : FTRACE_OFFCPU_DISK;
	if (state & __TASK_STOPPED)
		return FTRACE_OFFCPU_STOPPED;
	if (state & __TASK_TRACED)
		return FTRACE_OFFCPU_TRACED;
	if (state & TASK_PARKED)
		return FTRACE_OFFCPU_PARKED;
	return FTRACE_OFFCPU_DISK; /* frozen, waiting for a lock of PREEMPT_RT, …: off the CPU in the kernel */
}

/* A thread leaves its CPU that was not seen to take it: the kernel did not run us at that switch. (Some
 * kernels show no event of certain threads, among them the switch from such a thread to ours.) The
 * kernel's own account tells since when it has had the CPU. Returns the tid under which it took it. */
static __noinline __u32 log_unseen_dispatch(struct cpu_stage *s, __u32 cpu, struct task_struct *p, __u64 now)
{
	__u64 since = now - time_on_cpu(p);

	if (s->running && s->running_task == (__u64)p)
		return s->running; /* the same run: an execve has changed its tid */
	if (since == now || since < complete_since)
		return p->pid;
	if (!s->running && since < s->switched)
		since = s->switched; /* the two clocks are not read at the same instant */
	stage_at(s, cpu, since, SCHED_WORD(SCHED_KIND_SWITCH, 0, (__u8)(p->prio + FTRACE_PRIO_BIAS), 0,
					p->pid) |
					SCHED_B_TRACED);
	return p->pid;
}

static __always_inline int log_switch(bool preempt, struct task_struct *prev,
				      struct task_struct *next, __u32 prev_state)
{
	__u32 prev_tid = prev->pid, next_tid = next->pid, reason, taken_as = prev_tid;
	bool prev_traced = is_traced(prev_tid), next_traced = is_traced(next_tid);
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_stage *s;
	__u64 word, now;

	if (!prev_traced && !next_traced)
		return 0;
	s = bpf_map_lookup_elem(&stages, &cpu);
	if (!s)
		return 0;
	now = bpf_ktime_get_ns();
	if (prev_traced && s->running != prev_tid)
		taken_as = log_unseen_dispatch(s, cpu, prev, now);
	/* Before 6.15 a pending signal that kept it on the runqueue left the old state in the argument;
	 * its own state is running again. */
	if (preempt || !prev_state || !task_state(prev))
		reason = !preempt && prev_traced && called_sched_yield(prev) ?
				 FTRACE_OFFCPU_YIELDED :
				 FTRACE_OFFCPU_PREEMPTED;
	else
		reason = blocked_reason(prev_state);

	/* An execve by a thread that is not the main one swaps their tids (exchange_tids()), long before
	 * sched_process_exec is raised, and maybe before the main thread has left its CPU for ever. */
	if (taken_as != prev_tid) {
		if (prev_tid != (__u32)prev->tgid)
			prev_tid = taken_as; /* was the main thread */
		else if (reason != FTRACE_OFFCPU_DEAD)
			stage_at(s, cpu, now, SCHED_WORD(SCHED_KIND_EXEC, 0, 0, prev_tid, taken_as) |
						      SCHED_A_TRACED);
	}
	word = SCHED_WORD(SCHED_KIND_SWITCH, reason, (__u8)(next->prio + FTRACE_PRIO_BIAS),
			  prev_tid, next_tid);
	if (prev_traced)
		word |= SCHED_A_TRACED;
	if (next_traced)
		word |= SCHED_B_TRACED;
	stage_at(s, cpu, now, word);
	s->running = next_traced ? next_tid : 0;
	s->running_task = (__u64)next;
	s->switched = now;
	if (reason == FTRACE_OFFCPU_DEAD && prev_traced)
		log_death(prev, prev_tid);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	return log_switch(preempt, prev, next, prev_state);
}

/* Before 5.18 (fa2c3254d7cf "sched/tracing: Don't re-read p->state when emitting sched_switch
 * event") the tracepoint has no prev_state. The loader loads the one that fits. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch_3_arguments, bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	return log_switch(preempt, prev, next, task_state(prev));
}

/* In the waker: only remembers who it is. The transition is taken from sched_wakeup, on the
 * runqueue's side, which follows the switch-out of the woken thread. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *p)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	__u32 tid = p->pid;
	__u32 *entry = bpf_map_lookup_elem(&threads, &tid);

	if (p == waker || !entry || (!trace_all && !(*entry & THREAD_TRACED)))
		return 0;
	*entry = THREAD_TRACED | wakeup_context(waker) << THREAD_CONTEXT_SHIFT |
		 (waker->pid & THREAD_WAKER_MASK);
	return 0;
}

static __always_inline int log_wakeup(__u32 kind, struct task_struct *p)
{
	__u32 tid = p->pid, entry = thread_entry(tid);

	if (!(entry & THREAD_TRACED)) {
		if (!trace_all)
			return 0;
		entry = FTRACE_WAKER_UNKNOWN << THREAD_CONTEXT_SHIFT; /* no sched_waking of it was seen */
	}
	stage(SCHED_WORD(kind, entry >> THREAD_CONTEXT_SHIFT & 7, 0, tid,
			 entry & THREAD_WAKER_MASK) | SCHED_A_TRACED);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *p)
{
	if (p == bpf_get_current_task_btf())
		return 0; /* it never left its CPU */
	return log_wakeup(SCHED_KIND_WAKEUP, p);
}

/* The creator is the waker: sched_waking is not raised for a new thread. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *p)
{
	__u32 tid = p->pid;

	if (!is_traced(tid))
		return 0;
	stage(SCHED_WORD(SCHED_KIND_WAKEUP_NEW, FTRACE_WAKER_TASK, 0, tid,
			 bpf_get_current_task_btf()->pid) | SCHED_A_TRACED);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *p, int dest_cpu)
{
	__u32 tid = p->pid;

	if (!is_traced(tid))
		return 0;
	stage(SCHED_WORD(SCHED_KIND_MIGRATE, 0, 0, tid, dest_cpu) | SCHED_A_TRACED);
	return 0;
}

/* ---- run by the loader itself ---------------------------------------------------------------- */

/* Whether the caller's children are traced from now on. Run in the loader, and not told a tid by it,
 * because in a PID namespace the loader does not know its own. */
SEC("syscall")
int follow_caller(struct follow_request *request)
{
	__u32 tid = bpf_get_current_pid_tgid();
	__u32 *entry = bpf_map_lookup_elem(&threads, &tid);

	if (entry)
		*entry = request->follow ? THREAD_FOLLOW : 0;
	return 0;
}

/* The process id of a thread as the loader knows it: ids are counted anew in each PID namespace. The
 * iterator visits the threads of the loader's namespace and of those in it, so that level is there. */
static __always_inline __u32 pid_for_loader(struct task_struct *p)
{
	struct task_struct *loader = bpf_get_current_task_btf();
	struct pid *pid = BPF_CORE_READ(p, group_leader, thread_pid);
	__u32 level = BPF_CORE_READ(loader, thread_pid, level), number = 0;

	if (pid)
		bpf_probe_read_kernel(&number, sizeof(number),
				      (char *)pid + bpf_core_field_offset(struct pid, numbers) +
					      level * bpf_core_type_size(struct upid) +
					      bpf_core_field_offset(struct upid, nr));
	return number;
}

/* Threads that are alive already. The clock is read after the state: a transition before that
 * instant tells more than the snapshot, and one after it agrees with it. */
SEC("iter/task")
int snapshot(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	__u32 state, value = 2, reason = 0; /* ovni's Paused */
	struct life_record r;

	if (!p || !p->pid || (snapshot_pid && pid_for_loader(p) != snapshot_pid))
		return 0;
	if (snapshot_pid)
		set_traced(p->pid);
	state = task_state(p);
	if (p->on_cpu)
		value = 1; /* Running */
	else if (!state)
		value = 5; /* Warming: runnable; whether it was woken or preempted is past */
	else
		reason = blocked_reason(state);
	life_fill(&r, LIFE_SNAPSHOT, p,
		  value | task_cpu(p) << FTRACE_SNAPSHOT_CPU_SHIFT | reason << FTRACE_REASON_SHIFT);
	life_send(&r);
	return 0;
}
