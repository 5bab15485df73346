/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Captures every scheduling transition of the traced threads: the programs that are always loaded.
 * Those of the other families are in families.bpf.c.
 */
#include "ktypes.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include <ovnitrace/capture.h>
#include "kfuncs.h"
#include "kernel_diffs.h"
#include "shared_maps.h"
#include "life_ring.bpf.h"
#include "twins.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#include "scheduler/staging.bpf.h"
#include "scheduler/threads.bpf.h"
#include "scheduler/completion.bpf.h"
#include "scheduler/packets.bpf.h"
#include "scheduler/throttled.bpf.h"
#include "scheduler/quota_timers.bpf.h"
#include "scheduler/holders.bpf.h"
#include "scheduler/affinity.bpf.h"
#include "scheduler/stacks.bpf.h"
#include "scheduler/cgroups.bpf.h"
#include "scheduler/thread_cgroups.bpf.h"
#include "scheduler/selection.bpf.h"
#include "scheduler/lives.bpf.h"
#include "scheduler/work_items.bpf.h"
#include "scheduler/cmdlines.bpf.h"
#include "scheduler/switch.bpf.h"
#include "scheduler/wakeup.bpf.h"
#include "scheduler/snapshot.bpf.h"
