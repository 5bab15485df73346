/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each CPU stages its transitions in memory of its own: one message of CAPTURE_BATCH of them at a
 * time goes to its ring buffer, because room in a ring is what costs most.
 *
 * Why the staging area needs no lock: sched_switch, sched_wakeup, sched_wakeup_new and
 * sched_migrate_task run with interrupts off (under the runqueue lock or p->pi_lock), so a CPU has
 * a single producer. The one exception is try_to_wake_up() of the running thread itself, which
 * holds only preemption off: that is no transition, and those programs return before they touch
 * anything. An interrupt in those few instructions can make the kernel skip a run of the same
 * program (bpf_prog::stats::misses); the loader reads that counter and reports it.
 */
MAPPED_ARRAY(stages, struct cpu_stage, 1); /* possible CPUs, set by the loader */

static __always_inline struct cpu_stage *stage_of_this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&stages, &cpu);
}

/* Hands a full batch to this CPU's ring. A batch that finds no room is lost as a whole, and counted
 * with the next that does. */
static __noinline int flush(struct cpu_stage *s)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);

	if (!s)
		return 0;
	s->events += CAPTURE_BATCH;
	if (ring && !send_to_ring(ring, &s->batch, sizeof(s->batch))) {
		s->batch.lost = 0;
		return 0;
	}
	if (!s->batch.lost)
		s->batch.lost_since = s->batch.records[0].when;
	s->batch.lost += CAPTURE_BATCH;
	s->lost_total += CAPTURE_BATCH;
	return 0;
}

static __always_inline void stage_at(struct cpu_stage *s, __u64 when, __u64 word)
{
	__u32 n = s->count & (CAPTURE_BATCH - 1);

	s->batch.records[n].when = when;
	s->batch.records[n].word = word;
	if (unlikely(++n == CAPTURE_BATCH)) {
		flush(s);
		n = 0;
	}
	s->count = n;
}
