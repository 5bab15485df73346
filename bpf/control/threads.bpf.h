/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the state of chains for each traced process and thread. A process has chains of its own,
 * from its creation or execve on.
 */

/* What they begin with, filled by the loader: too large for a program's stack. */
ARRAY(fresh_process, struct control_process, 1);
ARRAY(fresh_thread, struct control_thread, 1);

const volatile bool starts_open = false; /* no chain has a start: the region is open at once */
bool holds = false; /* processes stop when they have new code, until the loader has put its probes
		     * into it; set and cleared by the loader, cleared by its guard */

const volatile __u32 continues_uid = ANY_UID; /* the loader may continue only the processes of this
					       * user, as it lacks CAP_KILL */

/* Processes that the loader has put probes of alarms into. 1: only into libraries, 2: also into
 * their own program. */
MAP(HASH, BPF_F_NO_PREALLOC, control_probed, __u32, __u8, 16384); /* tgid */

__u32 steps = 0; /* the loader traces all threads (user/control/single_step.h) */

__u64 control_full = 0;	  /* threads and processes that found no room */
__u64 control_unheld = 0; /* processes that could not be stopped when they had new code */

static __always_inline void begin_process(__u32 pid)
{
	__u32 zero = 0;
	void *fresh = bpf_map_lookup_elem(&fresh_process, &zero);

	if (fresh && bpf_map_update_elem(&control_processes, &pid, fresh, BPF_ANY))
		__sync_fetch_and_add(&control_full, 1);
	if (!region_by_thread)
		set_closed(region_of(pid, pid)); /* its earlier process may have ended inside */
}

/* Puts a new thread at the first alarm of each chain, or where the last broadcast has put all
 * threads. */
static __noinline int begin_thread(struct hit *h, struct subject *s, __u32 pid, __u32 tid)
{
	__u32 zero = 0;
	void *fresh = bpf_map_lookup_elem(&fresh_thread, &zero);
	__u64 now = bpf_ktime_get_ns();

	if (!h || !s || !fresh)
		return 0;
	s->process = bpf_map_lookup_elem(&control_processes, &pid);
	if (!s->process)
		return 0;
	if (bpf_map_update_elem(&control_threads, &tid, fresh, BPF_ANY))
		__sync_fetch_and_add(&control_full, 1);
	s->thread = bpf_map_lookup_elem(&control_threads, &tid);
	if (!s->thread)
		return 0;
	h->visitor.pid = pid;
	h->visitor.tid = tid;
	s->thread->pid = pid;
	s->thread->number = __sync_fetch_and_add(&s->process->threads, 1);
	__sync_fetch_and_add(&s->process->alive, 1);
	if (region_by_thread)
		set_closed(region_of(pid, tid));
	for (__u32 c = 0; c < CONTROL_CHAINS && c < chain_count; c++) {
		struct control_place *place = &s->thread->places[c];

		put(place, s->process->broadcast[c], now);
		announce(h, c, place->position, false);
	}
	if (s->thread->number == 0)
		fire_immediate(h, s->process, s->thread);
	/* A later thread is in the region of its process, which may have stopped since. */
	if (starts_open && (region_by_thread || s->thread->number == 0))
		do_event(&h->visitor, CONTROL_START, CONTROL_START << FTRACE_REGION_EVENT_SHIFT,
			 false);
	return 0;
}

static __always_inline bool find_thread(struct hit *h, struct subject *s, __u32 pid, __u32 tid)
{
	s->process = bpf_map_lookup_elem(&control_processes, &pid);
	s->thread = bpf_map_lookup_elem(&control_threads, &tid);
	h->visitor.pid = pid;
	h->visitor.tid = tid;
	return s->process && s->thread && s->thread->pid == pid;
}

struct signal_struct___control {
	struct pid *pids[PIDTYPE_SID + 1];
} __attribute__((preserve_access_index));

struct task_struct___control {
	struct task_struct___control *real_parent;
	struct signal_struct___control *signal;
	__u32 __state;
} __attribute__((preserve_access_index));

/* Returns whether the current process is in another process group than its parent, in the same
 * session. Shells with job control start their children in this way. They would take a stopped
 * child for one that the user has stopped. */
static __always_inline bool is_job(void)
{
	struct task_struct___control *p = (void *)bpf_get_current_task();
	struct task_struct___control *parent = BPF_CORE_READ(p, real_parent);

	return BPF_CORE_READ(p, signal, pids[PIDTYPE_PGID]) !=
		       BPF_CORE_READ(parent, signal, pids[PIDTYPE_PGID]) &&
	       BPF_CORE_READ(p, signal, pids[PIDTYPE_SID]) ==
		       BPF_CORE_READ(parent, signal, pids[PIDTYPE_SID]);
}

static __always_inline bool parent_is_stopped(void)
{
	struct task_struct___control *p = (void *)bpf_get_current_task();

	return BPF_CORE_READ(p, real_parent, __state) & __TASK_STOPPED;
}

/* Returns whether kill(2) allows the loader to continue the current process. Otherwise it would
 * stay stopped for ever. */
static __always_inline bool loader_may_continue_current(void)
{
	struct task_struct *p = bpf_get_current_task_btf();

	return continues_uid == ANY_UID || BPF_CORE_READ(p, real_cred, uid.val) == continues_uid ||
	       BPF_CORE_READ(p, real_cred, suid.val) == continues_uid;
}

/* Tells the loader that a process has new code and, if it `stops`, stops the process until the
 * loader continues it: the current one, or the `child` that it has just made. A process stops only
 * when there is room for all that continues it. */
static __always_inline void hold(__u32 kind, __u32 pid, __u32 tid, bool stops,
				 struct task_struct *child)
{
	struct control_message *m = bpf_ringbuf_reserve(&control_messages, sizeof(*m), 0);
	__u8 how = !child && parent_is_stopped() ? CONTROL_PARENT_STOPPED : CONTROL_HELD_PROCESS;

	if (!m) {
		__sync_fetch_and_add(&control_unheld, 1);
		return;
	}
	stops &= loader_may_continue_current();
	__builtin_memset(m, 0, sizeof(*m));
	m->time = bpf_ktime_get_ns();
	m->kind = kind;
	m->pid = pid;
	m->tid = tid;
	m->alarm = 1;
	if (stops && bpf_map_update_elem(&control_held, &pid, &how, BPF_ANY)) {
		__sync_fetch_and_add(&control_unheld, 1);
	} else if (stops) {
		if (child && has_kfunc(KFUNC_SEND_SIGNAL_TASK))
			kfunc_send_signal_task(child, SIGSTOP, PIDTYPE_TGID, 0);
		else
			bpf_send_signal(SIGSTOP);
		/* Again: the loader may have continued all processes in between, and removed the
		 * entry. */
		bpf_map_update_elem(&control_held, &pid, &how, BPF_ANY);
		m->alarm = 0;
	}
	/* Last: the loader's SIGCONT must not overtake the stop. */
	bpf_ringbuf_submit(m, BPF_RB_FORCE_WAKEUP);
}

/* After the scheduler's program of the same tracepoint, which says who is traced. The loader's own
 * child has no chains before it has executed the program. */
TWIN_PROG("tp_btf/task_newtask", on_control_newtask, 1, struct task_struct *child,
	  __u64 clone_flags)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	__u32 pid = child->tgid, tid = child->pid, parent_pid = parent->tgid;
	struct hit h = {};
	struct subject s = {};
	__u8 *probed;
	bool stops;

	if (!is_traced(tid) || !bpf_map_lookup_elem(&control_processes, &parent_pid))
		return 0;
	if (pid == tid)
		begin_process(pid);
	begin_thread(&h, &s, pid, tid);
	/* A process that shares its parent's memory until it executes a program is left alone. */
	probed = bpf_map_lookup_elem(&control_probed, &parent_pid);
	if (!s.thread || pid != tid || clone_flags & CLONE_VM || !probed || !holds)
		return 0;
	stops = *probed == 2 && has_kfunc(KFUNC_SEND_SIGNAL_TASK);
	if (stops && steps) { /* before it first runs */
		s.thread->held = 1;
		kfunc_send_signal_task(child, SIGSTOP, PIDTYPE_PID, 0);
	} else {
		hold(CONTROL_FORK, pid, tid, stops, child);
	}
	return 0; /* it has no state yet that could be recorded */
}

static __always_inline void end_thread(__u32 pid, __u32 tid)
{
	struct control_process *process = bpf_map_lookup_elem(&control_processes, &pid);

	if (bpf_map_delete_elem(&control_threads, &tid) || !process)
		return;
	if (__sync_fetch_and_add(&process->alive, -1) == 1) {
		bpf_map_delete_elem(&control_processes, &pid);
		bpf_map_delete_elem(&control_held, &pid);
		if (holds)
			send_message(CONTROL_GONE, pid, 0, 0);
	}
}

TWIN_PROG("tp_btf/sched_process_exit", on_control_exit, 2, struct task_struct *p)
{
	end_thread(p->tgid, p->pid);
	return 0;
}

/* Stops the current thread before its next instruction, by a signal that only its tracer sees. No
 * thread can block SIGSTOP, and this one comes from the kernel. */
static __always_inline void stop_for_tracer(void)
{
	bpf_send_signal_thread(SIGSTOP);
}

/* Stops the current process, which has loaded code. */
static __always_inline void hold_current(struct control_thread *thread, __u32 kind)
{
	if (steps) {
		thread->held = 1;
		stop_for_tracer();
	} else {
		__u64 ids = bpf_get_current_pid_tgid();

		hold(kind, ids >> 32, (__u32)ids, !is_job(), NULL);
	}
}

/* Restarts the chains at an execve, in a closed region. */
TWIN_PROG("tp_btf/sched_process_exec", on_control_exec, 4, struct task_struct *p, int old_tid,
	  struct linux_binprm *bprm)
{
	__u32 pid = p->tgid, old = old_tid;
	struct hit h = {};
	struct subject s = {};

	if (!is_traced(pid))
		return 0;
	close_region(pid, pid, CONTROL_END << FTRACE_REGION_TYPE_SHIFT);
	bpf_map_delete_elem(&control_threads, &old);
	if (holds && old != pid)
		send_message(CONTROL_GONE, pid, old, 0);
	begin_process(pid);
	begin_thread(&h, &s, pid, pid);
	if (h.visitor.visit && !visit_threads(&h.visitor, false))
		ask_for_visit(&h.visitor);
	if (holds && s.thread)
		hold_current(s.thread, CONTROL_IMAGE);
	return 0;
}

/* Visits the threads that are alive when the capture starts. The main thread of a process comes
 * first. */
SEC("iter/task")
int begin_living(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct hit h = {};
	struct subject s = {};
	__u32 pid, tid;

	if (!p || !is_traced(p->pid))
		return 0;
	pid = p->tgid;
	tid = p->pid;
	if (bpf_map_lookup_elem(&control_threads, &tid))
		return 0;
	if (!bpf_map_lookup_elem(&control_processes, &pid))
		begin_process(pid);
	begin_thread(&h, &s, pid, tid);
	if (h.visitor.visit)
		ask_for_visit(&h.visitor);
	return 0;
}
