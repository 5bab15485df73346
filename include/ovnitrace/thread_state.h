/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Defines the states of a thread with ovni's values, as in records (FTrace_EXT_snapshot,
 * FTrace_EXT_state) and in PRV type 4.
 */
#ifndef OVNITRACE_THREAD_STATE_H
#define OVNITRACE_THREAD_STATE_H

enum ovni_thread_state {
	OVNI_THREAD_UNKNOWN = 0,
	OVNI_THREAD_RUNNING = 1,
	OVNI_THREAD_PAUSED = 2,
	OVNI_THREAD_DEAD = 3,
	OVNI_THREAD_COOLING = 4, /* lost its CPU, or gave it up, while runnable */
	OVNI_THREAD_WARMING = 5, /* woken, and waits for a CPU */
	OVNI_THREAD_STATES = 6,	 /* how many */
};

#endif
