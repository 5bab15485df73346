/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs the chains of --control where their alarms hit. Loaded only with --control.
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
#include "region.bpf.h"

#define SIGSTOP	     19
#define CLONE_VM     0x100
#define ANY_UID	     0xffffffff
#define PIDTYPE_PID  0
#define PIDTYPE_TGID 1
#define PIDTYPE_PGID 2
#define PIDTYPE_SID  3

char LICENSE[] SEC("license") = "GPL";

#include "control/machine.bpf.h"
#include "control/threads.bpf.h"
#include "control/alarms.bpf.h"
