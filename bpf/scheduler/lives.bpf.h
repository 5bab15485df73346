/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records the lives of threads: creation, exec, renaming and exit. These programs run with
 * interrupts on, so they use a ring of their own.
 */
/* Sets whether the caller's children are traced from now on. The loader runs this in itself. It
 * passes no tid, because in a PID namespace it does not know its own. */
SEC("syscall")
int follow_caller(struct follow_request *request)
{
	followed = request->follow ? (__u32)bpf_get_current_pid_tgid() : 0;
	return 0;
}

/* Sends the name of a thread. A name that finds no room is sent when the thread appears again. */
static __noinline int send_name(struct task_struct *p)
{
	struct life_record r;
	__u32 tid = p->pid;

	if (marks_of(tid) & THREAD_TRACED) {
		life_fill(&r, LIFE_RENAME, p, 0); /* another thread has renamed it: on_rename */
	} else {
		life_fill(&r, LIFE_NAME, p, trace_all);
		r.born = p->start_time;
	}
	fill_cgroup(&r, p);
	if (life_try(&r))
		change_marks(tid, THREAD_NAMED, 0);
	return 0;
}

/* Sends the name of a thread that appears beside a traced one, as the next on its CPU or as its
 * waker. With trace_all, also that of a thread that the snapshot did not show. `its_marks`: of `p`.
 * Sent once, and again after a renaming. */
static __always_inline void name_once(struct task_struct *p, __u32 its_marks)
{
	if (unlikely(!(its_marks & THREAD_NAMED)) && p->pid)
		send_name(p);
}

/* Logs the last switch of a thread. The kernel's account of the thread is final, including its own
 * update for this switch (put_prev_task()). */
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

/* Logs the account of a thread whose region is closed. Its last switch is not recorded. */
static __noinline int log_death_outside(struct task_struct *p)
{
	if (p->__state & TASK_DEAD)
		log_death(p, p->pid);
	return 0;
}

/* task_newtask and not sched_process_fork: that one is not raised for the threads that io_uring and
 * vhost create (create_io_thread()), and this one is, just as early: before the child can run. */
TWIN_PROG("tp_btf/task_newtask", on_newtask, 1, struct task_struct *child, __u64 clone_flags)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	__u32 tid = child->pid;
	__u32 creator = parent->pid;
	bool of_program = marks_of(creator) & THREAD_PROGRAM, traced;
	struct life_record r;

	if (creator && creator == followed) {
		program_pid = child->tgid;
		of_program = true;
		traced = true;
	} else {
		traced = trace_all ||
			 (is_traced(creator) && !(only_targets && child->tgid != parent->tgid));
	}
	if (selects)
		traced = fits_at_birth(child, parent);
	if (!traced) {
		if (marks_of(tid))
			set_untraced(tid);
		if (selects && of_program)
			change_marks(tid, THREAD_PROGRAM, 0);
		return 0;
	}
	set_traced(tid, of_program ? THREAD_PROGRAM : 0);
	if ((__u32)child->tgid == program_pid)
		__sync_fetch_and_add(&program_threads, 1);
	life_fill(&r, LIFE_NEW, child, parent->pid);
	fill_cgroup(&r, child);
	if (!try_with_cpus(&r, child))
		life_count_lost();
	return 0;
}

TWIN_PROG("tp_btf/sched_process_exec", on_exec, 2, struct task_struct *p, int old_tid,
	  struct linux_binprm *bprm)
{
	struct life_record r;

	if (selects) {
		change_at_exec(p, old_tid);
		if (!is_traced(p->pid))
			return 0;
	}
	if (!is_traced(p->pid) && !is_traced(old_tid))
		return 0;
	if (p->pid != old_tid && !selects)
		set_traced(p->pid, marks_of(old_tid) & THREAD_PROGRAM);
	life_fill(&r, LIFE_EXEC, p, old_tid);
	life_send(&r);
	return 0;
}

/* Records that a thread has renamed itself: once, when it leaves its CPU at `now`, with the name
 * that it has then. */
static __noinline int log_own_rename(struct task_struct *p, __u32 tid, __u64 now)
{
	struct life_record r;

	life_fill(&r, LIFE_RENAME, p, 0);
	r.time = now; /* what it does from then on, it does under this name */
	r.tid = tid;
	life_send(&r);
	return 0;
}

/* Records at once that another thread has renamed `p`. Further renamings are recorded by
 * name_once(), when `p` appears again, with the name that it has then. */
TWIN_PROG("tp_btf/task_rename", on_rename, 4, struct task_struct *p, const char *comm)
{
	struct life_record r;
	char name[CAPTURE_COMM_LEN] = {};
	__u32 tid = p->pid;
	struct passage now = {comm, task_cpu(p), 0};
	struct cpu_stage *s;

	if (needed_fits & FITS_COMM) {
		bool traced = is_traced(tid);

		change_fit(p, FITS_COMM, name_fits(comm), &now);
		if (traced != is_traced(tid))
			return 0; /* recorded, with its name */
	}
	if (!is_traced(tid)) {
		if (marks_of(tid) & THREAD_NAMED)
			change_marks(tid, 0, THREAD_NAMED);
		return 0;
	}
	life_fill(&r, LIFE_RENAME, p, 0);
	bpf_probe_read_kernel_str(name, sizeof(name), comm);
	if (((__u64 *)name)[0] == ((__u64 *)r.comm)[0] &&
	    ((__u64 *)name)[1] == ((__u64 *)r.comm)[1])
		return 0; /* the name that it has */
	if (!in_region(p)) {
		/* The snapshot at the start of the next region of its process has the name. With
		 * --region thread, a thread that is never in a region may wake one that is, or hold
		 * its CPU: its name is sent now. */
		if (!region_by_thread)
			return 0;
		__builtin_memcpy(r.comm, name, sizeof(name));
		life_send(&r);
		return 0;
	}
	if (p == bpf_get_current_task_btf()) {
		s = stage_of_this_cpu();
		if (s)
			s->renamed = 1;
		return 0;
	}
	if (!(marks_of(tid) & THREAD_NAMED))
		return 0;
	change_marks(tid, 0, THREAD_NAMED);
	__builtin_memcpy(r.comm, name, sizeof(name));
	life_send(&r);
	return 0;
}

TWIN_PROG("tp_btf/sched_process_exit", on_exit, 8, struct task_struct *p)
{
	struct life_record r;

	if (selects)
		forget_fits(p->pid);
	if (!is_traced(p->pid))
		return 0;
	life_fill(&r, LIFE_EXIT, p, p->exit_code);
	life_send(&r);
	return 0;
}
