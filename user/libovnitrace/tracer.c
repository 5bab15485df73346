/* SPDX-License-Identifier: BSD-2-Clause */
#include "user/libovnitrace/tracer.h"

#include "user/libovnitrace/clock.h"

#include <ovnitrace/usdt.h>

/* Who takes events: the probe, the selected chunk. Above these bits a counter goes on whenever
 * tracing into chunks starts, so that a thread that comes late ends no tracing but its own. */
enum { TO_TRACER = 1, TO_CHUNK = 2, TRACING_TURN = 4 };

static _Atomic unsigned destinations;
static _Atomic uint32_t filtered; /* a bit per family */

/* The selected chunk: its number + 1 in the low half, 0 none; in the high half a counter, so that a
 * thread that comes late does not take a chunk selected again for the same one. */
static _Atomic uint64_t selected;
#define SELECTED_TURN (1ull << 32)

static int number_of(uint64_t selection)
{
	return (int)(uint32_t)selection - 1;
}

static uint64_t selection_after(uint64_t selection, int number)
{
	return ((selection & ~(SELECTED_TURN - 1)) + SELECTED_TURN) | (uint32_t)(number + 1);
}

int ovt_tracer_select(int number)
{
	uint64_t before = atomic_load(&selected);
	while (!atomic_compare_exchange_weak(&selected, &before, selection_after(before, number))) {
	}
	return number_of(before);
}

void ovt_tracer_forget(int number)
{
	uint64_t now = atomic_load(&selected);
	if (number_of(now) == number)
		atomic_compare_exchange_strong(&selected, &now, selection_after(now, -1));
}

bool ovt_tracer_selects(const struct ovt_chunk *chunk)
{
	return number_of(atomic_load(&selected)) == ovt_chunk_number(chunk);
}

bool ovt_tracer_uses(const struct ovt_chunk *chunk)
{
	return (atomic_load(&destinations) & TO_CHUNK) && ovt_tracer_selects(chunk) &&
	       (atomic_load(&chunk->normal.head) & AREA_OPEN);
}

static bool successor_is_ready(struct ovt_chunk *chunk)
{
	int next = atomic_load(&chunk->next);
	return next >= 0 && (atomic_load(&ovt_chunks[next].normal.head) & AREA_READY);
}

/* Continues in the linked chunk, together with all threads that want to. Returns false if no linked
 * chunk can be used. `chunk`, of the selection `from`, is pinned. */
static bool jump(struct ovt_chunk *chunk, uint64_t from)
{
	int next = atomic_load(&chunk->next);
	if (next < 0)
		return false;
	struct ovt_area *area = &ovt_chunks[next].normal;
	bool opened = ovt_area_open(area);
	/* Where it is open already, and empty, another thread is about to select it: what is to be
	 * done is the same, and must not wait for that thread. */
	if (!opened && (atomic_load(&area->head) & (AREA_OPEN | AREA_COUNT)) != AREA_OPEN)
		return atomic_load(&selected) != from;
	if (atomic_compare_exchange_strong(&selected, &from, selection_after(from, next)))
		ovt_chunk_end_blackout(chunk);
	else if (opened && number_of(from) != next)
		ovt_area_unopen(area);
	return true;
}

static bool is_next_chunk(const struct ovt_event *event)
{
	return (event->code & FTRACE_CODE_MASK) == FTrace_EVT_next_chunk;
}

/* Returns whether an event itself says that something is missing or over. */
static bool is_about_the_trace(uint16_t code)
{
	code &= FTRACE_CODE_MASK;
	return code == FTrace_EVT_next_chunk || code == FTrace_EVT_trace_stop ||
	       code == FTrace_EVT_blackout_start || code == FTrace_EVT_blackout_end;
}

static void put_emergency(struct ovt_chunk *chunk, const struct ovt_event *event, uint32_t spare)
{
	while (ovt_area_put(&chunk->emergency, event, 0, spare) == OVT_AGAIN) {
	}
}

/* Counts a lost event; the first one starts a blackout. Returns false if another chunk has been
 * selected meanwhile: then the event is to be tried again. */
static bool lose(struct ovt_chunk *chunk, uint64_t from)
{
	static const struct ovt_event start = {FTrace_EVT_blackout_start, 0, 0};
	uint64_t lost = atomic_load(&chunk->lost);
	do {
		if (lost & LOST_OVER)
			return atomic_load(&selected) == from;
	} while (!atomic_compare_exchange_weak(&chunk->lost, &lost, lost + 1));
	if (lost == atomic_load(&chunk->reported))
		put_emergency(chunk, &start, 0);
	return true;
}

/* Ends the tracing that has filled a STOP chunk; `to`: destinations as the event found them. */
static void stop(struct ovt_chunk *chunk, unsigned to)
{
	ovt_chunk_stop(chunk);
	atomic_compare_exchange_strong(&destinations, &to, to & ~(unsigned)TO_CHUNK);
}

/* Handles an event for which the selected, pinned chunk has no room or is closed. Returns true if
 * the event is done, false if it is to be tried again with the new state. */
static bool log_without_room(struct ovt_chunk *chunk, uint64_t from, const struct ovt_event *event,
			     unsigned to, bool closed)
{
	enum { KEPT = 2 }; /* slots of the emergency area that only the library uses */
	if (ovt_chunk_mode(chunk) == FTRACE_CHUNK_FLAG_STOP && !closed) {
		stop(chunk, to);
		return true;
	}
	if (is_next_chunk(event) && !closed && successor_is_ready(chunk)) {
		put_emergency(chunk, event, KEPT);
		jump(chunk, from);
		return true;
	}
	if (jump(chunk, from))
		return false;
	if (!is_about_the_trace(event->code))
		return lose(chunk, from);
	put_emergency(chunk, event, KEPT);
	return true;
}

static enum ovt_put put_normal(struct ovt_chunk *chunk, const struct ovt_event *event, bool *jumps)
{
	/* Who holds a slot is done with it in some ns, or else this thread has interrupted him.
	 * Each try is for the next slot, but there may be one only. */
	enum { TRIES = 1000 };
	unsigned how = ovt_chunk_mode(chunk) == FTRACE_CHUNK_FLAG_CYC ? OVT_CYCLIC : 0;
	*jumps = is_next_chunk(event) && successor_is_ready(chunk);
	enum ovt_put result = OVT_HELD;
	for (int i = 0; i < TRIES && result == OVT_HELD; i++)
		result = ovt_area_put(&chunk->normal, event, how | (*jumps ? OVT_LAST : 0), 0);
	return result;
}

/* Does the same for a pinned chunk that must not be emptied meanwhile. */
static bool log_pinned(struct ovt_chunk *chunk, uint64_t from, const struct ovt_event *event,
		       unsigned to)
{
	bool jumps;
	if (atomic_load(&selected) != from)
		return false;
	enum ovt_put result = put_normal(chunk, event, &jumps);
	if (result == OVT_AGAIN)
		return false;
	if (result == OVT_HELD)
		return lose(chunk, from);
	if (result != OVT_PUT)
		return log_without_room(chunk, from, event, to, result == OVT_CLOSED);
	if (jumps)
		jump(chunk, from);
	else if (ovt_chunk_mode(chunk) == FTRACE_CHUNK_FLAG_STOP && ovt_chunk_is_full(chunk))
		stop(chunk, to);
	return true;
}

/* Tries once to log an event. Returns true if no further try is needed. */
static bool try_to_log(struct ovt_chunk *chunk, uint64_t from, const struct ovt_event *event,
		       unsigned to)
{
	if (!is_next_chunk(event) && ovt_chunk_mode(chunk) != FTRACE_CHUNK_FLAG_STOP) {
		bool jumps;
		enum ovt_put result = put_normal(chunk, event, &jumps);
		if (result == OVT_PUT || result == OVT_AGAIN)
			return result == OVT_PUT;
	}
	unsigned forks = atomic_load_explicit(&ovt_forks, memory_order_relaxed);
	atomic_fetch_add(&chunk->pins, 1);
	bool done = log_pinned(chunk, from, event, to);
	if (forks == atomic_load_explicit(&ovt_forks, memory_order_relaxed))
		atomic_fetch_sub(&chunk->pins, 1);
	return done;
}

static void log_into_chunk(const struct ovt_event *event)
{
	for (;;) {
		unsigned to = atomic_load_explicit(&destinations, memory_order_relaxed);
		uint64_t from = atomic_load_explicit(&selected, memory_order_acquire);
		int number = number_of(from);
		if (!(to & TO_CHUNK) || number < 0 ||
		    try_to_log(&ovt_chunks[number], from, event, to))
			return;
	}
}

static void fire_probe(const struct ovt_event *event)
{
	OVNITRACE_USDT3("ovnitrace", "event", event->code, event->par1, event->par2);
}

void TRACER_LOGEVENT(FTrace_WORD type, FTrace_WORD par1, FTrace_DWORD par2)
{
	const struct ovt_event event = {type, par1, par2};
	unsigned to = atomic_load_explicit(&destinations, memory_order_relaxed);
	uint16_t code = type & FTRACE_CODE_MASK;
	/* The codes of the filters themselves, and next_chunk, are never filtered. */
	bool kept = code >= FTrace_filter_trace_Events ||
		    !(atomic_load_explicit(&filtered, memory_order_relaxed) >>
			      (code & FTrace_family_mask) &
		      1);
	if (!(to & TO_TRACER) || !kept || code == FTrace_EVT_empty)
		return;
	fire_probe(&event);
	if (to & TO_CHUNK)
		log_into_chunk(&event);
}

void FTrace_set_filter(FTrace_BYTE family, int status)
{
	if (family < FTrace_filter_trace_Events || family > FTrace_filter_timer ||
	    (status != 0 && status != 1)) {
		ovt_result(FTRACE_E_FILTER);
		return;
	}
	uint32_t bit = 1u << (family & FTrace_family_mask);
	if (status)
		atomic_fetch_or(&filtered, bit);
	else
		atomic_fetch_and(&filtered, ~bit);
	/* A capture obeys a filter whether or not this process logs. */
	const struct ovt_event event = {family, (uint16_t)status, 0};
	fire_probe(&event);
	log_into_chunk(&event);
	ovt_result(FTRACE_OK);
}

/* Returns whether the next event will find a place. */
static bool can_go_on(struct ovt_chunk *chunk)
{
	unsigned mode = ovt_chunk_mode(chunk);
	bool open = atomic_load(&chunk->normal.head) & AREA_OPEN;
	bool room = mode == FTRACE_CHUNK_FLAG_CYC || !ovt_chunk_is_full(chunk);
	if (open && room)
		return true;
	return (!open || mode == FTRACE_CHUNK_FLAG_JTN) && successor_is_ready(chunk);
}

int FTrace_enable(void)
{
	OVNITRACE_USDT0("ovnitrace", "enable");
	atomic_fetch_or(&destinations, TO_TRACER);
	int number = number_of(atomic_load(&selected));
	if (number < 0)
		return FTRACE_E_NO_CHUNK;
	/* The selected chunk may have been sent, and be free again. */
	if (!ovt_area_open(&ovt_chunks[number].normal) && !can_go_on(&ovt_chunks[number]))
		return FTRACE_E_FULL;
	unsigned to = atomic_load(&destinations);
	while (!(to & TO_CHUNK) &&
	       !atomic_compare_exchange_weak(&destinations, &to,
					     (to + TRACING_TURN) | TO_TRACER | TO_CHUNK)) {
	}
	return FTRACE_OK;
}

int FTrace_disable(void)
{
	OVNITRACE_USDT0("ovnitrace", "disable");
	atomic_fetch_and(&destinations, ~(unsigned)(TO_TRACER | TO_CHUNK));
	return FTRACE_OK;
}

int FTrace_fire(int event, int tid, int bcast)
{
	if (event < FTrace_FIRE_stop || event > FTrace_FIRE_threadid || tid < 0)
		return FTRACE_E_ARGUMENT;
	OVNITRACE_USDT3("ovnitrace", "fire", event, tid, bcast != 0);
	return FTRACE_OK;
}

unsigned int FTrace_clk_per_msec(void)
{
	return OVT_CLK_PER_MSEC;
}
