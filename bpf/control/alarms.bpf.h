/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lets alarms hit: in probes of the program, whose cookie has a bit for each alarm that may hit
 * there, and on request of the loader.
 */
const volatile __u64 exit_mask = 0;  /* a bit each of those of type exit_func */
const volatile __u64 count_mask = 0; /* a bit each of those of type icount */

static __always_inline __u64 stack_pointer(struct pt_regs *ctx)
{
#if defined(__TARGET_ARCH_x86)
	return ctx->sp;
#else
	return ((struct user_pt_regs *)ctx)->sp;
#endif
}

/* Finishes a program after the state machine has run. If the instructions of a thread are to be
 * counted, the thread stops before its next instruction. */
static __always_inline int after_hit(struct hit *h, bool sleepable)
{
	if (h->visitor.visit && !visit_threads(&h->visitor, sleepable))
		ask_for_visit(&h->visitor);
	if (h->stepping & 2)
		send_message(CONTROL_COUNT, h->visitor.pid, 0, 0);
	if (h->stepping && steps)
		stop_for_tracer();
	return 0;
}

static __always_inline bool find_current(struct hit *h, struct subject *s)
{
	__u64 ids = bpf_get_current_pid_tgid();

	return find_thread(h, s, ids >> 32, (__u32)ids);
}

static __noinline int is_text(__u32 a, const char *text)
{
	if (a >= CONTROL_ALARMS || !text)
		return 0;
	for (__u32 n = 0; n < CONTROL_STRING; n++) {
		if (alarms[a].text[n] != text[n])
			return 0;
		if (!text[n])
			break;
	}
	return 1;
}

/* Returns whether a call may still be under way: its return address is where it was, or cannot be
 * read, or is in a register. */
static __always_inline bool may_be_live(struct control_call *call)
{
#if defined(__TARGET_ARCH_x86)
	__u64 back;

	return !call->back || bpf_probe_read_user(&back, sizeof(back), (void *)call->sp) ||
	       back == call->back;
#else
	return true;
#endif
}

/* Handles the entry of functions whose exits are awaited. A call is inside another one if it is
 * below that on the stack, unless the other call was left by an exception or longjmp. */
static __noinline int note_entries(struct control_thread *thread, __u64 mask, __u64 sp)
{
	__u64 back = 0;

	if (!thread)
		return 0;
#if defined(__TARGET_ARCH_x86)
	bpf_probe_read_user(&back, sizeof(back), (void *)sp);
#endif
	for (__u32 a = 0; a < CONTROL_ALARMS && a < alarm_count; a++) {
		struct control_call *call = &thread->outermost[a];

		if (!(mask & 1ull << a) || (sp < call->sp && may_be_live(call)))
			continue;
		call->sp = sp;
		call->back = back;
	}
	return 0;
}

SEC("uprobe")
int on_alarm(struct pt_regs *ctx)
{
	struct hit h = {};
	struct subject s = {};

	keep_own_stack(ctx);
	if (!find_current(&h, &s))
		return 0;
	h.mask = bpf_get_attach_cookie(ctx);
	if (h.mask & exit_mask)
		note_entries(s.thread, h.mask & exit_mask, stack_pointer(ctx));
	h.mask &= ~exit_mask;
	h.ip = PT_REGS_IP(ctx);
#if defined(__TARGET_ARCH_x86)
	h.ax = ctx->ax;
	h.bx = ctx->bx;
	h.cx = ctx->cx;
#endif
	take_hit(&h, s.process, s.thread);
	return after_hit(&h, false);
}

/* Handles an instruction that may leave a function. It leaves the outermost call if the stack
 * pointer is the same as at the first instruction of that call. Jumps inside the function and inner
 * calls are therefore not taken for exits.
 */
SEC("uprobe")
int on_alarm_leave(struct pt_regs *ctx)
{
	struct hit h = {};
	struct subject s = {};
	__u64 mask = bpf_get_attach_cookie(ctx), sp = stack_pointer(ctx);

	keep_own_stack(ctx);
	if (!find_current(&h, &s))
		return 0;
	s.thread->hits = 0;
	for (__u32 a = 0; a < CONTROL_ALARMS && a < alarm_count; a++) {
		struct control_call *call = &s.thread->outermost[a];

		if (!(mask & 1ull << a) || call->sp != sp)
			continue;
		call->sp = 0;
		s.thread->hits |= 1ull << a;
	}
	h.mask = s.thread->hits;
	take_hit(&h, s.process, s.thread);
	return after_hit(&h, false);
}

/* Handles MPI_Pcontrol. Its string may not be in memory: the BPF program must be sleepable to read
 * it.
 */
SEC("uprobe.s")
int on_pcontrol(struct pt_regs *ctx)
{
	struct hit h = {};
	struct subject s = {};
	__u64 mask = bpf_get_attach_cookie(ctx), at = PT_REGS_PARM2(ctx);
	char *text;

	keep_own_stack(ctx);
	if (!find_current(&h, &s))
		return 0;
	text = s.thread->text; /* too large for the stack */
	__builtin_memset(text, 0, CONTROL_STRING);
	/* It may end just before the end of its page. */
	for (__u32 n = 0; n < CONTROL_STRING - 1; n++)
		if (bpf_copy_from_user(&text[n], 1, (void *)(at + n)) || !text[n])
			break;
	s.thread->hits = 0;
	for (__u32 a = 0; a < CONTROL_ALARMS && a < alarm_count; a++)
		if (alarms[a].type == CONTROL_PCONTROL && mask >> a & 1 && is_text(a, text))
			s.thread->hits |= 1ull << a;
	h.mask = s.thread->hits;
	take_hit(&h, s.process, s.thread);
	return after_hit(&h, true);
}

/* Hits when the dynamic loader has loaded or unloaded a library (_dl_debug_state). */
SEC("uprobe")
int on_library(struct pt_regs *ctx)
{
	struct hit h = {};
	struct subject s = {};

	keep_own_stack(ctx);
	if (holds && find_current(&h, &s))
		hold_current(s.thread, CONTROL_LIBRARY);
	return 0;
}

/* What ask_for_visit() asked for, set by the loader. */
struct control_message loader_visits = {};

SEC("iter/task")
int visit_living(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct visitor v = {};

	v.pid = loader_visits.pid;
	v.only = loader_visits.tid;
	v.tid = loader_visits.alarm;
	v.visit = loader_visits.visit;
	v.what = loader_visits.what;

	if (p && p->pid)
		visit_thread(p, &v);
	return 0;
}

/* Takes a hit from the loader: an instruction that a thread has executed, a time, or a command of
 * the user. */
SEC("syscall")
int hit_alarm(struct control_hit *request)
{
	struct hit h = {};
	struct subject s = {};

	request->fired = 0;
	request->result = CONTROL_NO_THREAD;
	if (!request->pid) {
		__u32 tid = request->tid;
		struct control_thread *thread = bpf_map_lookup_elem(&control_threads, &tid);

		if (thread)
			request->pid = thread->pid;
	}
	if (!find_thread(&h, &s, request->pid, request->tid))
		return 0;
	h.mask = request->alarms;
	take_hit(&h, s.process, s.thread);
	request->fired = h.fired;
	request->counted = h.counted & request->alarms; /* others got no hit */
	if (h.visitor.visit && !visit_threads(&h.visitor, true))
		ask_for_visit(&h.visitor);
	if (h.stepping & 2)
		send_message(CONTROL_COUNT, request->pid, 0, 0);
	request->result = armed_now(s.process, s.thread) & count_mask ? CONTROL_STEPPING : 0;
	if (!request->alarms && s.thread->held) {
		s.thread->held = 0;
		request->result |= CONTROL_HELD;
	}
	return 0;
}
