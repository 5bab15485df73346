/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides a --trigger: a thread waited, was blocked or was preempted for too long, or ended. Loaded
 * only if such a trigger is asked for. Each hit is counted, and a message is sent at most once in
 * TRIGGER_PAUSE_NS.
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

__u64 hits = 0;
__u64 last_sent = 0; /* ns; 0: no message yet */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, TRIGGER_RING_BYTES);
} trigger_hits SEC(".maps");

/* Since when a thread has been in the state that the rule is about, ns; 0: it is not, or that is
 * not known. One word by tid, which neighbours do not share a cache line for, as in threads.bpf.h.
 * A dispatch makes it 0, so nothing old is left of a thread that is traced only at times. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FTRACE_TID_MASK + 1);
	__type(key, __u32);
	__type(value, __u64);
} trigger_since SEC(".maps");

static __always_inline volatile __u64 *since_of(struct task_struct *p)
{
	__u32 tid = p->pid, place = (tid << 4 | tid >> 18) & FTRACE_TID_MASK;

	return bpf_map_lookup_elem(&trigger_since, &place);
}

static __always_inline bool name_fits(const char *comm)
{
	__u64 states = 1;

	if (!rule.has_glob)
		return true;
	for (int at = 0; at < 16; at++) {
		__u8 character = comm[at];

		if (!character)
			break;
		states = (states & rule.glob.advance[character]) << 1 | (states & rule.glob.loops);
	}
	return states & rule.glob.accept;
}

/* Counts a hit, if the thread is one that the rule is for, and sends it after a pause. */
static __noinline int hit(struct task_struct *p, __u64 ns, __u64 now)
{
	struct trigger_hit message = {.time = now, .ns = ns, .tid = p->pid};
	__u64 last;

	bpf_probe_read_kernel_str(message.comm, sizeof(message.comm), p->comm);
	if (!is_recorded(p) || !name_fits(message.comm))
		return 0;
	message.hits = __sync_fetch_and_add(&hits, 1) + 1;
	last = *(volatile __u64 *)&last_sent;
	if ((last && now < last + TRIGGER_PAUSE_NS) ||
	    __sync_val_compare_and_swap(&last_sent, last, now) != last)
		return 0;
	bpf_ringbuf_output(&trigger_hits, &message, sizeof(message), BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* The state that the rule is about has ended. */
static __always_inline void state_ended(struct task_struct *p, volatile __u64 *word, __u64 now)
{
	__u64 since = *word;

	*word = 0;
	if (since && now > since && now - since >= rule.least_ns)
		hit(p, now - since, now);
}

/* With TRIGGER_LATENCY and TRIGGER_BLOCKED. A thread that waits for a CPU may be woken once more,
 * if it was preempted on its way to sleep. */
static __always_inline int woken(struct task_struct *p, bool is_new)
{
	volatile __u64 *word;

	if (!is_traced(p->pid) || !(word = since_of(p)))
		return 0;
	if (rule.kind == TRIGGER_LATENCY && (is_new || !*word))
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
	bool runnable = preempt || !task_state(p);
	volatile __u64 *word;

	if (!is_traced(p->pid) || !(word = since_of(p)))
		return;
	*word = runnable == (rule.kind != TRIGGER_BLOCKED) ? now : 0;
}

/* The idle task, tid 0, is never traced, and its word is always 0. */
SEC("tp_btf/sched_switch")
int BPF_PROG(trigger_on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	volatile __u64 *word;
	__u64 now;

	if (rule.kind == TRIGGER_EXIT) {
		if (unlikely(task_state(prev) & TASK_DEAD))
			hit(prev, 0, bpf_ktime_get_ns());
		return 0;
	}
	now = bpf_ktime_get_ns();
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
