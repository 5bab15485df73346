/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides a --trigger: a thread waited, was blocked or was preempted for too long, a CPU was idle
 * meanwhile, or a thread ended. Loaded once for each such trigger. Each hit is counted, and a
 * message is sent at most once in TRIGGER_PAUSE_NS.
 */
#include "ktypes.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include <ovnitrace/capture.h>
#include <ovnitrace/trigger.h>
#include "kfuncs.h"
#include "kernel_diffs.h"
#include "shared_maps.h"

char LICENSE[] SEC("license") = "GPL";

/* Set by the loader before loading. */
const volatile struct trigger_rule rule = {};
const volatile __u32 possible_cpus = 0;

__u64 hits = 0;
__u64 last_sent = 0; /* ns; 0: no message yet */

RING(trigger_hits, TRIGGER_RING_BYTES);

/* Since when a thread has been in the state that the rule is about, ns; 0: it is not, or that is
 * not known. One word by tid, which neighbours do not share a cache line for, as in threads.bpf.h.
 * A dispatch makes it 0, so nothing old is left of a thread that is traced only at times. */
ARRAY(trigger_since, __u64, FTRACE_TID_MASK + 1);

static __always_inline volatile __u64 *since_of(struct task_struct *p)
{
	__u32 tid = p->pid, place = (tid << 4 | tid >> 18) & FTRACE_TID_MASK;

	return bpf_map_lookup_elem(&trigger_since, &place);
}

/* Counts a hit, if the thread is one that the rule is for, and sends it after a pause. */
static __noinline int hit(struct task_struct *p, __u64 ns, __u64 now, __u32 idle_cpu)
{
	struct trigger_hit message = {.time = now, .ns = ns, .tid = p->pid, .idle_cpu = idle_cpu};
	__u64 last;

	bpf_probe_read_kernel_str(message.comm, sizeof(message.comm), p->comm);
	if (!is_recorded(p) ||
	    (rule.has_glob && !glob_fits(&rule.glob, message.comm, sizeof(message.comm))))
		return 0;
	message.hits = __sync_fetch_and_add(&hits, 1) + 1;
	last = *(volatile __u64 *)&last_sent;
	if ((last && now < last + TRIGGER_PAUSE_NS) ||
	    __sync_val_compare_and_swap(&last_sent, last, now) != last)
		return 0;
	bpf_ringbuf_output(&trigger_hits, &message, sizeof(message), BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* ---- idle CPUs, with TRIGGER_IDLE --------------------------------------------------------------
 */

/* Written by its CPU only, and read by all. */
struct idle_cpu {
	__u64 rq;
	__u64 since; /* ns: when it became idle last; 0: that was not seen */
	__u64 until; /* ns: when that ended; not later than `since`: it is idle */
	/* The last idle time of least_ns or longer that has ended. Earlier ones are not needed: a
	 * wait that overlaps one of them contains this one whole. */
	__u64 long_since, long_until;
	__u64 unused[3]; /* CPUs do not share cache lines */
};

ARRAY(idle_cpus, struct idle_cpu, 1); /* possible CPUs with TRIGGER_IDLE, set by the loader */

static __always_inline void note_idle(struct task_struct *prev, struct task_struct *next, __u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct idle_cpu *mine = bpf_map_lookup_elem(&idle_cpus, &cpu);

	if (!mine)
		return;
	if (!next->pid) {
		if (bpf_core_field_exists(next->se.cfs_rq->rq))
			mine->rq = (__u64)next->se.cfs_rq->rq;
		mine->since = now;
	} else if (!prev->pid && mine->since > mine->until) { /* and not one that was not seen */
		if (now - mine->since >= rule.least_ns) {
			/* A reader never sees the start of one with the end of another. */
			__sync_lock_test_and_set(&mine->long_until, 0);
			mine->long_since = mine->since;
			__sync_lock_test_and_set(&mine->long_until, now);
		}
		mine->until = now;
	}
}

/* An offline CPU would look idle. */
static __always_inline bool is_online(struct idle_cpu *cpu)
{
	struct rq *rq = (void *)cpu->rq;
	int online = 1;

	if (rq && bpf_core_field_exists(rq->online))
		bpf_probe_read_kernel(&online, sizeof(online), &rq->online);
	return online;
}

static __always_inline __u64 overlap(__u64 since, __u64 until, __u64 from, __u64 to)
{
	__u64 begin = since > from ? since : from, end = until < to ? until : to;

	return end > begin ? end - begin : 0;
}

/* Returns how long the CPU was idle in one piece between the two, ns; 0: shorter than least_ns. */
static __always_inline __u64 idle_between(volatile struct idle_cpu *cpu, __u64 from, __u64 to)
{
	__u64 until = cpu->until, since = cpu->since, now = 0, before = 0, most;
	__u64 long_until = __sync_fetch_and_add(&cpu->long_until, 0), long_since = cpu->long_since;

	if (since && until <= since && is_online((struct idle_cpu *)cpu))
		now = overlap(since, to, from, to);
	if (long_until && __sync_fetch_and_add(&cpu->long_until, 0) == long_until)
		before = overlap(long_since, long_until, from, to);
	most = now > before ? now : before;
	return most >= rule.least_ns ? most : 0;
}

struct idle_search {
	const char *mask; /* of the CPUs that the thread may use */
	__u64 from, now;  /* ns: its wait */
	__u64 most;	  /* ns */
	__u32 cpu;
};

static long search_cpu(__u32 cpu, struct idle_search *search)
{
	struct idle_cpu *one = bpf_map_lookup_elem(&idle_cpus, &cpu);
	__u64 word = 0, ns;

	bpf_probe_read_kernel(&word, sizeof(word), search->mask + cpu / 64 * 8);
	if (!one || !(word >> cpu % 64 & 1))
		return 0;
	ns = idle_between(one, search->from, search->now);
	if (ns > search->most) {
		search->most = ns;
		search->cpu = cpu;
	}
	return 0;
}

/* Finds a CPU that was idle while `p`, which gets a CPU at `now`, has waited since `from`. */
static __noinline int look_for_idle_cpu(struct task_struct *p, __u64 from, __u64 now)
{
	struct idle_search search = {.mask = (const char *)p + bpf_core_field_offset(p->cpus_mask),
				     .from = from,
				     .now = now};

	bpf_loop(possible_cpus, search_cpu, &search, 0);
	if (search.most)
		hit(p, search.most, now, search.cpu);
	return 0;
}

/* ---- states of threads ---------------------------------------------------------------------- */

/* Ends the state that the rule is about, and hits if it lasted long enough. */
static __always_inline void state_ended(struct task_struct *p, volatile __u64 *word, __u64 now)
{
	__u64 since = *word;

	*word = 0;
	if (!since || now <= since || now - since < rule.least_ns)
		return;
	if (rule.kind == TRIGGER_IDLE)
		look_for_idle_cpu(p, since, now);
	else
		hit(p, now - since, now, 0);
}

/* Notes a wakeup, with TRIGGER_LATENCY, TRIGGER_IDLE and TRIGGER_BLOCKED. A thread that waits for a
 * CPU may be woken again if it was preempted on its way to sleep. */
static __always_inline int woken(struct task_struct *p, bool is_new)
{
	volatile __u64 *word;

	if (!is_traced(p->pid) || !(word = since_of(p)))
		return 0;
	if ((rule.kind == TRIGGER_IDLE && is_throttled(p)) ||
	    (rule.kind != TRIGGER_BLOCKED && awaits_period(p)))
		*word = 0; /* it does not wait for a CPU */
	else if (rule.kind != TRIGGER_BLOCKED && (is_new || !*word))
		*word = bpf_ktime_get_ns();
	else if (rule.kind == TRIGGER_BLOCKED && is_new)
		*word = 0;
	else if (rule.kind == TRIGGER_BLOCKED && *word)
		state_ended(p, word, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(trigger_on_wakeup, struct task_struct *p)
{
	return woken(p, false);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(trigger_on_wakeup_new, struct task_struct *p)
{
	return woken(p, true);
}

static __always_inline void leaves(struct task_struct *p, bool preempt, __u64 now)
{
	bool runnable = preempt || !p->__state;
	volatile __u64 *word;

	if (!is_traced(p->pid) || !(word = since_of(p)))
		return;
	if (rule.kind == TRIGGER_IDLE && is_throttled(p))
		runnable = false; /* it does not wait for a CPU */
	if (runnable && awaits_period(p))
		*word = 0; /* neither blocked nor preempted */
	else
		*word = runnable == (rule.kind != TRIGGER_BLOCKED) ? now : 0;
}

/* The idle task, tid 0, is never traced, and its word is always 0. */
SEC("tp_btf/sched_switch")
int BPF_PROG(trigger_on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	volatile __u64 *word;
	__u64 now;

	if (rule.kind == TRIGGER_EXIT) {
		if (unlikely(prev->__state & TASK_DEAD))
			hit(prev, 0, bpf_ktime_get_ns(), 0);
		return 0;
	}
	now = bpf_ktime_get_ns();
	if (rule.kind == TRIGGER_IDLE)
		note_idle(prev, next, now);
	leaves(prev, preempt, now);
	word = since_of(next);
	if (word && *word) {
		if (rule.kind == TRIGGER_BLOCKED)
			*word = 0; /* its wakeup was not seen */
		else
			state_ended(next, word, now);
	}
	return 0;
}
