/* SPDX-License-Identifier: BSD-2-Clause */
#include "user/lib/life.h"

#include "user/lib/chunk.h"

#include <stdlib.h>

pthread_mutex_t ovt_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t ovt_sender_lock = PTHREAD_MUTEX_INITIALIZER;
_Atomic unsigned ovt_forks;

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
			ovt_chunk_forked(&ovt_chunks[i]);
	after_fork();
}

static bool told_of_exit, exits;

/* Called at exit before all destructors, and when the library is unloaded after its own. */
static void at_exit(void)
{
	exits = true;
}

void ovt_watch_exit(void)
{
	if (!told_of_exit)
		told_of_exit = atexit(at_exit) == 0;
}

bool ovt_unloading(void)
{
	return told_of_exit && !exits;
}

/* The C library forgets the handlers of a shared library when it is unloaded. */
__attribute__((constructor)) static void load(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}
