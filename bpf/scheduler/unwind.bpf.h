/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks the stack of a program by rules of its files (include/ovnitrace/unwind.h). Where there is
 * no rule yet, the rest of the stack is copied, once or a few times: the loader walks the copy, and
 * puts the rules that it needed into the table.
 */
const volatile bool unwinds = false; /* set by the loader before loading */

__u32 stack_copies_made = 0;

MAPPED_ARRAY(unwind_rules, struct unwind_slot, 1); /* UNWIND_RULES, set by the loader */
MAPPED_ARRAY(unwind_asks, struct unwind_ask, UNWIND_ASKS);
RING(stack_copies, 4096); /* STACK_COPY_RING, set by the loader */

/* Where a CPU makes one. Interrupts are off. */
ARRAY(copy_scratch, struct stack_copy, 1); /* possible CPUs, set by the loader */

/* The walk of a CPU. Interrupts are off, so it is never needed twice at a time. */
struct unwind_walk {
	struct unwind_state state;
	__u64 image;
	__u64 missing; /* the key of the rule that is not there */
	__u32 count;   /* of frames */
};

ARRAY(unwind_walks, struct unwind_walk, 1); /* possible CPUs, set by the loader */

/* Returns whether the program's own stack can be walked by rules: it is one of 64 bits. */
static __always_inline bool can_unwind(struct task_struct *current)
{
#if defined(__TARGET_ARCH_x86)
	const __u64 user_code = 0x33; /* arch/x86: __USER_CS */

	return unwinds && entry_regs(current)->cs == user_code;
#else
	return unwinds && !in_compat_syscall(current);
#endif
}

static __always_inline long read_user(void *unused, __u64 address, __u64 *to)
{
	return bpf_probe_read_user(to, sizeof(*to), (void *)address);
}

static __always_inline __u64 find_rule(__u64 key)
{
	for (__u32 step = 0; step < UNWIND_PROBES; step++) {
		__u32 place = ((key >> 32) + step) & (UNWIND_RULES - 1);
		volatile struct unwind_slot *slot = bpf_map_lookup_elem(&unwind_rules, &place);
		__u64 there, rule;

		if (!slot)
			return 0;
		there = slot->key;
		if (!there)
			return 0;
		if (there == key) {
			rule = slot->rule;
			return slot->key == key ? rule : 0;
		}
	}
	return 0;
}

/* Adds a frame to the walk. Not 0: it was the last. */
static long walk_frame(__u32 n, void *unused)
{
	__u32 cpu = bpf_get_smp_processor_id(), count;
	struct stack_slot *scratch = bpf_map_lookup_elem(&stack_scratch, &cpu);
	struct unwind_walk *walk = bpf_map_lookup_elem(&unwind_walks, &cpu);
	__u64 key, rule, marks, exact = 0;

	if (!scratch || !walk)
		return 1;
	count = walk->count;
	if (count >= CAPTURE_STACK_DEPTH)
		return 1;
	if (walk->state.exact && count)
		exact = STACK_EXACT;
	scratch->addresses[count] = walk->state.pc | exact;
	walk->count = count + 1;
	key = unwind_key(walk->image, unwind_address(&walk->state));
	rule = find_rule(key);
	if (!rule) {
		walk->missing = key;
		return 1;
	}
	marks = unwind_step(rule, &walk->state, read_user, 0);
	if (marks)
		scratch->addresses[count] |= marks;
	return (marks & (STACK_LAST | STACK_CUT)) != 0;
}

/* Returns whether this thread may ask for a rule again: its answer can take a while, and there
 * may be none. Other threads that come to the same place may have come there in another way. */
static __always_inline bool may_ask(__u64 key)
{
	const __u64 most = 64;
	struct unwind_ask *ask;
	__u32 place;

	key = unwind_key(key, (__u32)bpf_get_current_pid_tgid());
	place = key >> 20 & (UNWIND_ASKS - 1);
	ask = bpf_map_lookup_elem(&unwind_asks, &place);
	if (!ask)
		return false;
	if (ask->key != key) {
		ask->key = key;
		ask->count = 0;
	}
	return ask->count++ < most;
}

/* Sends the walk so far and the memory that it needs to go on. Returns its name for the record; 0
 * if there was no room. */
static __always_inline __u32 copy_stack(__u32 cpu, struct unwind_walk *walk,
					struct stack_slot *scratch)
{
	struct stack_copy *copy = bpf_map_lookup_elem(&copy_scratch, &cpu);
	__u32 before, pages = 0, absent = 0;
	__u64 page, waiting, flags;

	if (!copy)
		return 0;
	copy->image = walk->image;
	copy->pid = bpf_get_current_pid_tgid() >> 32;
	copy->id = STACK_COPY_FIRST +
		   __sync_fetch_and_add(&stack_copies_made, 1) % (0xffff - STACK_COPY_FIRST + 1);
	copy->count = walk->count;
	if (unwind_need_bp(&walk->state, read_user, 0)) /* the copy may not have it */
		walk->state.has_bp = UNWIND_BP_GONE;
	copy->state = walk->state;
	bpf_probe_read_kernel(copy->addresses, sizeof(copy->addresses), scratch->addresses);
	page = walk->state.sp & ~(__u64)(STACK_COPY_PAGE - 1);
	before = walk->state.sp & (STACK_COPY_PAGE - 1);
	if (!bpf_probe_read_user(copy->memory + before, STACK_COPY_PAGE - before,
				 (void *)walk->state.sp))
		pages = 1;
	else
		absent = 1;
	/* A large frame can have pages that were never used: those behind them are needed. */
	for (__u32 n = 1; n < STACK_COPY_PAGES; n++) {
		if (bpf_probe_read_user(copy->memory + n * STACK_COPY_PAGE, STACK_COPY_PAGE,
					(void *)(page + n * STACK_COPY_PAGE)))
			absent |= 1u << n;
		else
			pages = n + 1;
	}
	copy->absent = absent;
	copy->pages = pages;
	if (pages > STACK_COPY_PAGES)
		return 0; /* never: for the verifier */
	/* The reader is woken for the first one, so that an answer comes soon. */
	waiting = bpf_ringbuf_query(&stack_copies, BPF_RB_AVAIL_DATA);
	flags = waiting ? BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP;
	if (bpf_ringbuf_output(&stack_copies, copy,
			       sizeof(*copy) - sizeof(copy->memory) + pages * STACK_COPY_PAGE,
			       flags))
		return 0;
	return copy->id;
}

/* Sets where the walk starts: the registers with which the thread entered the kernel. A thread that
 * clone() has just created has those of its creator, but not its stack. In it, clone() returns 0.
 */
static __always_inline void start_walk(struct unwind_state *state, struct task_struct *current)
{
	struct pt_regs *regs = entry_regs(current);
#if defined(__TARGET_ARCH_x86)
	state->pc = regs->ip;
	state->bp = regs->bp;
	state->link = regs->ax ? regs->di : 0;
#elif defined(__TARGET_ARCH_arm64)
	const int clone = 220, clone3 = 435;
	/* In other calls, this register still has their first argument. */
	bool is_new = !regs->regs[0] && (regs->syscallno == clone || regs->syscallno == clone3);

	state->pc = regs->pc;
	state->bp = regs->regs[29];
	state->link = is_new ? 0 : regs->regs[30];
	state->highest = current->mm->task_size - 1;
	state->sp_is_low = 0;
#endif
	state->sp = regs->sp;
	state->has_bp = UNWIND_BP_HERE;
}

/* Takes the stack of the running thread, which is in the kernel. Returns its place + 1, the name of
 * a copy, or 0. Not static, so that the verifier looks at it once. */
__noinline int unwind_user_stack(bool in_call)
{
	struct task_struct *current = bpf_get_current_task_btf();
	__u32 cpu = bpf_get_smp_processor_id(), copy, last;
	struct stack_slot *scratch = bpf_map_lookup_elem(&stack_scratch, &cpu);
	struct unwind_walk *walk = bpf_map_lookup_elem(&unwind_walks, &cpu);

	if (!unwinds) /* the verifier of a kernel without bpf_loop() looks at no more */
		return 0;
	if (!scratch || !walk)
		return 0;
	start_walk(&walk->state, current);
	if (!walk->state.pc)
		return 0;
	walk->state.exact = !in_call;
	walk->image = unwind_image(current->tgid, current->group_leader->start_time,
				   current->self_exec_id);
	walk->missing = 0;
	walk->count = 0;
	bpf_loop(stack_depth, walk_frame, NULL, 0);
	if (walk->missing) {
		copy = may_ask(walk->missing) ? copy_stack(cpu, walk, scratch) : 0;
		if (copy)
			return copy;
		last = walk->count - 1;
		if (last < CAPTURE_STACK_DEPTH)
			scratch->addresses[last] |= STACK_CUT;
	}
	return keep_stack(cpu, walk->count);
}
