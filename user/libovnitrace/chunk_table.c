/* SPDX-License-Identifier: BSD-2-Clause */
/* FTrace_get_chunk_table: a table for each thread that asks, so that no other one writes in it. It
 * is not thread-local memory, which would take its size from the stack of every thread. */
#include "user/libovnitrace/chunk.h"

#include <stdlib.h>

enum { RECORD = sizeof(struct ftrace_record) };

struct table {
	FTrace_Chunk_Ptr pointers[FTRACE_MAX_CHUNK];
	struct FTrace_Chunk statuses[FTRACE_MAX_CHUNK];
	struct table *next;
};

/* All under ovt_lock. */
static struct table *tables;
static pthread_key_t own; /* the thread's table; valid once there is_own */
static bool is_own;

/* Drops the table when its thread ends. */
static void drop(void *table)
{
	pthread_mutex_lock(&ovt_lock);
	struct table **link = &tables;
	while (*link && *link != table)
		link = &(*link)->next;
	if (*link)
		*link = (*link)->next;
	pthread_mutex_unlock(&ovt_lock);
	free(table);
}

/* Returns the calling thread's table; null if there is no memory for it. */
static struct table *own_table(void)
{
	ovt_watch_exit();
	if (!is_own && pthread_key_create(&own, drop) != 0)
		return NULL;
	is_own = true;
	struct table *table = pthread_getspecific(own);
	if (table)
		return table;
	table = malloc(sizeof *table);
	if (!table)
		return NULL;
	if (pthread_setspecific(own, table) != 0) {
		free(table);
		return NULL;
	}
	table->next = tables;
	tables = table;
	return table;
}

static void describe(struct ovt_chunk *chunk, struct FTrace_Chunk *status)
{
	uint64_t lost = atomic_load(&chunk->lost) & ~LOST_OVER;
	*status = (struct FTrace_Chunk){
		.id = FTRACE_CHUNK_ID,
		.number = (FTrace_DWORD)ovt_chunk_number(chunk),
		.flags = ovt_chunk_flags(chunk),
		.size = chunk->compressed ? (FTrace_DWORD)chunk->compressed_size
					  : chunk->normal.slots * RECORD,
		.emergency_size = chunk->emergency.slots * RECORD,
		.events = ovt_area_count(&chunk->normal),
		.emergency_events = ovt_area_count(&chunk->emergency),
		.lost = lost > UINT32_MAX ? UINT32_MAX : (FTrace_DWORD)lost,
		.next = atomic_load(&chunk->next),
	};
}

FTrace_Chunk_Ptr *FTrace_get_chunk_table(void)
{
	pthread_mutex_lock(&ovt_lock);
	struct table *table = own_table();
	for (int i = 0; table && i < FTRACE_MAX_CHUNK; i++) {
		table->pointers[i] = ovt_chunks[i].exists ? &table->statuses[i] : NULL;
		if (table->pointers[i])
			describe(&ovt_chunks[i], table->pointers[i]);
	}
	pthread_mutex_unlock(&ovt_lock);
	ovt_result(table ? FTRACE_OK : FTRACE_E_NOMEM);
	return table ? table->pointers : NULL;
}

__attribute__((destructor)) static void unload(void)
{
	if (!is_own || !ovt_unloading())
		return;
	pthread_key_delete(own); /* no thread that ends later calls drop() */
	for (struct table *next, *table = tables; table; table = next) {
		next = table->next;
		free(table);
	}
}
