/* SPDX-License-Identifier: BSD-2-Clause */
#include "user/libovnitrace/life.h"

#include <stdlib.h>

pthread_mutex_t ovt_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t ovt_sender_lock = PTHREAD_MUTEX_INITIALIZER;
_Atomic unsigned ovt_forks;

static bool watches_exit, exits;

/* Runs at exit before all destructors, and after the library's own when it is unloaded. */
static void at_exit(void)
{
	exits = true;
}

void ovt_watch_exit(void)
{
	if (!watches_exit)
		watches_exit = atexit(at_exit) == 0;
}

bool ovt_unloading(void)
{
	return watches_exit && !exits;
}
