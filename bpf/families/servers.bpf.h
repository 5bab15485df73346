/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Logs family 8: threads of SCHED_DEADLINE and their missed deadlines. Each such thread is a
 * server: it has a budget in each period, is throttled when the budget is exhausted, and a timer
 * replenishes the budget.
 *
 * A job of such a thread starts when the thread gets a CPU after it has blocked or yielded, or when
 * it becomes such a thread. It ends when the thread blocks or yields. Its deadline is the one that
 * the kernel has set when the job starts; the job misses the deadline if it ends later. This is
 * checked whenever the thread gets or leaves a CPU, and logged once for each job.
 */

enum { SCHED_DEADLINE = 6 };

struct server {
	__u64 start;	/* of the thread: its tid may have been another's */
	__u64 deadline; /* of the job, on the clock of the runqueue */
	__u64 seen;	/* the kernel's at the last look: it moves when the budget is replenished */
	bool job;	/* is under way */
	bool missed;	/* has been logged */
	bool replenished; /* has been logged since the last look */
};

MAP(LRU_HASH, 0, servers, __u32, struct server, 4096); /* tid */

static __always_inline __u32 clamp(__s64 ns, __u32 most)
{
	if (ns < 0)
		return 0;
	return ns > most ? most : ns;
}

/* Returns the server of a traced thread, NULL if the thread is not, or no longer, of
 * SCHED_DEADLINE. */
static __always_inline struct server *look_at_server(struct task_struct *p)
{
	struct server *server, created = {};
	__u32 tid = p->pid;

	if (!is_recorded(p))
		return 0;
	server = bpf_map_lookup_elem(&servers, &tid);
	if (server && server->start != p->start_time) {
		bpf_map_delete_elem(&servers, &tid);
		server = 0;
	}
	/* Two CPUs may look at one thread at once: one of them creates or deletes, and logs it. */
	if (p->policy == SCHED_DEADLINE && !server) {
		created.start = p->start_time;
		created.seen = created.deadline = p->dl.deadline;
		created.job = p->on_cpu;
		if (!bpf_map_update_elem(&servers, &tid, &created, BPF_NOEXIST))
			log_thread(FTrace_EVT_server_create, tid, clamp(p->dl.dl_runtime, ~0u));
		return bpf_map_lookup_elem(&servers, &tid);
	}
	if (p->policy != SCHED_DEADLINE && server) {
		if (!bpf_map_delete_elem(&servers, &tid))
			log_thread(FTrace_EVT_server_remove, tid, 0);
		return 0;
	}
	return server;
}

static __always_inline void look_for_miss(struct server *server, struct task_struct *p)
{
	__s64 late;

	if (!server->job || server->missed || !bpf_core_field_exists(p->se.cfs_rq->rq))
		return;
	late = p->se.cfs_rq->rq->clock - server->deadline;
	if (late <= 0)
		return;
	server->missed = true;
	log_thread(FTrace_EVT_task_deadline_miss, p->pid, clamp(late, ~0u));
}

/* If the next period has begun when a budget is exhausted, the kernel replenishes the budget at
 * once, without the timer. The only sign is that the deadline has moved during a job. */
static __always_inline void look_for_replenishment(struct server *server, struct task_struct *p)
{
	if (server->job && server->seen != p->dl.deadline && !server->replenished) {
		log_thread(FTrace_EVT_server_exhaust, p->pid, 0);
		log_thread(FTrace_EVT_server_replenish, p->pid, 0);
	}
	server->seen = p->dl.deadline;
	server->replenished = false;
}

static __always_inline void server_leaves_cpu(struct task_struct *p, bool preempt)
{
	struct server *server = look_at_server(p);
	__u32 tid = p->pid, state = preempt ? 0 : p->__state;

	if (!server)
		return;
	look_for_miss(server, p);
	look_for_replenishment(server, p);
	if (state & TASK_DEAD) {
		if (!bpf_map_delete_elem(&servers, &tid))
			log_thread(FTrace_EVT_server_remove, tid, 0);
	} else if (state || called_sched_yield(p)) {
		server->job = false;
	}
}

static __always_inline void server_gets_cpu(struct task_struct *p)
{
	struct server *server = look_at_server(p);

	if (!server)
		return;
	look_for_replenishment(server, p);
	if (!server->job) {
		server->job = true;
		server->missed = false;
		server->deadline = p->dl.deadline;
	}
	look_for_miss(server, p);
	log_thread(FTrace_EVT_server_active, p->pid, clamp(p->dl.runtime, ~0u));
}

/* Returns the thread whose budget this timer replenishes; NULL if it is another timer. Every
 * thread has one, so what it does when it expires can be seen in the current one's. */
static __always_inline struct task_struct *replenished_by(struct hrtimer *timer)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct sched_dl_entity *dl;

	if (BPF_CORE_READ(timer, function) != current->dl.dl_timer.function)
		return 0;
	dl = (void *)((char *)timer - bpf_core_field_offset(struct sched_dl_entity, dl_timer));
	if (bpf_core_field_exists(dl->dl_server) && BPF_CORE_READ_BITFIELD_PROBED(dl, dl_server))
		return 0;
	return (void *)((char *)dl - bpf_core_field_offset(struct task_struct, dl));
}

/* Handles a server without budget: it is used up, or the thread gave it back. The timer is set to
 * the next period. */
static __always_inline void server_is_throttled(struct task_struct *p)
{
	struct sched_dl_entity *dl =
		(void *)((char *)p + bpf_core_field_offset(struct task_struct, dl));
	__u32 tid = BPF_CORE_READ(p, pid);
	__s64 left = BPF_CORE_READ(dl, runtime);

	if (!is_traced(tid) || !is_open(BPF_CORE_READ(p, tgid), tid))
		return;
	if (BPF_CORE_READ_BITFIELD_PROBED(dl, dl_throttled) &&
	    !BPF_CORE_READ_BITFIELD_PROBED(dl, dl_yielded))
		log_thread(FTrace_EVT_server_exhaust, tid, clamp(-left, FTRACE_SERVER_YIELDED - 1));
	else
		log_thread(FTrace_EVT_server_exhaust, tid,
			   FTRACE_SERVER_YIELDED | clamp(left, FTRACE_SERVER_YIELDED - 1));
}

static __always_inline void server_is_replenished(struct task_struct *p)
{
	struct sched_dl_entity *dl =
		(void *)((char *)p + bpf_core_field_offset(struct task_struct, dl));
	__u32 tid = BPF_CORE_READ(p, pid);
	struct server *server;

	if (!is_traced(tid) || !is_open(BPF_CORE_READ(p, tgid), tid) ||
	    !BPF_CORE_READ_BITFIELD_PROBED(dl, dl_throttled))
		return;
	log_thread(FTrace_EVT_server_replenish, tid, 0);
	server = bpf_map_lookup_elem(&servers, &tid);
	if (server)
		server->replenished = true;
}
