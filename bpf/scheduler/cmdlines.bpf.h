/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends the command line of each traced process when it executes a program: many live too short for
 * /proc. Command lines have a ring of their own. If one finds no room, no event is lost.
 */
RING(cmdlines, 4096); /* CAPTURE_CMDLINES_BYTES where they are wanted, set by the loader */

__u64 cmdlines_lost = 0;

/* The arguments are still where execve has put them. */
static __always_inline bool send_cmdline(struct task_struct *p, __u64 start, __u64 bytes,
					 __u32 room)
{
	struct cmdline_record *r;
	__u64 used = bpf_ringbuf_query(&cmdlines, BPF_RB_AVAIL_DATA);
	__u32 taken = bytes;

	r = bpf_ringbuf_reserve(&cmdlines, sizeof(*r) + room, 0);
	if (!r)
		return false;
	r->time = bpf_ktime_get_ns();
	r->pid = p->tgid;
	r->bytes = bytes;
	/* The register that is compared is the one that is passed: the verifier of 6.1 does
	 * not know that the lower half of another one is as small. */
	barrier_var(taken);
	if (taken > room)
		taken = room;
	if (bpf_probe_read_user(r->text, taken, (void *)start)) {
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
		return true;
	}
	bpf_ringbuf_submit(r, used >= CAPTURE_CMDLINES_BYTES / 4 ? BPF_RB_FORCE_WAKEUP
								 : BPF_RB_NO_WAKEUP);
	return true;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec_cmdline, struct task_struct *p)
{
	struct mm_struct *mm = p->mm;
	__u64 start, bytes;
	bool sent;

	if (!is_traced(p->pid) || !mm)
		return 0;
	start = mm->arg_start;
	bytes = mm->arg_end - start;
	if (bytes == 0 || bytes > 1u << 31)
		return 0;
	sent = bytes <= CAPTURE_CMDLINE_SHORT ? send_cmdline(p, start, bytes, CAPTURE_CMDLINE_SHORT)
					      : send_cmdline(p, start, bytes, CAPTURE_CMDLINE_LONG);
	if (!sent)
		__sync_fetch_and_add(&cmdlines_lost, 1);
	return 0;
}
