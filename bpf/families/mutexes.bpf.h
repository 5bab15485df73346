/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Logs family 6: futexes, by which traced threads wait for mutexes and semaphores. A mutex that is
 * free is locked and unlocked without the kernel, and is not seen. A call is logged when it starts,
 * so that a cause comes before its effect. For a wait, its end is logged, too.
 */

/* include/uapi/linux/futex.h */
enum {
	FUTEX_WAIT = 0,
	FUTEX_WAKE = 1,
	FUTEX_REQUEUE = 3,
	FUTEX_CMP_REQUEUE = 4,
	FUTEX_WAKE_OP = 5,
	FUTEX_LOCK_PI = 6,
	FUTEX_UNLOCK_PI = 7,
	FUTEX_TRYLOCK_PI = 8,
	FUTEX_WAIT_BITSET = 9,
	FUTEX_WAKE_BITSET = 10,
	FUTEX_WAIT_REQUEUE_PI = 11,
	FUTEX_CMP_REQUEUE_PI = 12,
	FUTEX_LOCK_PI2 = 13,
	FUTEX_CMD_MASK = ~(128 | 256), /* private, realtime clock */
};

enum futex_action {
	FUTEX_ACTION_NONE = 0,
	FUTEX_ACTION_WAIT,
	FUTEX_ACTION_LOCK,
	FUTEX_ACTION_TRYLOCK,
	FUTEX_ACTION_UNLOCK,
	FUTEX_ACTION_POST,
};

static __always_inline enum futex_action futex_action(__u32 operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
		return FUTEX_ACTION_WAIT;
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return FUTEX_ACTION_LOCK;
	case FUTEX_TRYLOCK_PI:
		return FUTEX_ACTION_TRYLOCK;
	case FUTEX_UNLOCK_PI:
		return FUTEX_ACTION_UNLOCK;
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_WAKE_OP:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_CMP_REQUEUE_PI:
		return FUTEX_ACTION_POST;
	}
	return FUTEX_ACTION_NONE;
}

static __always_inline void futex_begins(__u32 tid, enum futex_action action, __u32 futex)
{
	if (action == FUTEX_ACTION_WAIT || action == FUTEX_ACTION_LOCK)
		log_thread(FTrace_EVT_mutex_wait, tid, futex);
	else if (action == FUTEX_ACTION_UNLOCK)
		log_thread(FTrace_EVT_mutex_unlock, tid, futex);
	else if (action == FUTEX_ACTION_POST)
		log_thread(FTrace_EVT_mutex_post, tid, futex);
}

static __always_inline void futex_ends(__u32 tid, enum futex_action action, __u32 futex,
				       long result)
{
	__u32 flags = result < 0 ? FTRACE_FUTEX_GAVE_UP : 0;

	if (action == FUTEX_ACTION_WAIT)
		log_thread(FTrace_EVT_mutex_lock, tid, futex | flags | FTRACE_FUTEX_PLAIN);
	else if (action == FUTEX_ACTION_LOCK || (action == FUTEX_ACTION_TRYLOCK && !flags))
		log_thread(FTrace_EVT_mutex_lock, tid, futex | flags);
}
