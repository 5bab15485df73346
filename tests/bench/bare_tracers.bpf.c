/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The least that tracers of every switch and wakeup can do, a record for each, one ring a CPU. No
 * filter, no state, no reason, no waker.
 *
 * - empty_*: nothing. What the kernel itself takes to call them.
 * - ring_*: records of 32 bytes in a BPF ring buffer, one wakeup of the reader per crossing of a
 *   watermark.
 * - mapped_*: records of 16 bytes, stored into memory that the reader has mapped.
 */
#include "ktypes.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include <bpf/bpf_core_read.h>
#include <ovnitrace/capture.h>

#include "kfuncs.h"

#include "bare_record.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u64 wakeup_watermark = 0; /* bytes in a ring */
__u64 lost = 0;

/* ---- empty -------------------------------------------------------------------------------------
 */

SEC("tp_btf/sched_switch")
int BPF_PROG(empty_switch) {
  return 0;
}
SEC("tp_btf/sched_waking")
int BPF_PROG(empty_waking) {
  return 0;
}
SEC("tp_btf/sched_wakeup")
int BPF_PROG(empty_wakeup) {
  return 0;
}

/* ---- BPF ring buffers --------------------------------------------------------------------------
 */

struct ring {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4096); /* set by the loader */
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, 1); /* CPUs, set by the loader */
  __type(key, __u32);
  __array(values, struct ring);
} rings SEC(".maps");

static __always_inline int log_in_ring(__u32 kind, __u32 tid_a, __u32 tid_b, __u32 state,
                                       __u32 prio) {
  __u32 cpu = bpf_get_smp_processor_id();
  void *ring = bpf_map_lookup_elem(&rings, &cpu);
  struct ring_record *r;
  __u64 used;

  if (!ring)
    return 0;
  used = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);
  r = bpf_ringbuf_reserve(ring, sizeof(*r), 0);
  if (!r) {
    __sync_fetch_and_add(&lost, 1);
    return 0;
  }
  *r = (struct ring_record){bpf_ktime_get_ns(), cpu, kind, tid_a, tid_b, state, prio};
  bpf_ringbuf_submit(r, used < wakeup_watermark && used + sizeof(*r) + 8 >= wakeup_watermark
                            ? BPF_RB_FORCE_WAKEUP
                            : BPF_RB_NO_WAKEUP);
  return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(ring_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
             unsigned int prev_state) {
  return log_in_ring(0, prev->pid, next->pid, prev_state, next->prio);
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(ring_wakeup, struct task_struct *p) {
  return log_in_ring(1, p->pid, 0, 0, p->prio);
}

/* ---- mapped memory -----------------------------------------------------------------------------
 */

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1); /* CPUs, set by the loader */
  __type(key, __u32);
  __type(value, struct mapped_area);
} areas SEC(".maps");

static __always_inline int log_mapped(__u64 word) {
  __u32 cpu = bpf_get_smp_processor_id();
  struct mapped_area *area = bpf_map_lookup_elem(&areas, &cpu);
  __u64 head;

  if (!area)
    return 0;
  head = area->head;
  if (head - area->tail >= MAPPED_RECORDS) {
    area->lost++;
    return 0;
  }
  area->records[head & (MAPPED_RECORDS - 1)] = (struct mapped_record){bpf_ktime_get_ns(), word};
  area->head = head + 1;
  return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(mapped_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
             unsigned int prev_state) {
  return log_mapped((__u64)prev->pid | (__u64)next->pid << 22 | (__u64)(prev_state & 0xff) << 44);
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(mapped_wakeup, struct task_struct *p) {
  return log_mapped(1ULL << 60 | (__u64)p->pid);
}
