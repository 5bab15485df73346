/* SPDX-License-Identifier: BSD-2-Clause */
/* The primitives that make, change, link and select chunks. */
#include "user/libovnitrace/chunk.h"
#include "user/libovnitrace/tracer.h"

enum { EVENT_SIZE = sizeof(struct ftrace_record) };

static int find_unused(void)
{
	for (int i = 0; i < FTRACE_MAX_CHUNK; i++)
		if (!ovt_chunks[i].exists)
			return i;
	return FTRACE_E_TOO_MANY;
}

static int create(int normal_size, int emergency_size, FTrace_flags flags)
{
	enum { LEAST_EMERGENCY = 3 }; /* blackout_start, blackout_end and one of the program's */
	if (normal_size < EVENT_SIZE || emergency_size < LEAST_EMERGENCY * EVENT_SIZE)
		return FTRACE_E_SIZE;
	int error = ovt_flags_check(flags, false);
	if (error)
		return error;
	int number = find_unused();
	if (number < 0)
		return number;
	struct ovt_chunk *chunk = &ovt_chunks[number];
	atomic_store(&chunk->normal.slots, (uint32_t)(normal_size / EVENT_SIZE));
	atomic_store(&chunk->emergency.slots, (uint32_t)(emergency_size / EVENT_SIZE));
	ovt_watch_exit();
	error = ovt_chunk_allocate(chunk);
	if (error)
		return error;
	atomic_store(&chunk->lost, 0);
	atomic_store(&chunk->reported, 0);
	atomic_store(&chunk->stopped, false);
	chunk->forked = 0;
	atomic_store(&chunk->next, -1);
	ovt_area_reset(&chunk->normal, 0);
	ovt_area_reset(&chunk->emergency, 0);
	ovt_chunk_set_flags(chunk, flags, &(struct ovt_claim){0, AREA_OPEN}, false);
	chunk->exists = true;
	return number;
}

int FTrace_chunk_create(int normal_size, int emergency_size, FTrace_flags flags)
{
	pthread_mutex_lock(&ovt_lock);
	int result = create(normal_size, emergency_size, flags);
	pthread_mutex_unlock(&ovt_lock);
	return ovt_result(result);
}

/* Returns whether a chunk is there and nothing is under way with it. */
static int usable(const struct ovt_chunk *chunk)
{
	if (!chunk)
		return FTRACE_E_UNKNOWN_CHUNK;
	return atomic_load(&chunk->settings) & FTRACE_CHUNK_FLAG_BUSY ? FTRACE_E_BUSY : FTRACE_OK;
}

static int delete (struct ovt_chunk *chunk)
{
	int error = usable(chunk);
	if (error)
		return error;
	if (atomic_load(&chunk->settings) & FTRACE_CHUNK_FLAG_NODEL)
		return FTRACE_E_NODEL;
	struct ovt_claim claim;
	if (ovt_tracer_uses(chunk) || !ovt_chunk_claim(chunk, &claim))
		return FTRACE_E_BUSY;
	int number = ovt_chunk_number(chunk);
	for (int i = 0; i < FTRACE_MAX_CHUNK; i++)
		if (atomic_load(&ovt_chunks[i].next) == number)
			atomic_store(&ovt_chunks[i].next, -1);
	ovt_tracer_forget(number);
	ovt_chunk_free_memory(chunk);
	chunk->exists = false;
	return FTRACE_OK;
}

int FTrace_chunk_delete(int number)
{
	pthread_mutex_lock(&ovt_lock);
	int result = delete (ovt_chunk_find(number));
	pthread_mutex_unlock(&ovt_lock);
	return ovt_result(result);
}

static int set_flags(struct ovt_chunk *chunk, FTrace_flags flags)
{
	int error = usable(chunk);
	if (!error)
		error = ovt_flags_check(flags, chunk->compressed != NULL);
	if (error)
		return error;
	if (ovt_tracer_uses(chunk)) {
		/* While threads log into it only NODEL may change. */
		if ((flags ^ ovt_chunk_flags(chunk)) & ~FTRACE_CHUNK_FLAG_NODEL)
			return FTRACE_E_BUSY;
		atomic_store(&chunk->settings,
			     flags & (FTRACE_CHUNK_MODE_MASK | FTRACE_CHUNK_FLAG_NODEL));
		return FTRACE_OK;
	}
	struct ovt_claim claim;
	if (!ovt_chunk_claim(chunk, &claim))
		return FTRACE_E_BUSY;
	error = ovt_chunk_set_flags(chunk, flags, &claim, ovt_tracer_selects(chunk));
	if (error)
		ovt_chunk_unclaim(chunk, &claim);
	return error;
}

int FTrace_set_chunk_flags(int number, FTrace_flags flags)
{
	pthread_mutex_lock(&ovt_lock);
	int result = set_flags(ovt_chunk_find(number), flags);
	pthread_mutex_unlock(&ovt_lock);
	return ovt_result(result);
}

int FTrace_get_chunk_flags(int number, FTrace_flags *flags)
{
	if (!flags)
		return ovt_result(FTRACE_E_ARGUMENT);
	pthread_mutex_lock(&ovt_lock);
	struct ovt_chunk *chunk = ovt_chunk_find(number);
	if (chunk)
		*flags = ovt_chunk_flags(chunk);
	pthread_mutex_unlock(&ovt_lock);
	return ovt_result(chunk ? FTRACE_OK : FTRACE_E_UNKNOWN_CHUNK);
}

static int select_chunk(struct ovt_chunk *chunk)
{
	int error = usable(chunk);
	if (error)
		return error;
	if (!ovt_area_open(&chunk->normal))
		return FTRACE_E_NOT_FREE;
	int before = ovt_tracer_select(ovt_chunk_number(chunk));
	if (before >= 0 && &ovt_chunks[before] != chunk) {
		atomic_fetch_and(&ovt_chunks[before].normal.head, ~AREA_OPEN);
		ovt_chunk_end_blackout(&ovt_chunks[before]);
	}
	return FTRACE_OK;
}

int FTrace_actual_chunk_select(int number)
{
	pthread_mutex_lock(&ovt_lock);
	int result = select_chunk(ovt_chunk_find(number));
	pthread_mutex_unlock(&ovt_lock);
	return ovt_result(result);
}

static int link_chunks(struct ovt_chunk *from, struct ovt_chunk *to)
{
	int error = from ? usable(to) : FTRACE_E_UNKNOWN_CHUNK;
	if (error)
		return error;
	if (from == to)
		return FTRACE_E_SELF;
	if (!(ovt_chunk_flags(to) & FTRACE_CHUNK_FLAG_FREE))
		return FTRACE_E_NOT_FREE;
	atomic_store(&from->next, ovt_chunk_number(to));
	return FTRACE_OK;
}

int FTrace_chunk_link(int chunk_A, int chunk_B)
{
	pthread_mutex_lock(&ovt_lock);
	int result = link_chunks(ovt_chunk_find(chunk_A), ovt_chunk_find(chunk_B));
	pthread_mutex_unlock(&ovt_lock);
	return ovt_result(result);
}

/* Returns whether a chunk has the flags. CYC has no bit of its own, so the mode must be equal.
 * Other flags may be set in addition. */
static bool has_flags(struct ovt_chunk *chunk, FTrace_flags wanted)
{
	FTrace_flags flags = ovt_chunk_flags(chunk);
	return !((flags ^ wanted) & FTRACE_CHUNK_MODE_MASK) && (flags & wanted) == wanted;
}

int FTrace_get_first_chunk(FTrace_flags flags)
{
	int found = FTRACE_E_NOT_FOUND;
	pthread_mutex_lock(&ovt_lock);
	for (int i = 0; i < FTRACE_MAX_CHUNK && found < 0; i++)
		if (ovt_chunks[i].exists && has_flags(&ovt_chunks[i], flags))
			found = i;
	pthread_mutex_unlock(&ovt_lock);
	return ovt_result(found);
}

__attribute__((destructor)) static void unload(void)
{
	if (!ovt_unloading())
		return;
	/* It may be exit all the same, where the first chunk was made before main(). */
	FTrace_disable();
	struct ovt_claim claim;
	for (int i = 0; i < FTRACE_MAX_CHUNK; i++)
		if (ovt_chunks[i].exists && ovt_chunk_claim(&ovt_chunks[i], &claim))
			ovt_chunk_free_memory(&ovt_chunks[i]);
}
