/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the bare tracers (bare_tracers.bpf.c) hand to their readers. */
#ifndef OVNITRACE_BARE_RECORD_H
#define OVNITRACE_BARE_RECORD_H

#ifndef __bpf__
#include <linux/types.h>
#endif

struct ring_record {
  __u64 time; /* ns */
  __u32 cpu, kind, tid_a, tid_b, state, prio;
};

struct mapped_record {
  __u64 time; /* ns */
  __u64 word;
};

#define MAPPED_RECORDS (1u << 19) /* 8 MB: as much as a ring */

/* One CPU's. The CPU moves `head`, the reader `tail`; both only grow. */
struct mapped_area {
  __u64 head, lost, pad1[6];
  __u64 tail, pad2[7];
  struct mapped_record records[MAPPED_RECORDS];
};

#endif
