/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records which CPUs traced threads may use. No tracepoint shows all changes (sched_setaffinity,
 * cpusets, the kernel's binding of its own threads). But the CPUs of a thread matter only while it
 * waits for one. These programs therefore look at a thread when such a wait starts, and send a
 * change.
 */
const volatile __u32 possible_cpus = 0; /* set by the loader before loading; 0: do not look */

static __always_inline __u32 affinity_hash(struct task_struct *p)
{
	__u64 hash = p->cpus_mask.bits[0];
	const char *mask = (const char *)p + bpf_core_field_offset(p->cpus_mask);

	for (__u32 first = 64; first < possible_cpus; first += 64) {
		__u64 word = 0;

		bpf_probe_read_kernel(&word, sizeof(word), mask + first / 8);
		hash = hash * 0x9e3779b97f4a7c15ULL + word;
	}
	hash *= 0x9e3779b97f4a7c15ULL;
	return hash >> 32 | 1; /* not 0 */
}

/* Returns the CPUs from `first` on. The kernel's mask can have bits for CPUs that do not exist. */
static __always_inline void fill_cpus(struct life_record *r, struct task_struct *p, __u32 first)
{
	const char *mask = (const char *)p + bpf_core_field_offset(p->cpus_mask);

	r->has_cpus = 1;
	for (__u32 n = 0; n < CAPTURE_LIFE_CPUS / 64; n++, first += 64) {
		r->cpus[n] = 0;
		if (first >= possible_cpus)
			continue;
		bpf_probe_read_kernel(&r->cpus[n], sizeof(r->cpus[n]), mask + first / 8);
		if (first + 64 > possible_cpus)
			r->cpus[n] &= (1ULL << (possible_cpus - first)) - 1;
	}
}

/* Sends an event with the CPUs that `p` may use. Whether all of it found room. */
static __always_inline bool try_with_cpus(struct life_record *r, struct task_struct *p)
{
	__u32 tid = p->pid, hash;
	struct thread_facts *facts = facts_of(tid);

	if (!possible_cpus || r->outside || !facts)
		return life_try(r);
	hash = affinity_hash(p);
	facts->affinity = 0;
	fill_cpus(r, p, 0);
	if (!life_try(r))
		return false;
	r->kind = LIFE_AFFINITY;
	for (__u32 first = CAPTURE_LIFE_CPUS; first < possible_cpus; first += CAPTURE_LIFE_CPUS) {
		r->arg = first;
		fill_cpus(r, p, first);
		if (!life_try(r))
			return true; /* it is sent when the thread waits */
	}
	facts->affinity = hash;
	return true;
}

/* An event that finds no room is not lost: it is sent when the next wait starts. */
static __noinline int send_affinity(struct task_struct *p, __u64 time)
{
	struct life_record r;

	life_fill(&r, LIFE_AFFINITY, p, 0);
	if (time)
		r.time = time;
	try_with_cpus(&r, p);
	return 0;
}

/* Handles the start of a wait for a CPU at `time`; 0: now. To read the clock is expensive, and is
 * hardly ever needed. */
static __always_inline void look_at_affinity(struct task_struct *p, struct thread_facts *facts,
					     __u64 time)
{
	if (possible_cpus && unlikely(facts->affinity != affinity_hash(p)))
		send_affinity(p, time);
}
