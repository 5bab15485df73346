/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds what no tracepoint says: which block device ended the I/O that a thread waits for, who sent
 * the packet that it waits for, and when a throttled thread may run again. It watches functions of
 * the kernel. Not every kernel has them or allows that; a capture goes on without these programs.
 */
#include "ktypes.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include <ovnitrace/capture.h>
#include "kfuncs.h"
#include "kernel_diffs.h"
#include "shared_maps.h"

char LICENSE[] SEC("license") = "GPL";

#include "scheduler/staging.bpf.h"
#include "scheduler/completion.bpf.h"
#include "scheduler/packets.bpf.h"
#include "scheduler/throttled.bpf.h"

__u32 devices[CAPTURE_DEVICES] = {}; /* by place, read by the loader */

/* Returns the place of a device, which the device keeps. Several CPUs may call it at once. Not
 * static, so that the verifier looks at it once. */
__noinline __u32 place_of(__u32 device)
{
	__u32 hash = device * 0x9e3779b1u >> 16;

	for (__u32 step = 0; step < 8; step++) {
		__u32 place = (hash + step) & (CAPTURE_DEVICES - 1);
		volatile __u32 *slot = &devices[place];
		__u32 there;

		if (!place || place == CAPTURE_OTHER_DEVICE)
			continue;
		there = *slot;
		if (!there && !(there = __sync_val_compare_and_swap(slot, 0, device)))
			return place;
		if (there == device)
			return place;
	}
	return CAPTURE_OTHER_DEVICE;
}

/* Set by the loader before loading. */
const volatile bool sees_end = false; /* of a request, and not only of the interrupt that ends it */

struct request_queue___disk {
	struct gendisk *disk; /* 5.15 */
} __attribute__((preserve_access_index));
struct request___disk {
	struct gendisk *rq_disk; /* until 5.17 */
} __attribute__((preserve_access_index));

static __always_inline __u32 number_of(struct gendisk *disk)
{
	return (__u32)disk->major << FTRACE_DEVICE_MAJOR_SHIFT |
	       ((__u32)disk->first_minor & FTRACE_DEVICE_MINOR_MASK);
}

/* Notes that the CPU now wakes threads that wait for this request. The kernel reports the end of
 * the request only if it counts the I/O of the device (`part`). A thread can end a request, too;
 * then no end of an interrupt marks the end of the request. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_block_rq_complete, struct request *rq)
{
	struct request_queue___disk *queue = (void *)rq->q;
	struct request___disk *old = (void *)rq;
	struct task_struct *current = bpf_get_current_task_btf();
	struct cpu_stage *s = stage_of_this_cpu();
	enum ftrace_wakeup_context context = wakeup_context(current);
	__u32 device;

	if (!s || context == FTRACE_WAKER_UNKNOWN ||
	    (sees_end ? !rq->part : context == FTRACE_WAKER_TASK))
		return 0;
	device = bpf_core_field_exists(queue->disk)    ? number_of(queue->disk)
		 : bpf_core_field_exists(old->rq_disk) ? number_of(old->rq_disk)
						       : 0;
	if (device)
		s->completing = place_of(device) | stretch_of(current, context);
	return 0;
}

/* Notes that a stacked device (dm, md) completes its I/O, while a request of a device below it is
 * being completed. The stacked device wakes threads from here on. */
SEC("tp_btf/block_bio_complete")
int BPF_PROG(on_block_bio_complete, struct request_queue *q, struct bio *bio)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct cpu_stage *s = stage_of_this_cpu();
	__u32 device = number_of(bio->bi_bdev->bd_disk);

	if (s && device && completing_device(current, wakeup_context(current)))
		s->completing = place_of(device) | (s->completing & ~(__u64)COMPLETING_PLACE);
	return 0;
}

static __always_inline int request_ended(void)
{
	struct cpu_stage *s = stage_of_this_cpu();

	if (s && s->completing)
		s->completing = 0;
	return 0;
}

SEC("tp_btf/block_io_done") /* 6.5 */
int on_block_io_done(void *ctx)
{
	return request_ended();
}

/* Without it, the end of the interrupt. */
SEC("tp_btf/irq_handler_exit")
int on_irq_handler_exit(void *ctx)
{
	return request_ended();
}

SEC("tp_btf/softirq_exit")
int on_softirq_exit(void *ctx)
{
	return request_ended();
}

/* ---- packets -----------------------------------------------------------------------------------
 */

/* Who sent the packets that are in the queues of loopback devices. Bits 9 to 18 of a packet's
 * address choose a place. The place has the other bits of the address above the tid, so that one
 * store changes both. Packets that share a place evict each other: their senders are not known. */
#define PACKET_PLACES 1024
volatile __u64 senders[PACKET_PLACES] = {};

/* The verifier allows no shift of a pointer, but it allows the difference of two. */
static __always_inline __u64 address_of(struct sk_buff *skb)
{
	return (__u64)skb - (__u64)senders;
}

static __always_inline volatile __u64 *place_of_packet(__u64 address)
{
	return &senders[address >> 9 & (PACKET_PLACES - 1)];
}

static __always_inline __u64 sent_by(__u64 address, __u32 tid)
{
	return ((address >> 19 << 6) | (address >> 3 & 63)) << 22 | (tid & FTRACE_TID_MASK);
}

/* A packet is put into a queue. All packets of a loopback device are, so nothing is left of an
 * earlier packet at the same address. A soft interrupt that handles a packet may send others, such
 * as the rest of what waited for room. They count as packets of the same sender. */
SEC("tp_btf/netif_rx")
int BPF_PROG(on_netif_rx, struct sk_buff *skb)
{
	struct task_struct *current = bpf_get_current_task_btf();
	enum ftrace_wakeup_context context = wakeup_context(current);
	bool own = context == FTRACE_WAKER_TASK || receives_own_packet(current, context);
	__u64 address = address_of(skb);

	*place_of_packet(address) = sent_by(address, own ? current->pid : 0);
	return 0;
}

/* Notes that the CPU now wakes threads that wait for this packet. */
SEC("tp_btf/netif_receive_skb")
int BPF_PROG(on_netif_receive_skb, struct sk_buff *skb)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct cpu_stage *s = stage_of_this_cpu();
	__u64 address = address_of(skb);

	if (!s)
		return 0;
	s->receiving = 0;
	if (current->pid && *place_of_packet(address) == sent_by(address, current->pid) &&
	    skb->dev->flags & IFF_LOOPBACK)
		s->receiving = stretch_of(current, FTRACE_WAKER_SOFTIRQ);
	return 0;
}

/* Forgets the packet: the queue is empty, or other work is done first. */
SEC("tp_btf/napi_poll")
int on_napi_poll(void *ctx)
{
	struct cpu_stage *s = stage_of_this_cpu();

	if (s && s->receiving)
		s->receiving = 0;
	return 0;
}

/* ---- quotas ---------------------------------------------------------------------------------- */

struct cfs_rq___quota {
	bool throttled : 1;
	struct list_head throttled_csd_list; /* 6.3: another CPU has been told to let it go on */
} __attribute__((preserve_access_index));
struct sched_entity___parent {
	struct sched_entity *parent;
} __attribute__((preserve_access_index));

/* Returns whether the runqueue of a cgroup has no quota, and nobody is about to let it go on. */
static __always_inline bool has_no_quota(struct cfs_rq *cfs_rq)
{
	struct cfs_rq___quota *quota = (void *)cfs_rq;

	if (!BPF_CORE_READ_BITFIELD_PROBED(quota, throttled))
		return false;
	return !bpf_core_field_exists(quota->throttled_csd_list) ||
	       (__u64)BPF_CORE_READ(quota, throttled_csd_list.next) ==
		       (__u64)quota + bpf_core_field_offset(quota->throttled_csd_list);
}

/* Records that a throttled thread may run again, unless a cgroup above it has no quota either. Not
 * static, so that the verifier checks it once. */
__noinline int release(__u32 n)
{
	__u32 zero = 0;
	struct throttled_threads *all = bpf_map_lookup_elem(&throttled, &zero);
	struct cpu_stage *s = stage_of_this_cpu();
	struct throttled_thread *one;
	struct sched_entity *se;
	__u64 task;
	__u32 tid, pid;

	if (!all || !s)
		return 0;
	one = &all->of[n & (CAPTURE_THROTTLED - 1)];
	task = one->task;
	tid = one->tid;
	pid = one->pid;
	if (!task)
		return 0;
	se = (void *)(task + bpf_core_field_offset(struct task_struct, se));
	for (int level = 0; level < 8 && se; level++) {
		if (has_no_quota(BPF_CORE_READ(se, cfs_rq)))
			return 0;
		se = BPF_CORE_READ((struct sched_entity___parent *)se, parent);
	}
	if (__sync_val_compare_and_swap(&one->task, task, 0) != task)
		return 0; /* another CPU has looked at it, or another thread has its place */
	__sync_fetch_and_add(&all->left, -1);
	if (is_open(pid, tid))
		stage_at(s, SCHED_WHEN(bpf_ktime_get_ns(), 0),
			 SCHED_WORD(SCHED_KIND_REFILL, 0, 0, tid, 0) | SCHED_A_TRACED);
	return 0;
}

/* Not static, as THROTTLED_STEP says. */
__noinline int release_from(__u32 first)
{
	__u32 zero = 0;
	struct throttled_threads *all = bpf_map_lookup_elem(&throttled, &zero);

	if (!all)
		return 0;
	for (__u32 n = 0; n < THROTTLED_STEP; n++)
		if (all->of[(first + n) & (CAPTURE_THROTTLED - 1)].task)
			release(first + n);
	return 0;
}

/* Looks at the threads that are throttled. Not static and not inlined, so that the code of other
 * timers fits into a line or two of the cache. */
__noinline int release_all(void)
{
	__u32 zero = 0;
	struct throttled_threads *all = bpf_map_lookup_elem(&throttled, &zero);

	if (!all)
		return 0;
	for (__u32 n = 0; n < CAPTURE_THROTTLED && all->left; n += THROTTLED_STEP)
		release_from(n);
	return 0;
}

/* Records that a SCHED_DEADLINE thread may run again: the timer of its budget has replenished it.
 * Each run queue, too, has such entities. The reader ignores the record if the thread was blocked.
 */
static __noinline int replenished(struct hrtimer *timer)
{
	struct sched_dl_entity *dl =
		(void *)((char *)timer - bpf_core_field_offset(struct sched_dl_entity, dl_timer));
	struct task_struct *p =
		(void *)((char *)dl - bpf_core_field_offset(struct task_struct, dl));
	struct cpu_stage *s = stage_of_this_cpu();
	__u32 tid;

	if (!s || BPF_CORE_READ_BITFIELD_PROBED(dl, dl_throttled) ||
	    (bpf_core_field_exists(dl->dl_server) && BPF_CORE_READ_BITFIELD_PROBED(dl, dl_server)))
		return 0;
	tid = BPF_CORE_READ(p, pid) & FTRACE_TID_MASK;
	if (is_traced(tid) && is_open(BPF_CORE_READ(p, tgid), tid))
		stage_at(s, SCHED_WHEN(bpf_ktime_get_ns(), 0),
			 SCHED_WORD(SCHED_KIND_REFILL, 0, 0, tid, 0) | SCHED_A_TRACED);
	return 0;
}

/* A timer's function has returned. Without PREEMPT_RT the timers of quotas expire in an interrupt,
 * where interrupts are off: the staging area of this CPU is ours.
 *
 * This runs for every timer of the machine, mostly after an idle time, when nothing of ours is in
 * the caches. The first look at a map then takes 50 to 150 ns. The addresses of the functions are
 * therefore constants in the code. */
static __always_inline int timer_returned(struct hrtimer *timer)
{
	__u64 function = (__u64)timer->function;

	if (unlikely(function == DEADLINE_TIMER))
		return replenished(timer);
	if (likely(function != QUOTA_TIMER_PERIOD) && likely(function != QUOTA_TIMER_SLACK))
		return 0;
	return release_all();
}

/* A timer may be on the stack of a thread that it has woken, which may be gone with it. With the
 * cast, the load of its function may fail. */
SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_hrtimer_expire_exit, struct hrtimer *timer)
{
	return timer_returned(kfunc_rdonly_cast(timer, bpf_core_type_id_kernel(struct hrtimer)));
}

/* Without the cast (before 6.2), each load from an argument may fail. */
SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_hrtimer_expire_exit_uncast, struct hrtimer *timer)
{
	return timer_returned(timer);
}
