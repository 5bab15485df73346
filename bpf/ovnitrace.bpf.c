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

char LICENSE[] SEC("license") = "GPL";

#include "scheduler/staging.h"
#include "scheduler/lives.h"
#include "scheduler/transitions.h"
#include "scheduler/snapshot.h"
