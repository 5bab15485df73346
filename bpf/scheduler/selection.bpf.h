/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses which threads are traced. Without filters, these are the threads of the program or of -p,
 * or all of them. With filters, each thread has a bit for each filter that it passes, in its facts.
 * A bit changes only where what it says can change: at birth, exec, renaming, setuid, and when the
 * thread is put into another cgroup or on another CPU. The mark THREAD_TRACED follows from the
 * bits, so an event costs the same test as with -p.
 *
 * A thread that begins to pass is recorded with the state that it has (LIFE_SNAPSHOT), and one that
 * no longer passes with the state Unknown. First the mark is set, then the state is read, then the
 * clock: region.bpf.h says why this is right although the thread may be running elsewhere.
 */
/* Set by the loader before loading. */
const volatile __u32 needed_fits = 0;	  /* enum select_fit; 0: there are no filters */
const volatile bool only_targets = false; /* without their children */
const volatile __u32 globs_chosen = 0;	  /* of --comm, first in name_globs */
const volatile __u32 globs_used = 0;	  /* of --comm and --no-comm */
const volatile __u32 chosen_uids[SELECT_NUMBERS] = {};
const volatile __u32 uids_used = 0;
const volatile __u64 chosen_cpus[SELECT_CPUS / 64] = {}; /* a bit for each CPU */

#define selects (needed_fits != 0)

__u32 followed = 0;	   /* a thread whose children are traced: the loader; 0: none */
__u32 program_pid = 0;	   /* the process that the loader started */
__u32 program_threads = 0; /* its traced threads that have not left their CPU for ever */

ARRAY(name_globs, struct name_glob, 1); /* how many there are, set by the loader */

static __always_inline void forget_facts(__u32 tid)
{
	struct thread_facts *facts = facts_of(tid);

	if (facts) {
		facts->waker = 0;
		set_wait(facts, 0, 0);
	}
}

/* Marks a thread as traced. `more`: THREAD_PROGRAM or 0. The thread may be running, so the mark is
 * never removed in between. */
static __always_inline void set_traced(__u32 tid, __u32 more)
{
	forget_facts(tid);
	change_marks(tid, THREAD_TRACED | THREAD_NAMED | more, THREAD_PROGRAM & ~more);
}

/* Removes the mark of a tid that a traced thread had. */
static __always_inline void set_untraced(__u32 tid)
{
	forget_facts(tid);
	change_marks(tid, 0, THREAD_TRACED | THREAD_NAMED | THREAD_PROGRAM);
}

static __noinline bool name_fits(const char *comm)
{
	char name[CAPTURE_COMM_LEN] = {};
	bool fits = globs_chosen == 0;

	bpf_probe_read_kernel_str(name, sizeof(name), comm);
	for (__u32 n = 0; n < SELECT_GLOBS && n < globs_used; n++) {
		__u32 key = n;
		struct name_glob *glob = bpf_map_lookup_elem(&name_globs, &key);

		if (!glob)
			return false;
		if (!glob_fits(glob, name, sizeof(name)))
			continue;
		if (glob->refuses)
			return false;
		fits = true;
	}
	return fits;
}

static __noinline bool uid_fits(struct task_struct *p)
{
	__u32 uid = BPF_CORE_READ(p, real_cred, uid.val);

	for (__u32 n = 0; n < SELECT_NUMBERS && n < uids_used; n++)
		if (chosen_uids[n] == uid)
			return true;
	return false;
}

static __always_inline bool cpu_fits(__u32 cpu)
{
	return cpu < SELECT_CPUS && chosen_cpus[cpu / 64 % (SELECT_CPUS / 64)] >> cpu % 64 & 1;
}

/* Returns the bits of what can be seen of `p`: all but FITS_SCOPE and FITS_TID. */
static __noinline __u32 visible_fits(struct task_struct *p)
{
	__u32 fits = FITS_BORN;

	if (needed_fits & FITS_COMM && name_fits(p->comm))
		fits |= FITS_COMM;
	if (needed_fits & FITS_UID && uid_fits(p))
		fits |= FITS_UID;
	if (needed_fits & FITS_CGROUP && cgroup_fits(p))
		fits |= FITS_CGROUP;
	if (needed_fits & FITS_CPU && cpu_fits(task_cpu(p)))
		fits |= FITS_CPU;
	if (!(p->flags & PF_KTHREAD))
		fits |= FITS_KIND;
	return fits;
}

static __always_inline bool passes(__u32 fits)
{
	return (fits & needed_fits) == needed_fits;
}

/* Describes a thread whose recording begins or ends. */
struct passage {
	const char *comm; /* its name from now on */
	__u32 cpu;	  /* on which it is from now on */
	__u32 creator;	  /* not 0: it is new */
};

static __noinline int begin_recording(struct task_struct *p, struct passage *now)
{
	__u32 tid = p->pid, cpu = now->cpu, running, shown;
	struct thread_facts *facts = facts_of(tid);
	struct life_record r;

	if (!facts || change_marks(tid, THREAD_TRACED | THREAD_NAMED, 0) & THREAD_TRACED)
		return 0; /* another CPU records it */
	shown = __sync_fetch_and_or(&facts->fits, FITS_SHOWN) & FITS_SHOWN;
	if ((__u32)p->tgid == program_pid)
		__sync_fetch_and_add(&program_threads, 1);
	running = !now->creator && has_its_cpu(p);
	if (running)
		__sync_fetch_and_or(&facts->fits, FITS_ENTERED);
	else
		__sync_fetch_and_and(&facts->fits, ~FITS_ENTERED);
	life_fill(&r,
		  now->creator ? LIFE_NEW
		  : shown      ? LIFE_SNAPSHOT
			       : LIFE_ENTER,
		  p, now->creator);
	if (!now->creator) {
		r.arg = snapshot_word(p, running) & ~(0xffffu << FTRACE_SNAPSHOT_CPU_SHIFT);
		note_found(p, r.arg);
		r.arg |= (cpu & 0xffff) << FTRACE_SNAPSHOT_CPU_SHIFT;
		if ((r.arg & FTRACE_SNAPSHOT_STATE_MASK) == OVNI_THREAD_PAUSED)
			r.call = blocked_call(p);
		else if (wants_holders && !running && cpu < possible_cpus &&
			 __sync_val_compare_and_swap(&facts->waits, 0, cpu + 1) == 0)
			count_waiter(cpu + 1, 1, false);
		life_fill_parent(&r, p);
		r.cpu = cpu; /* in the file of the CPU that it has */
		r.time = bpf_ktime_get_ns();
	}
	bpf_probe_read_kernel_str(r.comm, sizeof(r.comm), now->comm);
	fill_cgroup(&r, p);
	if (!try_with_cpus(&r, p))
		life_count_lost();
	return 0;
}

static __noinline int end_recording(struct task_struct *p)
{
	__u32 tid = p->pid;
	struct thread_facts *facts = facts_of(tid);
	struct life_record r;

	if (!(change_marks(tid, 0, THREAD_TRACED | THREAD_NAMED) & THREAD_TRACED))
		return 0;
	forget_facts(tid);
	if ((__u32)p->tgid == program_pid)
		__sync_fetch_and_add(&program_threads, -1);
	if (!facts || !(facts->fits & FITS_SHOWN))
		return 0;
	life_fill(&r, LIFE_SNAPSHOT, p,
		  OVNI_THREAD_UNKNOWN | FTRACE_SNAPSHOT_NO_CPU << FTRACE_SNAPSHOT_CPU_SHIFT);
	r.cpu = task_cpu(p);
	life_send(&r);
	return 0;
}

/* Notes that a thread passes a filter from now on (`fits`), or no longer. Several CPUs may change
 * bits of one thread, so the CPU that sets the mark reads the bits again. */
static __noinline int change_fit(struct task_struct *p, __u32 fit, bool fits, struct passage *now)
{
	struct thread_facts *facts = facts_of(p->pid);
	__u32 tid = p->pid, all;

	if (!facts || !now)
		return 0;
	if (fits)
		__sync_fetch_and_or(&facts->fits, fit);
	else
		__sync_fetch_and_and(&facts->fits, ~fit);
	for (int again = 0; again < 2; again++) {
		all = *(volatile __u32 *)&facts->fits;
		if (!(all & FITS_BORN) || passes(all) == (marks_of(tid) & THREAD_TRACED))
			return 0;
		if (passes(all))
			begin_recording(p, now);
		else
			end_recording(p);
	}
	return 0;
}

/* Does the same for a thread that keeps its name and CPU. */
static __always_inline int change_fit_in_place(struct task_struct *p, __u32 fit, bool fits)
{
	struct passage now = {p->comm, task_cpu(p), 0};

	return change_fit(p, fit, fits, &now);
}

/* Notes which filters a new thread passes. Returns whether it passes all of them. */
static __noinline bool fits_at_birth(struct task_struct *child, struct task_struct *parent)
{
	struct thread_facts *facts = facts_of(child->pid), *creator = facts_of(parent->pid);
	__u32 fits = visible_fits(child);

	if (!facts || !creator)
		return false;
	if ((__u32)parent->pid == followed ||
	    (creator->fits & FITS_SCOPE && (!only_targets || child->tgid == parent->tgid)))
		fits |= FITS_SCOPE;
	fits &= ~FITS_CPU; /* its CPU is chosen later: on_wakeup_new() */
	if (passes(fits))
		fits |= FITS_SHOWN;
	*(volatile __u32 *)&facts->fits = fits;
	return passes(fits);
}

/* Ends the filters of a thread that begins to exit. The mark still decides about its last switch.
 * The next thread with this tid passes no filter before its birth. */
static __always_inline void forget_fits(__u32 tid)
{
	struct thread_facts *facts = facts_of(tid);

	if (facts)
		*(volatile __u32 *)&facts->fits &= FITS_ENTERED | FITS_SHOWN;
}

/* Moves the filters that a thread passes from the tid `before` to the tid that it has after execve.
 * Its new name was checked just before, when it changed. */
static __noinline int change_at_exec(struct task_struct *p, __u32 before)
{
	struct thread_facts *facts = facts_of(p->pid), *old = facts_of(before);

	if (!facts || !old)
		return 0;
	if (facts != old) {
		facts->fits = (facts->fits & (FITS_COMM | FITS_SHOWN)) |
			      (old->fits & ~(FITS_COMM | FITS_SHOWN));
		old->fits = 0;
		if (marks_of(before) & THREAD_PROGRAM)
			change_marks(p->pid, THREAD_PROGRAM, 0);
		set_untraced(before);
	}
	return change_fit_in_place(p, FITS_KIND, !(p->flags & PF_KTHREAD));
}

/* Returns whether `p` was running when it began to be recorded: the trace says so. Asked when it
 * leaves its CPU for the first time since. */
static __always_inline bool entered_running(struct task_struct *p)
{
	struct thread_facts *facts = facts_of(p->pid);

	return selects && facts && __sync_fetch_and_and(&facts->fits, ~FITS_ENTERED) & FITS_ENTERED;
}

/* Returns whether a thread that is woken passes all filters if its next CPU fits. */
static __always_inline bool awaits_cpu(struct thread_facts *facts)
{
	return needed_fits & FITS_CPU && facts && passes(facts->fits | FITS_CPU);
}

/* Notes that `p` is put on a CPU. `creator`: of a new thread, otherwise 0. Interrupts are off. */
static __noinline int change_cpu(struct task_struct *p, __u32 cpu, __u32 creator)
{
	struct passage now = {p->comm, cpu, creator};

	return change_fit(p, FITS_CPU, cpu_fits(cpu), &now);
}

static __noinline int change_cgroup(struct task_struct *p)
{
	if (!p || !(needed_fits & FITS_CGROUP))
		return 0;
	return change_fit_in_place(p, FITS_CGROUP, cgroup_fits(p));
}

/* Handles a thread, or all threads of a process, that were put into a cgroup. `leader` is the first
 * one. */
SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_cgroup_attach, struct cgroup *cgroup, const char *path, struct task_struct *leader,
	     bool threadgroup)
{
	struct bpf_iter_task it;
	struct task_struct *p;

	if (!has_kfunc(KFUNC_ITER_TASK_NEW)) /* on_cgroup_move() changes what passes */
		return log_cgroup(leader, threadgroup);
	if (!threadgroup) {
		change_cgroup(leader);
		return log_cgroup(leader, 0);
	}
	kfunc_iter_task_new(&it, leader, BPF_TASK_ITER_PROC_THREADS);
	while ((p = kfunc_iter_task_next(&it))) {
		change_cgroup(p);
		log_cgroup(p, 0);
	}
	kfunc_iter_task_destroy(&it);
	return 0;
}

/* Does the same for each thread, on kernels that cannot visit the threads of a process. */
SEC("fexit/cgroup_move_task")
int BPF_PROG(on_cgroup_move, struct task_struct *p)
{
	return change_cgroup(p);
}

/* Runs at the end of a system call. Only setuid, setreuid and setresuid change a real user; 32-bit
 * programs have other numbers for them. */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_setuid, struct pt_regs *regs)
{
	struct task_struct *p = bpf_get_current_task_btf();
	bool sets;
#if defined(__TARGET_ARCH_x86)
	__s64 number = regs->orig_ax & ~0x40000000; /* __X32_SYSCALL_BIT */
	bool native = number == 105 || number == 113 || number == 117;
#else
	__s64 number = regs->syscallno;
	bool native = number == 145 || number == 146 || number == 147;
#endif

	sets = native;
	if (!native && (number == 23 || number == 70 || number == 164 || number == 203 ||
			number == 208 || number == 213))
		sets = in_compat_syscall(p);
	if (likely(!sets))
		return 0;
	return change_fit_in_place(p, FITS_UID, uid_fits(p));
}
