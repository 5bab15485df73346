// SPDX-License-Identifier: BSD-2-Clause
/* The example of the tracer's manual, as a C program has it. */
#ifndef MANUAL_EXAMPLE_H
#define MANUAL_EXAMPLE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Runs it with the disk writer. The two functions are its "do something". */
void manual_example(char *trace_dat, void (*first)(void), void (*second)(void));

#ifdef __cplusplus
}
#endif

#endif
