/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the records of a claimed chunk in the order in which they are saved: memory order, the
 * emergency area last. */
#ifndef OVT_CONTENT_H
#define OVT_CONTENT_H

#include "user/libovnitrace/chunk.h"

struct ovt_content {
	const struct ftrace_record *part[2]; /* normal, emergency */
	uint32_t count[2];
	bool has_clock;	   /* has cycles_per_msec, or trace_start with a rate */
	uint64_t earliest; /* time of the first event */
	void *buffer;	   /* of its own, or null */
};

/* FTRACE_E_NOMEM, FTRACE_E_NOT_COMPRESSED. The chunk must outlive it. */
int ovt_content_open(struct ovt_content *content, const struct ovt_chunk *chunk);
void ovt_content_close(struct ovt_content *content);

static inline bool ovt_content_empty(const struct ovt_content *content)
{
	return content->count[0] + (uint64_t)content->count[1] == 0;
}

/* Returns a record with the rate of the clock, at the time of the first event, for content that has
 * none.
 */
struct ftrace_record ovt_content_clock(const struct ovt_content *content);

/* Returns the compressed form of what the chunk holds, malloc'd, of *size bytes; null for one
 * that is compressed already. FTRACE_E_NOMEM, FTRACE_E_NOT_COMPRESSED. */
int ovt_content_compress(const struct ovt_chunk *chunk, void **compressed, size_t *size);

#endif
