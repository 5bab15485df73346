/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defines the event record of FTrace: 16 bytes, little-endian (manual, chapter "Tracer output").
 * Chunks and files consist of such records only.
 */
#ifndef OVNITRACE_FTRACE_RECORD_H
#define OVNITRACE_FTRACE_RECORD_H

#include <stdint.h>

struct ftrace_record {
	uint16_t code;	   /* enum ftrace_code; bit 15 marks a fast ipoint */
	uint16_t par1;	   /* parameter 1, mostly a context number */
	uint32_t tsc_high; /* the high half of the time comes first, */
	uint32_t tsc_low;  /* so that one 64-bit load would be wrong */
	uint32_t par2;	   /* parameter 2 */
};

static inline uint64_t ftrace_record_tsc(const struct ftrace_record *r)
{
	return (uint64_t)r->tsc_high << 32 | r->tsc_low;
}

static inline void ftrace_record_set(struct ftrace_record *r, uint16_t code, uint16_t par1,
				     uint64_t tsc, uint32_t par2)
{
	r->code = code;
	r->par1 = par1;
	r->tsc_high = (uint32_t)(tsc >> 32);
	r->tsc_low = (uint32_t)tsc;
	r->par2 = par2;
}

#endif
