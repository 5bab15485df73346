/* SPDX-License-Identifier: BSD-2-Clause */
#include "user/libovnitrace/chunk.h"

#include "user/libovnitrace/clock.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

struct ovt_chunk ovt_chunks[FTRACE_MAX_CHUNK];

struct ovt_chunk *ovt_chunk_find(int number)
{
	if (number < 0 || number >= FTRACE_MAX_CHUNK || !ovt_chunks[number].exists)
		return NULL;
	return &ovt_chunks[number];
}

int ovt_chunk_number(const struct ovt_chunk *chunk)
{
	return (int)(chunk - ovt_chunks);
}

int ovt_chunk_allocate(struct ovt_chunk *chunk)
{
	size_t normal = chunk->normal.slots, emergency = chunk->emergency.slots;
	size_t size =
		(normal + emergency) * sizeof(struct ftrace_record) + normal * sizeof(atomic_flag);
	/* Populated, so that logging never waits for a page. */
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		return FTRACE_E_NOMEM;
	chunk->memory = memory;
	chunk->memory_size = size;
	chunk->normal.records = chunk->memory;
	chunk->emergency.records = chunk->memory + normal;
	/* Zeroed memory is a clear flag, as ATOMIC_FLAG_INIT is with GCC and Clang. */
	chunk->normal.in_use = (atomic_flag *)(chunk->memory + normal + emergency);
	return 0;
}

void ovt_chunk_free_memory(struct ovt_chunk *chunk)
{
	if (chunk->memory)
		munmap(chunk->memory, chunk->memory_size);
	chunk->memory = NULL;
	chunk->memory_size = 0;
	chunk->normal.records = chunk->emergency.records = NULL;
	chunk->normal.in_use = NULL;
	free(chunk->compressed);
	chunk->compressed = NULL;
	chunk->compressed_size = 0;
}

void ovt_chunk_set_compressed(struct ovt_chunk *chunk, void *compressed, size_t size)
{
	ovt_chunk_free_memory(chunk);
	chunk->compressed = compressed;
	chunk->compressed_size = size;
}

static bool wait_for_pins(struct ovt_chunk *chunk)
{
	enum { PATIENCE = 1000, PAUSE_NS = 1000000 };
	for (int waited = 0; atomic_load(&chunk->pins); waited++) {
		if (waited == PATIENCE)
			return false;
		nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
	}
	return true;
}

void ovt_chunk_end_blackout(struct ovt_chunk *chunk)
{
	uint64_t lost = atomic_fetch_or(&chunk->lost, LOST_OVER);
	if (lost & LOST_OVER)
		return;
	lost -= atomic_load(&chunk->reported);
	if (!lost)
		return;
	struct ovt_event end = {FTrace_EVT_blackout_end, 0,
				lost > UINT32_MAX ? UINT32_MAX : (uint32_t)lost};
	while (ovt_area_put(&chunk->emergency, &end, 0, 0) == OVT_AGAIN) {
	}
}

void ovt_chunk_stop(struct ovt_chunk *chunk)
{
	static const struct ovt_event stop = {FTrace_EVT_trace_stop, 0, 0};
	if (atomic_exchange(&chunk->stopped, true))
		return;
	while (ovt_area_put(&chunk->emergency, &stop, 0, 0) == OVT_AGAIN) {
	}
}

/* Counts lost events that the chunk's records report already. */
static void count_reported(struct ovt_chunk *chunk, uint64_t lost)
{
	atomic_fetch_add(&chunk->reported, lost);
	atomic_fetch_add(&chunk->lost, lost);
}

static bool has_trace_stop(const struct ovt_area *area)
{
	for (uint32_t i = 0; i < ovt_area_count(area); i++)
		if ((area->records[i].code & FTRACE_CODE_MASK) == FTrace_EVT_trace_stop)
			return true;
	return false;
}

/* Completes, in a forked child, what threads of the parent were doing: the child does not have
 * these threads.
 */
static void settle_after_fork(struct ovt_chunk *chunk)
{
	bool cyclic = ovt_chunk_mode(chunk) == FTRACE_CHUNK_FLAG_CYC;
	uint64_t cut = ovt_area_forked(&chunk->normal, cyclic);
	ovt_area_forked(&chunk->emergency, false);
	atomic_store(&chunk->pins, 0);
	chunk->forked = ovt_now();
	if (atomic_load(&chunk->settings) & FTRACE_CHUNK_FLAG_BUSY) {
		atomic_fetch_and(&chunk->settings, (FTrace_flags)~FTRACE_CHUNK_FLAG_BUSY);
		ovt_chunk_unclaim(chunk, &chunk->claim);
	}
	/* The thread that filled the chunk may not have logged trace_stop before the fork. */
	if (ovt_chunk_mode(chunk) == FTRACE_CHUNK_FLAG_STOP && ovt_chunk_is_full(chunk) &&
	    !chunk->compressed && !has_trace_stop(&chunk->emergency)) {
		atomic_store(&chunk->stopped, false);
		ovt_chunk_stop(chunk);
	}
	/* In a cyclic chunk that goes on, nobody can see later which slots were cut off. */
	if (!cut || !cyclic)
		return;
	const struct ovt_event start = {FTrace_EVT_blackout_start, 0, 0},
			       end = {FTrace_EVT_blackout_end, 0, (uint32_t)cut};
	ovt_area_put(&chunk->emergency, &start, 0, 0);
	ovt_area_put(&chunk->emergency, &end, 0, 0);
	count_reported(chunk, cut);
}

/* Puts a blackout_end of one event in the place of each event that a fork has cut off. The chunk is
 * claimed. */
static void mark_cut_off(struct ovt_chunk *chunk)
{
	bool cyclic = ovt_chunk_mode(chunk) == FTRACE_CHUNK_FLAG_CYC;
	uint64_t time = chunk->forked;
	for (uint32_t i = cyclic || !time ? 0 : ovt_area_count(&chunk->normal); i-- > 0;) {
		struct ftrace_record *record = &chunk->normal.records[i];
		if (record->code == FTrace_EVT_empty) {
			ftrace_record_set(record, FTrace_EVT_blackout_end, 0, time, 1);
			count_reported(chunk, 1);
		}
		time = ftrace_record_tsc(record);
	}
	chunk->forked = 0;
}

bool ovt_chunk_claim(struct ovt_chunk *chunk, struct ovt_claim *claim)
{
	claim->normal = ovt_area_close(&chunk->normal);
	claim->emergency = 0;
	if (ovt_area_settle(&chunk->normal) && wait_for_pins(chunk)) {
		ovt_chunk_end_blackout(chunk);
		claim->emergency = ovt_area_close(&chunk->emergency);
		if (ovt_area_settle(&chunk->emergency)) {
			mark_cut_off(chunk);
			return true;
		}
	}
	ovt_chunk_unclaim(chunk, claim);
	return false;
}

void ovt_chunk_unclaim(struct ovt_chunk *chunk, const struct ovt_claim *claim)
{
	/* An event that is lost from here on starts another blackout. */
	uint64_t lost = atomic_load(&chunk->lost);
	if (lost & LOST_OVER) {
		atomic_store(&chunk->reported, lost & ~LOST_OVER);
		atomic_store(&chunk->lost, lost & ~LOST_OVER);
	}
	atomic_fetch_or(&chunk->emergency.head, claim->emergency);
	atomic_fetch_or(&chunk->normal.head, claim->normal);
}

FTrace_flags ovt_chunk_flags(struct ovt_chunk *chunk)
{
	FTrace_flags flags = atomic_load(&chunk->settings);
	uint64_t head = atomic_load(&chunk->normal.head);
	bool cyclic = (flags & FTRACE_CHUNK_MODE_MASK) == FTRACE_CHUNK_FLAG_CYC;
	if (head & AREA_READY)
		flags |= FTRACE_CHUNK_FLAG_FREE;
	if ((head & AREA_MARKED_FULL) || (!cyclic && ovt_chunk_is_full(chunk)))
		flags |= FTRACE_CHUNK_FLAG_FULL;
	return flags;
}

int ovt_flags_check(FTrace_flags flags, bool compressed)
{
	const FTrace_flags free_and_full = FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_FULL;
	bool wrong = (flags & 0x80) || (flags & FTRACE_CHUNK_FLAG_BUSY) ||
		     (flags & FTRACE_CHUNK_MODE_MASK) == FTRACE_CHUNK_MODE_MASK ||
		     (flags & free_and_full) == free_and_full ||
		     ((flags & FTRACE_CHUNK_FLAG_COMPR) && !compressed);
	return wrong ? FTRACE_E_FLAGS : 0;
}

/* Empties a claimed chunk. */
static int make_free(struct ovt_chunk *chunk)
{
	if (chunk->compressed) {
		int error = ovt_chunk_allocate(chunk);
		if (error)
			return error;
		free(chunk->compressed);
		chunk->compressed = NULL;
		chunk->compressed_size = 0;
	}
	atomic_store(&chunk->lost, 0);
	atomic_store(&chunk->reported, 0);
	atomic_store(&chunk->stopped, false);
	ovt_area_reset(&chunk->emergency, AREA_OPEN);
	ovt_area_reset(&chunk->normal, AREA_READY);
	return 0;
}

int ovt_chunk_set_flags(struct ovt_chunk *chunk, FTrace_flags flags, const struct ovt_claim *claim,
			bool selected)
{
	struct ovt_claim kept = {0, 0};
	if (flags & FTRACE_CHUNK_FLAG_FREE) {
		int error = make_free(chunk);
		if (error)
			return error;
	} else if (flags & FTRACE_CHUNK_FLAG_FULL) {
		atomic_fetch_or(&chunk->normal.head, AREA_MARKED_FULL);
	} else if (!chunk->compressed) {
		uint64_t head = atomic_fetch_and(&chunk->normal.head, ~AREA_MARKED_FULL);
		bool reopens = selected && (head & AREA_MARKED_FULL);
		kept.normal = reopens ? AREA_OPEN : claim->normal & AREA_OPEN;
		kept.emergency = AREA_OPEN;
	}
	FTrace_flags settings = flags & (FTRACE_CHUNK_MODE_MASK | FTRACE_CHUNK_FLAG_NODEL);
	if (chunk->compressed)
		settings |= FTRACE_CHUNK_FLAG_COMPR;
	atomic_store(&chunk->settings, settings);
	ovt_chunk_unclaim(chunk, &kept);
	return FTRACE_OK;
}

/* ---- fork --------------------------------------------------------------------------------------
 */

/* No other thread changes or sends a chunk while the process forks. */
static void before_fork(void)
{
	pthread_mutex_lock(&ovt_sender_lock);
	pthread_mutex_lock(&ovt_lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&ovt_lock);
	pthread_mutex_unlock(&ovt_sender_lock);
}

static void in_child(void)
{
	atomic_fetch_add(&ovt_forks, 1);
	for (int i = 0; i < FTRACE_MAX_CHUNK; i++)
		if (ovt_chunks[i].exists)
			settle_after_fork(&ovt_chunks[i]);
	after_fork();
}

/* The C library drops these handlers when it unloads the library. */
__attribute__((constructor)) static void load(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}
