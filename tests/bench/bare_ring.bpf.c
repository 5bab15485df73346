/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The least that a tracer of every switch and wakeup can do with BPF ring buffers: one ring a CPU,
 * a record of 32 bytes for each, one wakeup of the reader per crossing of a watermark. No filter,
 * no state, no reason, no waker.
 */
#include "ktypes.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

const volatile __u64 wakeup_watermark = 0; /* bytes in a ring */

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

struct bare_record {
  __u64 time;
  __u32 cpu, kind, tid_a, tid_b, state, prio;
};

__u64 lost = 0;

static __always_inline int log_record(__u32 kind, __u32 tid_a, __u32 tid_b, __u32 state,
                                      __u32 prio) {
  __u32 cpu = bpf_get_smp_processor_id();
  void *ring = bpf_map_lookup_elem(&rings, &cpu);
  struct bare_record *r;
  __u64 used;

  if (!ring)
    return 0;
  used = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);
  r = bpf_ringbuf_reserve(ring, sizeof(*r), 0);
  if (!r) {
    __sync_fetch_and_add(&lost, 1);
    return 0;
  }
  *r = (struct bare_record){bpf_ktime_get_ns(), cpu, kind, tid_a, tid_b, state, prio};
  bpf_ringbuf_submit(r, used < wakeup_watermark && used + sizeof(*r) + 8 >= wakeup_watermark
                            ? BPF_RB_FORCE_WAKEUP
                            : BPF_RB_NO_WAKEUP);
  return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
             unsigned int prev_state) {
  return log_record(0, prev->pid, next->pid, prev_state, next->prio);
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *p) {
  return log_record(1, p->pid, 0, 0, p->prio);
}
