/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the chunks of this process, in a table that is never freed: a thread that still has the
 * number of a deleted chunk finds a closed chunk, not foreign memory.
 *
 * Logging threads touch the areas, `lost`, `next`, `pins` and `settings`, without a lock. All else,
 * and every change of a chunk's life, is done under ovt_lock by one controlling thread at a time.
 */
#ifndef OVT_CHUNK_H
#define OVT_CHUNK_H

#include "user/libovnitrace/area.h"
#include "user/libovnitrace/life.h"

#include <ovnitrace/ftrace.h>

#define LOST_OVER (1ull << 63) /* the blackout has ended: an event must look again where to go */

/* What a chunk was when it was taken from all logging. */
struct ovt_claim {
	uint64_t normal, emergency;
};

struct ovt_chunk {
	struct ovt_area normal;
	struct ovt_area emergency;
	_Atomic uint64_t lost;	   /* events that found no room; LOST_OVER */
	_Atomic uint64_t reported; /* how many of these the blackouts that have ended report */
	_Atomic bool stopped;	   /* STOP: trace_stop is logged */
	_Atomic uint32_t pins;	   /* threads that are deciding what to do since it is full */
	_Atomic int next;	   /* the chunk to go on in, or -1 */
	_Atomic uint8_t settings;  /* mode, NODEL, BUSY, COMPR; FREE and FULL are the areas' */

	bool exists;
	struct ovt_claim claim; /* while BUSY */
	uint64_t forked; /* when the process was forked that has it since; 0: never, or settled */
	struct ftrace_record *memory; /* both areas and the flags; null when compressed */
	size_t memory_size;
	void *compressed; /* malloc'd; null when not */
	size_t compressed_size;
};

extern struct ovt_chunk ovt_chunks[FTRACE_MAX_CHUNK];

/* Returns the chunk of that number, or null. */
struct ovt_chunk *ovt_chunk_find(int number);
int ovt_chunk_number(const struct ovt_chunk *chunk);

static inline unsigned ovt_chunk_mode(struct ovt_chunk *chunk)
{
	return atomic_load_explicit(&chunk->settings, memory_order_relaxed) &
	       FTRACE_CHUNK_MODE_MASK;
}

/* Takes the memory of both areas, which must be free of it. FTRACE_E_NOMEM. */
int ovt_chunk_allocate(struct ovt_chunk *chunk);
void ovt_chunk_free_memory(struct ovt_chunk *chunk);
/* Replaces the memory of a claimed chunk by its compressed form, which is malloc'd. */
void ovt_chunk_set_compressed(struct ovt_chunk *chunk, void *compressed, size_t size);

/* Closes it to all logging and waits for threads that are logging: then what it holds stays as it
 * is. False, with nothing changed, if one of them does not finish in about a second. */
bool ovt_chunk_claim(struct ovt_chunk *chunk, struct ovt_claim *claim);
/* Gives it back as it was. */
void ovt_chunk_unclaim(struct ovt_chunk *chunk, const struct ovt_claim *claim);

/* Ends the loss of events, if there was any, with a blackout_end. */
void ovt_chunk_end_blackout(struct ovt_chunk *chunk);

/* Logs trace_stop into a full STOP chunk, once until the chunk is emptied, no matter how many
 * threads call it. */
void ovt_chunk_stop(struct ovt_chunk *chunk);

/* Returns whether all slots of the normal area are taken. */
static inline bool ovt_chunk_is_full(struct ovt_chunk *chunk)
{
	return (atomic_load(&chunk->normal.head) & AREA_COUNT) >= chunk->normal.slots;
}

/* Flags as they are now. */
FTrace_flags ovt_chunk_flags(struct ovt_chunk *chunk);
/* Returns whether a chunk may be given these flags by a program: FTRACE_E_FLAGS. */
int ovt_flags_check(FTrace_flags flags, bool compressed);
/* Sets the flags of a claimed chunk. With FREE, the chunk is emptied; if that fails
 * (FTRACE_E_NOMEM), nothing has changed. With FULL, it takes no events. With neither, it takes
 * events if it did when it was claimed, or if it is `selected` and only its flag made it FULL. */
int ovt_chunk_set_flags(struct ovt_chunk *chunk, FTrace_flags flags, const struct ovt_claim *claim,
			bool selected);

/* Keeps `result` for FTrace_last_error, and returns it. */
int ovt_result(int result);

#endif
