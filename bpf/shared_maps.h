/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declares the maps that all BPF objects share: which threads are traced and recorded, and the
 * rings. The loader makes the maps with the first object and gives them to the others
 * (bpf_map__reuse_fd).
 */
#ifndef OVNITRACE_SHARED_MAPS_H
#define OVNITRACE_SHARED_MAPS_H

/* Declare maps. `kind` and `flags`: without BPF_MAP_TYPE_ and 0 or BPF_F_*. */
#define MAP(kind, flags, name, key_type, value_type, entries)                                      \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_##kind);                                                 \
		__uint(map_flags, flags);                                                          \
		__uint(max_entries, entries);                                                      \
		__type(key, key_type);                                                             \
		__type(value, value_type);                                                         \
	} name SEC(".maps")
#define ARRAY(name, value_type, entries) MAP(ARRAY, 0, name, __u32, value_type, entries)
#define MAPPED_ARRAY(name, value_type, entries)                                                    \
	MAP(ARRAY, BPF_F_MMAPABLE, name, __u32, value_type, entries)
#define RING(name, bytes)                                                                          \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_RINGBUF);                                                \
		__uint(max_entries, bytes);                                                        \
	} name SEC(".maps")

/* Parameters, set by the loader before loading. */
const volatile bool trace_all = false;	   /* every thread of the machine */
const volatile __u64 wakeup_watermark = 0; /* bytes in a ring at which the reader is woken */

/* Which threads are traced, a byte for each tid. A creation writes the byte of the new tid, so an
 * exit needs no cleaning up. All bytes are in one value of 4 MiB, the largest that older kernels
 * take. A program looks the value up once, and then a thread costs one load. The bytes are hardly
 * ever written, so CPUs may share their cache lines. */
#define THREAD_TRACED  1
#define THREAD_NAMED   2 /* the loader has its present name */
#define THREAD_PROGRAM 4 /* of the program that the loader started */

struct thread_marks {
	union {
		/* All tids up to PID_MAX_LIMIT, and not to pid_max: that may be raised while we
		 * trace, and since 6.14 each PID namespace has its own, while our tids are those of
		 * the machine. */
		__u8 of[FTRACE_TID_MASK + 1];
		__u32 words[(FTRACE_TID_MASK + 1) / 4]; /* what atomic operations are for */
	};
};

ARRAY(marks, struct thread_marks, 1);

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* set by the loader */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* possible CPUs, set by the loader */
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

#define RING_HEADER 8 /* bytes of the kernel's before each record: BPF_RINGBUF_HDR_SZ */

/* Copies `data` into a CPU's ring; 0, or less where it finds no room. The reader is woken once,
 * when the watermark is crossed. */
static __always_inline long send_to_ring(void *ring, void *data, __u64 size)
{
	__u64 used = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);
	__u64 after = used + ((RING_HEADER + size + 7) & ~7ULL);

	return bpf_ringbuf_output(ring, data, size,
				  used < wakeup_watermark && after >= wakeup_watermark
					  ? BPF_RB_FORCE_WAKEUP
					  : BPF_RB_NO_WAKEUP);
}

static __always_inline struct thread_marks *all_marks(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&marks, &zero);
}

/* Returns the marks (THREAD_*) of a thread, 0 if it is not traced. The idle task, tid 0, never is.
 */
static __always_inline __u32 marks_of(__u32 tid)
{
	struct thread_marks *all = all_marks();

	return all ? all->of[tid & FTRACE_TID_MASK] : 0;
}

static __always_inline bool is_traced(__u32 tid)
{
	if (trace_all)
		return tid != 0;
	return marks_of(tid) & THREAD_TRACED;
}

/* ---- regions of --control ----------------------------------------------------------------------
 */

/* Set by the loader before loading. */
const volatile bool has_regions = false;      /* only what is in a region is recorded */
const volatile bool region_by_thread = false; /* a region is a thread's, and not its process's */

/* By tid or, without region_by_thread, by tgid: when the region was opened, ns; 0: it is closed.
 * And, for what belongs to no thread of the trace, how many are open, and when the last one was
 * opened, ns. */
#define REGIONS_OPEN   0 /* the tid of the idle task, which has no region */
#define REGIONS_OPENED (FTRACE_TID_MASK + 1)
ARRAY(regions, __u64, 1); /* CAPTURE_REGIONS with has_regions, set by the loader */

static __always_inline __u64 *region_of(__u32 pid, __u32 tid)
{
	__u32 id = region_by_thread ? tid : pid;

	return bpf_map_lookup_elem(&regions, &id);
}

static __always_inline bool is_open(__u32 pid, __u32 tid)
{
	volatile __u64 *since;

	if (!has_regions)
		return true;
	since = region_of(pid, tid);
	return since && *since;
}

/* Returns whether what `p` does now is recorded, if it is traced. Asked before the clock is
 * read, which is what a thread outside a region costs, and again after it: so nothing has a time
 * after the stop of its region, nor before its start. */
static __always_inline bool in_region(struct task_struct *p)
{
	return is_open(p->tgid, p->pid);
}

static __always_inline __u64 about_regions(__u32 what)
{
	volatile __u64 *value = bpf_map_lookup_elem(&regions, &what);

	return value ? *value : 0;
}

/* Returns whether what belongs to no thread of the trace is recorded. Asked as in_region(). */
static __always_inline bool in_any_region(void)
{
	return !has_regions || about_regions(REGIONS_OPEN);
}

/* Returns whether events of families are recorded for a thread. */
static __always_inline bool is_recorded(struct task_struct *p)
{
	return is_traced(p->pid) && in_region(p);
}

#endif
