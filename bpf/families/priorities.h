/*
 * Family 5: the priority or the policy of a traced thread changes. No tracepoint tells what the system
 * calls for it do, so each thread is compared with what it was: at the end of those calls, and, as there
 * may be other causes, whenever it gets or leaves a CPU. Inheritance has a tracepoint.
 */

/* par2 of set_priority as it was told last; 0: not known yet. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u32);
} priorities SEC(".maps");

static __always_inline __u32 priority_word(int prio, unsigned int policy)
{
	return (__u8)(prio + FTRACE_PRIO_BIAS) | (policy + 1) << FTRACE_POLICY_SHIFT;
}

/* Tells `word` if it is not what was told last. Two CPUs may look at one thread at once. */
static __always_inline void tell_priority(struct task_struct *p, __u32 word)
{
	__u32 *last, before;

	if (!is_traced(p->pid))
		return;
	last = bpf_task_storage_get(&priorities, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!last || *last == word)
		return;
	before = __sync_lock_test_and_set(last, word);
	if (before && before != word)
		log_thread(FTrace_EVT_set_priority, p->pid, word);
}

static __always_inline void look_at_priority(struct task_struct *p)
{
	tell_priority(p, priority_word(p->prio, p->policy));
}

/* rt_mutex_setprio(): a thread of SCHED_DEADLINE inherits from another the earlier deadline. */
static __always_inline bool inherits(struct task_struct *p, struct task_struct *waiter, int prio)
{
	if (prio != p->normal_prio || prio >= 0)
		return prio < p->normal_prio;
	return (__s64)(BPF_CORE_READ(waiter, dl.deadline) - p->dl.deadline) < 0;
}

/* The thread that has the highest priority of those that wait for a lock of `p` has changed, NULL: none waits any more. Raised when the
 * priority of `p` is about to change. */
SEC("tp_btf/sched_pi_setprio")
int BPF_PROG(on_sched_pi_setprio, struct task_struct *p)
{
	__u32 tid = p->pid, waiter_tid;
	struct task_struct *waiter;
	int prio;

	if (!is_on(FTrace_EVT_inheritance) || !is_traced(tid))
		return 0;
	/* The second argument, as a number: before 6.13 the verifier believes that it is never NULL, and
	 * takes a test for it out. Of NULL, the tid reads as 0. */
	bpf_probe_read_kernel(&waiter, sizeof(waiter), ctx + 1);
	waiter_tid = BPF_CORE_READ(waiter, pid);
	prio = waiter_tid ? BPF_CORE_READ(waiter, prio) : p->normal_prio;
	if (!waiter_tid || !inherits(p, waiter, prio)) {
		waiter_tid = tid;
		prio = p->normal_prio;
	}
	log_full(FTrace_EVT_inheritance, 0, 0, tid, waiter_tid);
	tell_priority(p, priority_word(prio, p->policy));
	return 0;
}
