/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs the chains of --control as a state machine: a thread is at one place of each chain. Only the
 * thread itself changes its place, or the loader on its behalf while the thread cannot run. A
 * change for all threads of a process is a broadcast: one word, changed by compare-and-swap, that
 * each thread adopts when it next looks. This needs no lock, and hits on all CPUs together count
 * right.
 */
const volatile struct control_alarm alarms[CONTROL_ALARMS] = {};
const volatile struct control_chain chains[CONTROL_CHAINS] = {};
const volatile __u32 alarm_count = 0, chain_count = 0;
const volatile __u64 immediate_alarms = 0; /* a bit each of those with CONTROL_IMMEDIATE */

MAP(HASH, BPF_F_NO_PREALLOC, control_processes, __u32, struct control_process, 16384); /* tgid */
MAP(HASH, BPF_F_NO_PREALLOC, control_threads, __u32, struct control_thread, 131072);   /* tid */

/* By tgid: processes that were stopped, until the loader continues them (CONTROL_HELD_*).
 */
MAP(HASH, BPF_F_NO_PREALLOC, control_held, __u32, __u8, 32768);

RING(control_messages, 1 << 20);

__u64 messages_lost = 0;

static __always_inline void send(struct control_message *m)
{
	m->time = bpf_ktime_get_ns();
	if (bpf_ringbuf_output(&control_messages, m, sizeof(*m), BPF_RB_FORCE_WAKEUP))
		__sync_fetch_and_add(&messages_lost, 1);
}

static __noinline int send_message(__u32 kind, __u32 pid, __u32 tid, __u32 alarm)
{
	struct control_message m = {
		.kind = kind,
		.pid = pid,
		.tid = tid,
		.alarm = alarm,
	};

	send(&m);
	return 0;
}

/* Asks the loader to visit the threads. */
static __noinline int ask_for_visit(struct visitor *v)
{
	struct control_message m = {.kind = CONTROL_VISIT};

	if (!v)
		return 0;
	m.pid = v->pid;
	m.tid = v->only;
	m.alarm = v->tid;
	m.visit = v->visit;
	m.what = v->what;
	send(&m);
	return 0;
}

/* Describes a hit of a thread: it counts for the alarms of `mask` that are armed for the thread.
 *
 * The verifier checks a static function again for each call and each path to it: with 16 chains
 * that is more than it accepts. The steps below that a chain takes are therefore not static, and
 * checked once, for any arguments. In such a function the verifier does not know the pointers
 * inside a struct argument, so process and thread are separate arguments. Indices are masked,
 * because the verifier may forget the bounds that a comparison gave them. */
struct hit {
	__u64 mask;
	__u64 ip, ax, bx, cx; /* of the thread, where it hits an instruction */
	__u64 fired;	      /* a bit each */
	__u64 counted;	      /* a bit for each alarm that needs more hits */
	__u32 stepping; /* 1: an icount was armed for this thread, 2: for all of its process */
	struct visitor visitor;
};

/* The thread of a hit, and its process. */
struct subject {
	struct control_process *process;
	struct control_thread *thread;
};

/* ---- where a thread is -------------------------------------------------------------------------
 */

static __always_inline void put(struct control_place *place, __u64 word, __u64 now)
{
	place->epoch = word >> CONTROL_EPOCH_SHIFT & CONTROL_EPOCH_MASK;
	place->position = word >> CONTROL_POSITION_SHIFT & 0xff;
	place->round = (__u32)word;
	place->count = 0;
	place->since = now;
}

/* Takes over a broadcast that the thread has not seen. Returns the word. */
static __always_inline __u64 adopt(struct control_process *process, struct control_place *place,
				   __u32 c)
{
	__u64 word = *(volatile __u64 *)&process->broadcast[c];

	if (place->epoch != (word >> CONTROL_EPOCH_SHIFT & CONTROL_EPOCH_MASK))
		put(place, word, process->since[c]);
	return word;
}

/* Returns whether the instruction is the one that the alarm means. */
static __noinline int is_marker(struct hit *h, __u32 a)
{
	const volatile struct control_alarm *alarm;

	if (!h || a >= CONTROL_ALARMS)
		return 0;
	alarm = &alarms[a];
	switch (alarm->type) {
	case CONTROL_ADDRESS: /* another process may have the file elsewhere */
		return !alarm->value || h->ip == alarm->value;
	case CONTROL_SSC:
		return (__u32)h->bx == alarm->value;
	case CONTROL_MAGIC:
		return h->ax == 4 && h->bx == (__u32)alarm->value && h->cx == alarm->value >> 32;
	case CONTROL_CPUID:
		return (__u32)h->ax == alarm->value;
	}
	return true;
}

/* Returns where a thread goes when the alarm at `position` has fired: position << 32 | round. */
static __always_inline __u64 next_place(__u32 c, __u32 position, __u32 round)
{
	const volatile struct control_chain *chain = &chains[c];
	__u32 loops = chain->loops;

	if (loops > 1 && position == chain->loop + 1 && ++round % loops)
		return (__u64)chain->loop << CONTROL_POSITION_SHIFT | round;
	if (++position < chain->alarms)
		return (__u64)position << CONTROL_POSITION_SHIFT | round;
	if (!chain->repeat)
		return 0; /* endless: rounds are not counted */
	if (loops == 1)
		round++;
	if (round / loops < chain->repeat)
		return round;
	return (__u64)CONTROL_FINISHED << CONTROL_POSITION_SHIFT | round;
}

/* Hits at which an alarm fires. */
static __always_inline __u64 needed(__u32 c, const volatile struct control_alarm *alarm,
				    __u32 round)
{
	if (alarm->flags & CONTROL_IMMEDIATE && round % chains[c].loops == 0)
		return 0;
	return alarm->count;
}

/* Tells the loader if the alarm that is armed now is one that the loader makes hit. Returns the new
 * value of h->stepping. */
__noinline __u32 announce_armed(struct hit *h, __u32 c, __u32 position, __u32 all)
{
	__u32 a;

	if (!h)
		return 0;
	c &= CONTROL_CHAINS - 1;
	a = (chains[c].first + position) & (CONTROL_ALARMS - 1);
	if (position >= chains[c].alarms)
		return h->stepping;
	if (alarms[a].type == CONTROL_TIMEOUT)
		send_message(CONTROL_ARMED, h->visitor.pid, all ? 0 : h->visitor.tid, a);
	return h->stepping | (alarms[a].type == CONTROL_ICOUNT ? 1 + all : 0);
}

static __always_inline void announce(struct hit *h, __u32 c, __u32 position, bool all)
{
	h->stepping = announce_armed(h, c, position, all);
}

/* ---- a hit -------------------------------------------------------------------------------------
 */

/* Puts all threads of the process to another place. `before`: the word from which `place` was
 * computed. Returns false, and changes nothing, if another thread has changed the word since. */
static __always_inline bool broadcast(struct control_process *process, __u32 c, __u64 before,
				      __u64 place)
{
	__u64 epoch = (before >> CONTROL_EPOCH_SHIFT) + 1 & CONTROL_EPOCH_MASK;

	if (__sync_val_compare_and_swap(&process->broadcast[c], before,
					epoch << CONTROL_EPOCH_SHIFT | place) != before)
		return false;
	process->since[c] = bpf_ktime_get_ns();
	return true;
}

/* Arms the chains that wait for a chain that has finished, for this thread or for all. */
__noinline int release(struct hit *h, struct control_process *process,
		       struct control_thread *thread, __u32 c, __u32 all)
{
	__u32 waiters = chains[c & (CONTROL_CHAINS - 1)].waiters;

	if (!h || !process || !thread)
		return 0;
	send_message(CONTROL_DONE, h->visitor.pid, all ? 0 : h->visitor.tid, c);
	for (__u32 w = 0; w < CONTROL_CHAINS && w < chain_count; w++) {
		struct control_place *place = &thread->places[w];
		__u64 before;

		if (!(waiters & 1u << w))
			continue;
		before = adopt(process, place, w);
		if (!all)
			put(place, before >> CONTROL_EPOCH_SHIFT << CONTROL_EPOCH_SHIFT,
			    bpf_ktime_get_ns());
		for (__u32 tries = 0; all && tries < 4 && !broadcast(process, w, before, 0);
		     tries++)
			before = adopt(process, place, w);
		adopt(process, place, w);
		announce(h, w, 0, all);
	}
	return 0;
}

static __always_inline void fire(struct hit *h, __u32 c, __u32 a, __u32 position, bool all)
{
	const volatile struct control_alarm *alarm = &alarms[a];
	__u32 what = (c + 1) << FTRACE_REGION_CHAIN_SHIFT | position << FTRACE_REGION_ALARM_SHIFT |
		     (__u32)alarm->type << FTRACE_REGION_TYPE_SHIFT |
		     (__u32)alarm->event << FTRACE_REGION_EVENT_SHIFT |
		     (alarm->flags & CONTROL_BCAST ? FTRACE_REGION_BCAST : 0);

	h->fired |= 1ull << a;
	do_event(&h->visitor, alarm->event, what, alarm->flags & CONTROL_BCAST);
}

/* Counts a hit of an alarm that needs more hits. A timeout starts again. */
static __noinline int await_more(struct hit *h, struct control_thread *thread, __u32 c, __u32 a)
{
	if (!h || !thread || c >= CONTROL_CHAINS || a >= CONTROL_ALARMS)
		return 0;
	h->counted |= 1ull << a;
	if (alarms[a].type == CONTROL_TIMEOUT) {
		thread->places[c].since = bpf_ktime_get_ns();
		announce(h, c, a - chains[c].first, false);
	}
	return 0;
}

/* Handles a hit of the alarm that is armed in chain `c`, if it is one of h->mask. With `hits` 0,
 * only checks whether the alarm fires without a hit. */
__noinline int hit_chain(struct hit *h, struct control_process *process,
			 struct control_thread *thread, __u32 c, __u32 hits)
{
	const volatile struct control_alarm *alarm;
	struct control_place *place;
	__u64 word, after, count, enough;
	__u32 a, position;
	bool all;

	if (!h || !process || !thread)
		return 0;
	c &= CONTROL_CHAINS - 1;
	/* Another thread's broadcast may come in between. The hit then counts for the alarm that
	 * the broadcast has armed, so it is tried again. No thread loses this race eight times in a
	 * row. */
	for (__u32 tries = 0; tries < 8; tries++) {
		barrier_var(c); /* so that no address is kept on the stack for the next try */
		place = &thread->places[c];
		word = adopt(process, place, c);
		position = place->position;
		a = (chains[c].first + position) & (CONTROL_ALARMS - 1);
		if (position >= chains[c].alarms || !(h->mask >> a & 1))
			return 0;
		alarm = &alarms[a];
		if (!is_marker(h, a))
			return 0;
		if (alarm->type == CONTROL_TIMEOUT &&
		    bpf_ktime_get_ns() - place->since < alarm->value)
			return 0; /* for an earlier arming */
		enough = needed(c, alarm, place->round);
		all = alarm->flags & (CONTROL_BCAST | CONTROL_GLOBAL);
		if (alarm->flags & CONTROL_GLOBAL) {
			__u64 *counts = &process->counts[a];
			__u64 before = *(volatile __u64 *)counts;
			__u64 epoch = word >> CONTROL_EPOCH_SHIFT << CONTROL_EPOCH_SHIFT;

			/* This thread may have been preempted: `before` may be of a later epoch. */
			if (*(volatile __u64 *)&process->broadcast[c] != word)
				continue;
			count = hits;
			if ((before ^ word) >> CONTROL_EPOCH_SHIFT == 0)
				count += before & CONTROL_COUNT_MASK;
			if (__sync_val_compare_and_swap(counts, before, epoch | count) != before)
				continue;
		} else {
			count = place->count += hits;
		}
		if (count < enough)
			return await_more(h, thread, c, a);
		after = next_place(c, position, place->round);
		if (!all) {
			put(place, (word >> CONTROL_EPOCH_SHIFT << CONTROL_EPOCH_SHIFT) | after,
			    bpf_ktime_get_ns());
		} else if (!broadcast(process, c, word, after)) {
			continue;
		} else {
			adopt(process, place, c);
		}
		fire(h, c, a, position, all);
		position = after >> CONTROL_POSITION_SHIFT;
		if (position == CONTROL_FINISHED)
			release(h, process, thread, c, all);
		else
			announce(h, c, position, all);
		return 1;
	}
	return 0;
}

/* Returns a bit for the alarm of chain `c` that is armed for the thread, if one is. */
__noinline __u64 armed_in(struct control_process *process, struct control_thread *thread, __u32 c)
{
	struct control_place *place;
	__u32 a;

	if (!process || !thread)
		return 0;
	c &= CONTROL_CHAINS - 1;
	place = &thread->places[c];
	adopt(process, place, c);
	a = (chains[c].first + place->position) & (CONTROL_ALARMS - 1);
	if (place->position >= chains[c].alarms ||
	    (alarms[a].flags & CONTROL_ONE_TID && alarms[a].tid != thread->number))
		return 0;
	return 1ull << a;
}

/* Returns the alarms that get a hit: the one that is armed in each chain when the hit begins. An
 * alarm that the hit arms is not among them. */
static __noinline __u64 armed_now(struct control_process *process, struct control_thread *thread)
{
	__u64 armed = 0;

	for (__u32 c = 0; c < CONTROL_CHAINS && c < chain_count; c++)
		armed |= armed_in(process, thread, c);
	return armed;
}

/* Starts each uniform that is armed, whichever hit has armed it. */
__noinline int fire_immediate(struct hit *h, struct control_process *process,
			      struct control_thread *thread)
{
	if (!h || !immediate_alarms)
		return 0;
	h->mask = immediate_alarms;
	for (__u32 c = 0; c < CONTROL_CHAINS && c < chain_count; c++)
		hit_chain(h, process, thread, c, 0);
	return 0;
}

__noinline int take_hit(struct hit *h, struct control_process *process,
			struct control_thread *thread)
{
	if (!h)
		return 0;
	h->mask &= armed_now(process, thread);
	if (!h->mask)
		return 0;
	for (__u32 c = 0; c < CONTROL_CHAINS && c < chain_count; c++)
		hit_chain(h, process, thread, c, 1);
	if (h->fired)
		fire_immediate(h, process, thread);
	return 0;
}
