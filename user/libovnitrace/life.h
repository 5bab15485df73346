/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps the state of the whole library: its locks, and whether its process has forked or ends. */
#ifndef OVT_LIFE_H
#define OVT_LIFE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* fork() waits for both (user/libovnitrace/chunk.c). Where both are taken, the sender's comes
 * first. */
extern pthread_mutex_t ovt_lock;	/* chunks (user/libovnitrace/chunk.h) */
extern pthread_mutex_t ovt_sender_lock; /* where they are sent to */

/* Counts the forks that led to this process. A function that finds another number at its end than
 * at its start runs in a child, which has already settled what the parent had started. */
extern _Atomic unsigned ovt_forks;

/* Returns, for destructors, true if the library is unloaded from a process that continues. The
 * process must then get back what was taken from it. At exit all stays, because other threads and
 * destructors may still log. */
bool ovt_unloading(void);

/* Makes ovt_unloading work. Call it under ovt_lock before taking anything that must be given back,
 * and not when the library is loaded: handlers that libraries register before main() run at exit
 * only after the destructors. */
void ovt_watch_exit(void);

#endif
