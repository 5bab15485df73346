/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records which thread queued the work item in which a kernel worker wakes a traced thread.
 *
 * The kernel raises these tracepoints for each work item of the machine. The programs therefore
 * only remember who queued an item, in two hash tables of fixed size. A later item evicts an
 * earlier one at its place; then the queuer of the earlier one is unknown. A record is written only
 * when a worker wakes a traced thread, just before the wakeup.
 */
const volatile bool has_work_items = false; /* the kernel has the tracepoints; set by the loader
					     * before loading */

struct work_queuer {
	__u64 time; /* ns: when the item was queued; 0: not known */
	__u32 tid;  /* who queued it; 0: an interrupt */
	__u32 pid;
	char comm[CAPTURE_COMM_LEN];
};

/* By the address of the item; by the tid of the worker, while it runs one. */
struct work_slot {
	__u64 key; /* 0: free, or being written */
	struct work_queuer queuer;
	__u64 pad[3];
};

ARRAY(work_items, struct work_slot, 1); /* CAPTURE_WORK_ITEMS, set by the loader */
ARRAY(workers, struct work_slot, 1);	/* CAPTURE_WORKERS, set by the loader */

/* Returns a pointer as a number. The verifier allows no arithmetic with a pointer that it knows. */
static __always_inline __u64 address_of(__u64 pointer)
{
	__u64 address = 0;

	bpf_probe_read_kernel(&address, sizeof(address), &pointer);
	return address;
}

static __always_inline __u32 work_hash(__u64 key)
{
	return key * 0x9e3779b97f4a7c15ULL >> 40;
}

/* Puts an item into its place. If two CPUs want one place, the later one gets none. */
static __always_inline void work_put(struct work_slot *slot, __u64 key, struct work_queuer *queuer)
{
	__u64 before = *(volatile __u64 *)&slot->key;

	if (__sync_val_compare_and_swap(&slot->key, before, 0) != before)
		return;
	slot->queuer = *queuer;
	__sync_lock_test_and_set(&slot->key, key);
}

/* Returns false if the place belongs to another item, or did while it was read. */
static __always_inline bool work_get(struct work_slot *slot, __u64 key, struct work_queuer *queuer)
{
	if (*(volatile __u64 *)&slot->key != key)
		return false;
	*queuer = slot->queuer;
	return *(volatile __u64 *)&slot->key == key;
}

static __always_inline bool queuer_of_worker(struct task_struct *worker, struct work_queuer *queuer)
{
	__u32 place = work_hash(worker->pid) & (CAPTURE_WORKERS - 1);
	struct work_slot *slot = bpf_map_lookup_elem(&workers, &place);

	return slot && work_get(slot, worker->pid, queuer) && queuer->time;
}

/* The arguments are req_cpu, pwq, work. If a work item queues another one, both belong to the
 * thread that queued the first. */
SEC("tp_btf/workqueue_queue_work")
int on_queue_work(__u64 *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	enum ftrace_wakeup_context context = wakeup_context(current);
	__u64 work = address_of(ctx[2]);
	__u32 place = work_hash(work) & (CAPTURE_WORK_ITEMS - 1);
	struct work_slot *slot = bpf_map_lookup_elem(&work_items, &place);
	struct work_queuer queuer = {};

	if (!slot)
		return 0;
	if (context == FTRACE_WAKER_TASK && current->flags & PF_WQ_WORKER) {
		if (!queuer_of_worker(current, &queuer))
			queuer.time = 0;
	} else if (context != FTRACE_WAKER_UNKNOWN) {
		queuer.time = bpf_ktime_get_ns();
		if (context == FTRACE_WAKER_TASK) {
			queuer.tid = current->pid;
			queuer.pid = current->tgid;
			__builtin_memcpy(queuer.comm, current->comm, CAPTURE_COMM_LEN);
		}
	}
	work_put(slot, work, &queuer);
	return 0;
}

/* Notes which item a worker starts: it has one at a time. An item of a soft interrupt (WQ_BH)
 * interrupts any thread, so it does not belong to the worker that it interrupts. */
SEC("tp_btf/workqueue_execute_start")
int on_execute_work(__u64 *ctx)
{
	struct task_struct *worker = bpf_get_current_task_btf();
	__u64 work = address_of(ctx[0]);
	__u32 item = work_hash(work) & (CAPTURE_WORK_ITEMS - 1);
	__u32 place = work_hash(worker->pid) & (CAPTURE_WORKERS - 1);
	struct work_slot *from = bpf_map_lookup_elem(&work_items, &item);
	struct work_slot *to = bpf_map_lookup_elem(&workers, &place);
	struct work_queuer queuer = {};

	if (!from || !to || !(worker->flags & PF_WQ_WORKER) ||
	    wakeup_context(worker) != FTRACE_WAKER_TASK)
		return 0;
	if (!work_get(from, work, &queuer))
		queuer.time = 0;
	work_put(to, worker->pid, &queuer);
	return 0;
}

/* Sends the name of the thread that queued an item. That thread may have ended, so the name is the
 * one that it had then. */
static __noinline int name_queuer(struct work_queuer *queuer)
{
	struct life_record r;

	if (!queuer)
		return 0;
	__builtin_memset(&r, 0, sizeof(r));
	r.time = queuer->time;
	r.kind = LIFE_NAME;
	r.cpu = bpf_get_smp_processor_id();
	r.tid = queuer->tid;
	r.pid = queuer->pid;
	__builtin_memcpy(r.comm, queuer->comm, CAPTURE_COMM_LEN);
	if (life_try(&r))
		change_marks(queuer->tid, THREAD_NAMED, 0);
	return 0;
}

/* Logs the item in which a worker wakes `p`. Interrupts are off. A wakeup of another worker only
 * shares what is queued, and does not count. */
static __noinline int log_work(struct task_struct *p, struct task_struct *worker)
{
	struct cpu_stage *s = stage_of_this_cpu();
	struct work_queuer queuer = {};
	__u64 now, age;

	if (!s || !p || !worker || p->flags & PF_WQ_WORKER || !queuer_of_worker(worker, &queuer))
		return 0;
	now = bpf_ktime_get_ns();
	age = now - queuer.time;
	if (age >= SCHED_WORK_MICROSECONDS) {
		age /= 1000;
		if (age >= SCHED_WORK_MICROSECONDS)
			return 0;
		age |= SCHED_WORK_MICROSECONDS;
	}
	if (queuer.tid && !trace_all && !(marks_of(queuer.tid) & (THREAD_NAMED | THREAD_TRACED)))
		name_queuer(&queuer);
	if (in_region(p))
		stage_at(s, SCHED_WHEN(now, age & 0xffff),
			 SCHED_WORD(SCHED_KIND_WORK, age >> 16 & 0xf, age >> 20 & 0xff, p->pid,
				    queuer.tid) |
				 SCHED_A_TRACED);
	return 0;
}
