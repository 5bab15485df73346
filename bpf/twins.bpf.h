/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Defines programs of tracepoints that the kernel can preempt, each twice. From 7.0 on,
 * a46023d5616e ("tracing: Guard __DECLARE_TRACE() use of __DO_TRACE_CALL() with SRCU-fast") lets
 * the kernel preempt them. While one is preempted, the kernel skips it for every other thread of
 * that CPU. The second one (the twin) then runs instead. The loader loads the second, NAME_twin,
 * only if it is needed (user/bpf/twins.h).
 */
#ifndef OVNITRACE_TWINS_H
#define OVNITRACE_TWINS_H

const volatile bool has_twins = false; /* set by the loader before loading */

struct twin_runs {
	__u8 of[FTRACE_TID_MASK + 1];
};

/* Which first twins have run for a thread, a bit each, by tid. Only the thread itself writes it. */
ARRAY(twin_runs, struct twin_runs, 1);

/* Notes that the first twin runs, or `take`: takes that note away. Whether it was there. */
static __always_inline bool first_twin_ran(__u8 bit, bool take)
{
	__u32 zero = 0, tid = (__u32)bpf_get_current_pid_tgid() & FTRACE_TID_MASK;
	struct twin_runs *runs;
	__u8 before;

	if (!has_twins)
		return false;
	runs = bpf_map_lookup_elem(&twin_runs, &zero);
	if (!runs)
		return false;
	before = runs->of[tid];
	runs->of[tid] = take ? before & ~bit : before | bit;
	return before & bit;
}

/* Use it as SEC() and BPF_PROG() together. `bit` is the object's own for this program. */
#define TWIN_PROG(section, name, bit, args...)                                                     \
	static __always_inline int ____##name(unsigned long long *ctx, ##args);                    \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wint-conversion\"")      \
		SEC(section) int                                                                   \
		name(unsigned long long *ctx)                                                      \
	{                                                                                          \
		first_twin_ran(bit, false);                                                        \
		return ____##name(___bpf_ctx_cast(args));                                          \
	}                                                                                          \
	SEC(section) int name##_twin(unsigned long long *ctx)                                      \
	{                                                                                          \
		return first_twin_ran(bit, true) ? 0 : ____##name(___bpf_ctx_cast(args));          \
	}                                                                                          \
	_Pragma("GCC diagnostic pop") static __always_inline int ____##name(                       \
		unsigned long long *ctx, ##args)

#endif
