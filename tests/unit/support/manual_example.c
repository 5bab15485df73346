/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * "S.Ha.R.K. User Manual, Volume V: The New Tracer", chapter "Example of Tracer usage", word for
 * word, with the line for the disk that it names in place of that for the network. What the kernel
 * of S.Ha.R.K. gives to it is here above it.
 */
#include "tests/unit/support/manual_example.h"

#include <ovnitrace/ftrace.h>

#include <stddef.h>

typedef int SYS_FLAGS __attribute__((unused));
static const struct { unsigned context; } proc_table[10] = {{0}, {17}, {18}, {0}, {65535}};
static const int exec_shadow = 1;
#define clk_per_msec FTrace_clk_per_msec()

void manual_example(char *trace_dat, void (*first)(void), void (*second)(void)) {
  int i;

  /* clang-format off */
/* Declarations */
int a,b,c;
SYS_FLAGS f;

/* Create 3 chunks for storing the tracer events. */
a = FTrace_chunk_create(1000000, 1000000, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);
b = FTrace_chunk_create(1000000, 1000000, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_JTN);
c = FTrace_chunk_create(1000000, 1000000, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);

FTrace_chunk_link(a,b);
FTrace_chunk_link(b,c);

/* Select the first chunk for saving the events. */
FTrace_actual_chunk_select(a);

/* Start the tracer. */
FTrace_enable();

/* Enable filtering for timer related events. */
FTrace_set_filter(FTrace_filter_timer, 1);
TRACER_LOGEVENT(FTrace_EVT_trace_start, proc_table[exec_shadow].context, clk_per_msec);

for (i = 0; i < 10; i++)
if (proc_table[i].context != 0)
TRACER_LOGEVENT(FTrace_EVT_id, (unsigned short int)proc_table[i].context, i);

	first();

/** Enable filtering for timer related events. */
FTrace_set_filter(FTrace_filter_timer, 0);

/** Change the chunk where the events are stored. */
TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
TRACER_LOGEVENT(FTrace_EVT_ipoint, 6000, 0);

	second();

/* Store a TFrace stop event. */
TRACER_LOGEVENT(FTrace_EVT_trace_stop, 0, 0);

/* Stop the tracer. */
FTrace_disable();

FTrace_init_disk_writer(trace_dat, 0, NULL, NULL);

/* Save the chunk. */
FTrace_send_chunk(a, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);
FTrace_send_chunk(b, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_JTN);
  /* clang-format on */
}
