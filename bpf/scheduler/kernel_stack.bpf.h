/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes the kernel's part of a stack. The kernel walks it in some 1000 ns. The memory of the stack
 * is therefore hashed first: where it has the same return addresses in the same places as a stack
 * that was walked, the walk would find the same frames.
 */

/* The place + 1 of the frames in the low 16 bits, the hash above them. It is one word, so that no
 * CPU sees a half of it. */
ARRAY(walked_stacks, __u64, 1); /* WALKED_STACKS, set by the loader */

/* The memory of the kernel's stack that a CPU examines. Interrupts are off. */
struct stack_memory {
	__u64 hashed;	  /* words, from the innermost on */
	__u64 to_syscall; /* whether they end with `behind_syscall` */
	__u64 words[CAPTURE_STACK_DEPTH];
};

ARRAY(stack_memory, struct stack_memory, 1); /* possible CPUs, set by the loader */

#if defined(__TARGET_ARCH_x86)

/* Where the entry of a system call goes on behind the call; 0: not seen yet. Between this frame and
 * the registers, the kernel leaves a gap of random size, with remains of earlier calls. */
static __u64 behind_syscall;

#define KERNEL_STACK_BYTES 16384 /* arch/x86: THREAD_SIZE, without KASAN */

/* Returns a hash of the system call, of the kernel's addresses in the first `words` of
 * stack_memory, and of their places, as far as to `behind_syscall`; 0: it is not there, and must be
 * (`cut`). Not static, so that the verifier looks at the loop once. */
__noinline __u64 hash_memory(__u32 cpu, __u32 words, __u32 cut, __u32 call)
{
	struct stack_memory *memory = bpf_map_lookup_elem(&stack_memory, &cpu);
	__u64 hash = call + 1, end = behind_syscall;

	if (!memory)
		return 0;
	memory->hashed = words;
	memory->to_syscall = 0;
	for (__u64 n = 0; n < CAPTURE_STACK_DEPTH && n < words; n++) {
		__u64 word = memory->words[n];

		/* The kernel's code is in the last 2 GiB. The last 16 MiB are left out: small
		 * negative numbers look like that. */
		if (word + (2ULL << 30) >= (2ULL << 30) - (16ULL << 20))
			continue;
		hash = mix_hash(hash, word ^ n << 40);
		if (word == end) {
			memory->hashed = n + 1;
			memory->to_syscall = 1;
			return hash | 1ULL << 63;
		}
	}
	return cut ? 0 : hash | 1ULL << 63;
}

#define FRAMES_OF_TRACER 4 /* at most: of this program, and of what calls it */

/* Returns whether the frames of a walk, `count` in the scratch of this CPU, are all in the memory
 * that was hashed. Only then does the hash stand for them. Not static, as hash_memory(). */
__noinline int are_in_memory(__u32 cpu, __u32 count)
{
	struct stack_slot *scratch = bpf_map_lookup_elem(&stack_scratch, &cpu);
	struct stack_memory *memory = bpf_map_lookup_elem(&stack_memory, &cpu);
	volatile __u64 *left;	/* in a map, or the verifier examines each value that it can have */
	volatile __u64 *hashed; /* the same */
	__u64 frame;

	if (!scratch || !memory)
		return 0;
	hashed = &memory->hashed;
	left = &scratch->count;
	*left = count;
	if (memory->to_syscall)
		(*left)--; /* the frame of the entry itself is behind the gap */
	for (__u64 n = CAPTURE_STACK_DEPTH; n > 0; n--) {
		frame = *left - 1;
		if (n <= *hashed && frame < CAPTURE_STACK_DEPTH &&
		    memory->words[n - 1] == scratch->addresses[frame])
			*left = frame;
	}
	return *left <= FRAMES_OF_TRACER;
}

/* Returns whether a walk came to the entry of a system call. If so, notes where the entry goes on.
 * `entry`: the outermost address of the stack of a system call, else 0. Not static, as above. */
__noinline int came_to_entry(__u32 cpu, __u32 count, __u64 entry)
{
	struct stack_slot *scratch = bpf_map_lookup_elem(&stack_scratch, &cpu);
	volatile __u64 *frames; /* as above */
	__u64 frame;

	if (!scratch || !entry)
		return 0;
	frames = &scratch->count;
	*frames = count;
	frame = *frames - 1;
	if (frame >= CAPTURE_STACK_DEPTH || scratch->addresses[frame] != entry)
		return 0;
	frame = *frames - 2;
	if (frame < CAPTURE_STACK_DEPTH && behind_syscall != scratch->addresses[frame])
		behind_syscall = scratch->addresses[frame];
	return 1;
}

/* Returns the place of the hash in walked_stacks; null: the memory cannot be hashed. */
static __always_inline __u64 *find_walked(void *ctx, __u32 cpu, struct stack_memory *memory,
					  __u64 *regs, __u32 call, __u64 *hash)
{
	/* In 32 bits, since the verifier refuses a difference of pointers in 64. */
	__u32 bytes = (__u32)(__u64)regs - (__u32)(__u64)ctx, place;
	bool cut = bytes > sizeof(memory->words);

	if (bytes >= KERNEL_STACK_BYTES) /* or on the stack of an interrupt */
		return NULL;
	if (cut)
		bytes = sizeof(memory->words);
	if (bpf_probe_read_kernel(memory->words, bytes, ctx) != 0)
		return NULL;
	*hash = hash_memory(cpu, bytes / sizeof(__u64), cut, call);
	place = *hash & (WALKED_STACKS - 1);
	return *hash ? bpf_map_lookup_elem(&walked_stacks, &place) : NULL;
}

/* Returns the place of the running thread's kernel stack, as keep_stack(). `call`: as
 * blocked_call(). */
static __always_inline __u32 take_kernel_stack(void *ctx, struct task_struct *current, __u32 call)
{
	__u32 cpu = bpf_get_smp_processor_id(), count, found;
	struct stack_slot *scratch = bpf_map_lookup_elem(&stack_scratch, &cpu);
	struct stack_memory *memory = bpf_map_lookup_elem(&stack_memory, &cpu);
	__u64 *regs = (__u64 *)entry_regs(current), *walked;
	__u64 hash = 0, entry = 0, there;

	if (!scratch || !memory)
		return 0;
	walked = find_walked(ctx, cpu, memory, regs, call, &hash);
	if (walked && ((there = *(volatile __u64 *)walked) ^ hash) >> 16 == 0)
		return there & 0xffff;
	count = walk_stack(ctx, scratch, 0);
	if (!count)
		return 0;
	found = keep_stack(cpu, count);
	/* The entry's call has put its address below the registers. */
	if (call >= FTRACE_CALL_NATIVE)
		bpf_probe_read_kernel(&entry, sizeof(entry), regs - 1);
	if ((came_to_entry(cpu, count, entry) || !memory->to_syscall) && found && walked &&
	    are_in_memory(cpu, count))
		*(volatile __u64 *)walked = (hash & ~0xffffULL) | found;
	return found;
}

#else

static __always_inline __u32 take_kernel_stack(void *ctx, struct task_struct *current, __u32 call)
{
	__u32 cpu = bpf_get_smp_processor_id(), count;
	struct stack_slot *scratch = bpf_map_lookup_elem(&stack_scratch, &cpu);

	count = scratch ? walk_stack(ctx, scratch, 0) : 0;
	return count ? keep_stack(cpu, count) : 0;
}

#endif
