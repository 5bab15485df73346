/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Provides an area of a chunk: an array of records into which any thread and any signal handler may
 * log at any time, without a lock, while one controlling thread at a time opens and closes it.
 *
 * One word, the head, decides whether a record may be logged, and where. A thread changes it with
 * one compare-and-swap, which fails if the thread was suspended and the head has changed. A thread
 * reads the clock between the load and the swap of the head. The records of all threads are
 * therefore in the order of their times.
 */
#ifndef OVT_AREA_H
#define OVT_AREA_H

#include <ovnitrace/ftrace_record.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The head. At a million events a second its count lasts half a year. */
#define AREA_COUNT	 ((1ull << 44) - 1) /* records reserved since it was emptied */
#define AREA_OPEN	 (1ull << 44)	    /* takes records */
#define AREA_READY	 (1ull << 45)	    /* empty, and may be opened */
#define AREA_MARKED_FULL (1ull << 46)	    /* takes no more, though there may be room */
#define AREA_GENERATION	 (1ull << 47)	    /* counts on from here whenever it is emptied */

struct ovt_area {
	_Alignas(64) _Atomic uint64_t head;
	_Alignas(64) _Atomic uint64_t written; /* of the count, how many are done */
	struct ftrace_record *records;	       /* null while there is no memory */
	atomic_flag *in_use; /* a flag per slot, where it may be cyclic; or null */
	_Atomic uint32_t slots;
};

enum ovt_put {
	OVT_PUT,    /* done */
	OVT_ROOM,   /* nothing done: no room */
	OVT_CLOSED, /* nothing done: not open */
	OVT_AGAIN,  /* nothing done: another thread was faster */
	OVT_HELD,   /* nothing done: a thread that was suspended while it wrote holds the slot */
};

/* What is to be logged; its time is read when it is put. */
struct ovt_event {
	uint16_t code, par1;
	uint32_t par2;
};

enum ovt_how {
	OVT_CYCLIC = 1, /* there is always room: over the oldest */
	OVT_LAST = 2,	/* closes the area and marks it full at once */
};

/* Logs an event where more than `spare` slots are left. `how`: ovt_how, or-ed. */
enum ovt_put ovt_area_put(struct ovt_area *area, const struct ovt_event *event, unsigned how,
			  uint32_t spare);

/* Ready to open: true for the one thread that opened it. */
bool ovt_area_open(struct ovt_area *area);

/* Undoes ovt_area_open, if nothing was logged and nobody closed it since. */
void ovt_area_unopen(struct ovt_area *area);

/* Closes it to all logging and opening. Returns which of AREA_OPEN and AREA_READY it was. */
uint64_t ovt_area_close(struct ovt_area *area);

/* Waits until all that was reserved is written; it must be closed. False if that lasts so long that
 * a thread must have been stopped in the middle. */
bool ovt_area_settle(struct ovt_area *area);

/* Gives up, in a forked child, the slots that other threads of its parent were writing. They stay
 * empty, or in a cyclic area as they are. Returns how many they are. */
uint64_t ovt_area_forked(struct ovt_area *area, bool cyclic);

/* Empties it, and makes it ready or open or neither by `state`; it must be closed and settled. */
void ovt_area_reset(struct ovt_area *area, uint64_t state);

/* Returns how many records the area holds. It must be settled. */
uint32_t ovt_area_count(const struct ovt_area *area);

#endif
