/* SPDX-License-Identifier: BSD-2-Clause */
#include "user/libovnitrace/area.h"

#include "user/libovnitrace/clock.h"
#include "user/libovnitrace/life.h"

#include <ovnitrace/ftrace_codes.h>

#include <time.h>

/* Writes a record, its code last, and no code until then: the copy that a fork makes of a slot is
 * whole or empty. */
static void write_record(struct ftrace_record *slot, const struct ftrace_record *record)
{
	__atomic_store_n(&slot->code, FTrace_EVT_empty, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->par1, record->par1, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->tsc_high, record->tsc_high, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->tsc_low, record->tsc_low, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->par2, record->par2, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->code, record->code, __ATOMIC_RELEASE);
}

/* Writes a record into a slot that a thread suspended one whole turn earlier may still be writing:
 * false then, and the slot stays that thread's. Where the slot already has a later record, it is
 * ours that was overwritten. */
static bool overwrite(struct ovt_area *area, size_t slot, const struct ftrace_record *record)
{
	if (atomic_flag_test_and_set_explicit(&area->in_use[slot], memory_order_acquire))
		return false;
	if (ftrace_record_tsc(&area->records[slot]) <= ftrace_record_tsc(record))
		write_record(&area->records[slot], record);
	atomic_flag_clear_explicit(&area->in_use[slot], memory_order_release);
	return true;
}

enum ovt_put ovt_area_put(struct ovt_area *area, const struct ovt_event *event, unsigned how,
			  uint32_t spare)
{
	unsigned forks = atomic_load_explicit(&ovt_forks, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&area->head, memory_order_acquire);
	if (!(head & AREA_OPEN))
		return OVT_CLOSED;
	uint32_t slots = atomic_load_explicit(&area->slots, memory_order_relaxed);
	uint64_t at = head & AREA_COUNT;
	if (!(how & OVT_CYCLIC) && at + spare >= slots)
		return OVT_ROOM;

	uint64_t now = ovt_now();
	uint64_t next = head + 1;
	if (how & OVT_LAST)
		next = (next & ~AREA_OPEN) | AREA_MARKED_FULL;
	if (!atomic_compare_exchange_strong_explicit(&area->head, &head, next, memory_order_acq_rel,
						     memory_order_relaxed))
		return OVT_AGAIN;

	/* From here until `written` is counted the memory stays: a thread that closes waits. */
	struct ftrace_record record;
	ftrace_record_set(&record, event->code, event->par1, now, event->par2);
	bool done = true;
	if (how & OVT_CYCLIC)
		done = overwrite(area, at < slots ? at : at % slots, &record);
	else
		write_record(&area->records[at], &record);
	/* A signal handler may have interrupted this function and forked. If this process is the
	 * child, the area has been settled already. */
	if (forks == atomic_load_explicit(&ovt_forks, memory_order_relaxed))
		atomic_fetch_add_explicit(&area->written, 1, memory_order_release);
	/* The last one has closed the area, whether or not it found its slot in use. */
	return done || (how & OVT_LAST) ? OVT_PUT : OVT_HELD;
}

bool ovt_area_open(struct ovt_area *area)
{
	uint64_t head = atomic_load(&area->head);
	return (head & AREA_READY) &&
	       atomic_compare_exchange_strong(&area->head, &head, (head & ~AREA_READY) | AREA_OPEN);
}

void ovt_area_unopen(struct ovt_area *area)
{
	uint64_t head = atomic_load(&area->head);
	if ((head & AREA_OPEN) && !(head & AREA_COUNT))
		atomic_compare_exchange_strong(&area->head, &head,
					       (head & ~AREA_OPEN) | AREA_READY);
}

uint64_t ovt_area_close(struct ovt_area *area)
{
	return atomic_fetch_and(&area->head, ~(AREA_OPEN | AREA_READY)) & (AREA_OPEN | AREA_READY);
}

bool ovt_area_settle(struct ovt_area *area)
{
	enum { PATIENCE = 1000, PAUSE_NS = 1000000 }; /* a second or more */
	uint64_t count = atomic_load(&area->head) & AREA_COUNT;
	for (int waited = 0; atomic_load_explicit(&area->written, memory_order_acquire) < count;
	     waited++) {
		if (waited == PATIENCE)
			return false;
		nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
	}
	return true;
}

uint64_t ovt_area_forked(struct ovt_area *area, bool cyclic)
{
	uint64_t count = atomic_load(&area->head) & AREA_COUNT;
	uint64_t written = atomic_load(&area->written);
	if (!area->records)
		return 0;
	/* Memory is not copied at one moment: there may be later records. */
	for (uint64_t at = count; at < area->slots && area->records[at].code; at++)
		area->records[at].code = FTrace_EVT_empty;
	const unsigned char *in_use = (const unsigned char *)area->in_use;
	for (uint64_t slot = 0; cyclic && slot < area->slots; slot++)
		if (in_use[slot]) /* writing copies the page */
			atomic_flag_clear(&area->in_use[slot]);
	atomic_store(&area->written, count);
	return written < count ? count - written : 0;
}

void ovt_area_reset(struct ovt_area *area, uint64_t state)
{
	for (uint32_t i = 0; area->records && i < ovt_area_count(area); i++)
		area->records[i].code = FTrace_EVT_empty;
	uint64_t head = atomic_load(&area->head);
	atomic_store(&area->written, 0);
	atomic_store(&area->head, ((head & ~(AREA_GENERATION - 1)) + AREA_GENERATION) | state);
}

uint32_t ovt_area_count(const struct ovt_area *area)
{
	uint64_t count = atomic_load(&area->head) & AREA_COUNT;
	return count < area->slots ? (uint32_t)count : area->slots;
}
