/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens to the library as a whole: its process forks, it is unloaded. */
#ifndef OVT_LIFE_H
#define OVT_LIFE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* No thread is in the midst of what they guard when the process forks. The sender's comes first,
 * where both are taken. */
extern pthread_mutex_t ovt_lock;	/* chunks (user/lib/chunk.h) */
extern pthread_mutex_t ovt_sender_lock; /* where they are sent to */

/* Another number in a forked child: what was begun under the parent's number, in the parent, is
 * accounted for in the child without being ended. */
extern _Atomic unsigned ovt_forks;

/* For destructors: whether the library is unloaded from a process that goes on, which must get back
 * what was taken from it. At exit all stays, as other threads and destructors may still log. */
bool ovt_unloading(void);

/* To be called, under ovt_lock, before there is anything to give back, and not when the library is
 * loaded: what a program's libraries register before main() is called at exit after destructors. */
void ovt_watch_exit(void);

#endif
