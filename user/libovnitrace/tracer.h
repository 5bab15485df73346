/* SPDX-License-Identifier: BSD-2-Clause */
/* Selects, enables and filters, and logs events. */
#ifndef OVT_TRACER_H
#define OVT_TRACER_H

#include "user/libovnitrace/chunk.h"

/* Makes a chunk the selected one. Under ovt_lock. Returns the one before, or -1. */
int ovt_tracer_select(int number);

/* Unselects this chunk if it is the selected one. Under ovt_lock. */
void ovt_tracer_forget(int number);

bool ovt_tracer_selects(const struct ovt_chunk *chunk);

/* Returns whether events may be logged into this chunk just now. */
bool ovt_tracer_uses(const struct ovt_chunk *chunk);

#endif
