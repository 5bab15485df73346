/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps facts about each thread beside its marks, and changes the marks.
 */

/* In one place, so that an event touches one cache line for both. */
struct thread_facts {
	__u32 waker;	/* of the last sched_waking while it was traced: WAKER_*; 0: none */
	__u32 affinity; /* hash of the CPUs that were sent last; 0: none were */
	__u32 waits;	/* 1 + the CPU that counts it as waiting; 0: it does not wait */
	__u32 fits;	/* enum select_fit: which filters it passes */
};

#define WAKER_SEEN	    (1u << 31)
#define WAKER_CONTEXT_SHIFT 28 /* enum ftrace_wakeup_context, 3 bits */
#define WAKER_DEVICE_SHIFT  22 /* place of the device, 6 bits */
#define WAKER_TID_MASK	    FTRACE_TID_MASK

/* An array and not task storage, because a look-up in it is inlined. By facts_of(). */
ARRAY(threads, struct thread_facts, FTRACE_TID_MASK + 1);

/* Neighbours among tids, which run on several CPUs at once, are apart by more than a cache line:
 * each waking writes there. */
static __always_inline struct thread_facts *facts_of(__u32 tid)
{
	__u32 place = (tid << 4 | tid >> 18) & FTRACE_TID_MASK; /* 22 bits, turned by 4 */

	return bpf_map_lookup_elem(&threads, &place);
}

/* Sets and takes away marks of a thread, which others may do at the same time. Returns the marks
 * that it had. Little endian. */
static __always_inline __u32 change_marks(__u32 tid, __u32 set, __u32 clear)
{
	struct thread_marks *all = all_marks();
	__u32 *word, shift = tid % 4 * 8, before = 0;

	if (!all)
		return 0;
	word = &all->words[(tid & FTRACE_TID_MASK) / 4];
	if (clear)
		before = __sync_fetch_and_and(word, ~(clear << shift));
	if (set)
		before |= __sync_fetch_and_or(word, set << shift);
	return before >> shift & 0xff;
}
