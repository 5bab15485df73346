/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Logs family B: high-resolution timers that traced threads arm. Every sleep, timeout and timer of
 * a program that uses a clock is such a timer.
 */

/* Which thread armed a timer. The expiry of an evicted timer is not logged. */
#define MAX_TIMERS 16384
struct armed_timer {
	__u64 function; /* another timer may come to lie at the same address */
	__u32 tid;
	__u32 pid;
	__u32 kind;    /* enum ftrace_timer_kind */
	__u32 expires; /* its timer_wakeup_start has been logged */
};
MAP(LRU_HASH, 0, armed_timers, __u64, struct armed_timer, MAX_TIMERS); /* by address */

/* What the kernel does when they expire; 0 where kallsyms does not list it. */
extern const void hrtimer_wakeup __ksym __weak;
extern const void it_real_fn __ksym __weak;
extern const void posix_timer_fn __ksym __weak;
extern const void timerfd_tmrproc __ksym __weak;

static __always_inline __u64 function_of(struct hrtimer *timer)
{
	return (__u64)BPF_CORE_READ(timer, function);
}

static __always_inline __u32 timer_kind(__u64 function)
{
	if (function == (__u64)&hrtimer_wakeup)
		return FTRACE_TIMER_SLEEP;
	if (function == (__u64)&it_real_fn)
		return FTRACE_TIMER_ITIMER;
	if (function == (__u64)&posix_timer_fn)
		return FTRACE_TIMER_POSIX;
	if (function == (__u64)&timerfd_tmrproc)
		return FTRACE_TIMER_TIMERFD;
	return FTRACE_TIMER_OTHER;
}

/* Returns par2 of a timer's event; a time below 0 counts as 0. */
static __always_inline __u32 timer_word(__u32 kind, __s64 ns, __u32 unit)
{
	__u64 most = ~0u >> FTRACE_TIMER_SHIFT, much = ns < 0 ? 0 : (__u64)ns / unit;

	return kind | (__u32)(much > most ? most : much) << FTRACE_TIMER_SHIFT;
}

static __always_inline void timer_is_armed(struct task_struct *current, struct hrtimer *timer)
{
	__u64 key = (__u64)timer;
	struct armed_timer armed = {};
	__s64 expires;

	if (!in_task(current))
		return; /* one that goes on by itself, or the kernel's */
	if (!is_recorded(current)) {
		bpf_map_delete_elem(&armed_timers, &key);
		return;
	}
	armed.function = function_of(timer);
	armed.tid = current->pid;
	armed.pid = current->tgid;
	armed.kind = timer_kind(armed.function);
	bpf_map_update_elem(&armed_timers, &key, &armed, BPF_ANY);
	/* on the clock of its base, which is so much ahead of CLOCK_MONOTONIC */
	expires = BPF_CORE_READ(timer, node.expires) - BPF_CORE_READ(timer, base, offset);
	log_thread(FTrace_EVT_timer_post, armed.tid,
		   timer_word(armed.kind, expires - (__s64)bpf_ktime_get_ns(), 1000));
}

/* Returns the timer at this address, if it is still the one that was armed. */
static __always_inline struct armed_timer *find_armed(struct hrtimer *timer)
{
	__u64 key = (__u64)timer;
	struct armed_timer *armed = bpf_map_lookup_elem(&armed_timers, &key);

	return armed && armed->function == function_of(timer) ? armed : (void *)0;
}

static __always_inline void timer_is_cancelled(struct task_struct *current, struct hrtimer *timer)
{
	struct armed_timer *armed;

	if (!is_recorded(current) || !in_task(current))
		return;
	armed = find_armed(timer);
	if (armed)
		log_thread(FTrace_EVT_timer_delete, current->pid, armed->kind);
}

/* Raised for each timer that leaves the queue, also when it expires: that is in an interrupt. */
SEC("tp_btf/hrtimer_cancel")
int BPF_PROG(timer_on_hrtimer_cancel, struct hrtimer *timer)
{
	if (is_on(FTrace_EVT_timer_delete))
		timer_is_cancelled(bpf_get_current_task_btf(), timer);
	return 0;
}

static __always_inline void timer_expires(struct hrtimer *timer, __s64 now)
{
	struct armed_timer *armed = find_armed(timer);

	if (!armed || !is_open(armed->pid, armed->tid))
		return;
	armed->expires = 1;
	log_thread(FTrace_EVT_timer_wakeup_start, armed->tid,
		   timer_word(armed->kind, now - (__s64)BPF_CORE_READ(timer, node.expires), 1));
}

/* The memory of the timer may be free by now, so only its address is used. */
SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(timer_on_hrtimer_expire_exit, struct hrtimer *timer)
{
	__u64 key = (__u64)timer;
	struct armed_timer *armed;

	if (!is_on(FTrace_EVT_timer_wakeup_end))
		return 0;
	armed = bpf_map_lookup_elem(&armed_timers, &key);
	if (!armed || !armed->expires)
		return 0;
	armed->expires = 0;
	log_thread(FTrace_EVT_timer_wakeup_end, armed->tid, armed->kind);
	return 0;
}
