// SPDX-License-Identifier: BSD-2-Clause
// Shows which mutex or semaphore a thread waits for, and what it does with them.
#include "emulator/models/registry.h"

#include "emulator/models/host_rows.h"

#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

namespace {

enum : uint32_t { kWaits, kEvent, kMutex };

enum : int64_t { kCreates = 1, kLocks, kUnlocks, kPosts, kInherits, kWaitOver, kGivesUp };

/// Adds 1: semaphores of S.Ha.R.K. count from 0, and the low half of an address can be 0.
int64_t number(uint32_t mutex) {
  return int64_t(mutex) + 1;
}

void does(ModelContext &ctx, const Event &event, int64_t what, int64_t mutex) {
  ctx.punctual(kEvent, event.thread, what);
  ctx.punctual(kMutex, event.thread, mutex);
}

template <int64_t what> void does(ModelContext &ctx, const Event &event) {
  does(ctx, event, what, number(event.par2));
}

/// Handles an event that has no parameters in the manual, so the mutex is not known.
template <int64_t what> void does_to_some(ModelContext &ctx, const Event &event) {
  ctx.punctual(kEvent, event.thread, what);
}

void wait(ModelContext &ctx, const Event &event) {
  ctx.set(kWaits, event.thread, number(event.par2));
}

/// Ends a wait: the thread has the mutex, or the wait ended otherwise. The wait is known from its
/// start, while S.Ha.R.K. does not log it in this event.
void lock(ModelContext &ctx, const Event &event) {
  const uint32_t how = added_par2(event) & (FTRACE_FUTEX_GAVE_UP | FTRACE_FUTEX_PLAIN);
  const int64_t waited = ctx.value(kWaits, event.thread);
  const int64_t what = how & FTRACE_FUTEX_GAVE_UP ? kGivesUp
                       : how & FTRACE_FUTEX_PLAIN ? kWaitOver
                                                  : kLocks;
  does(ctx, event, what, how && waited ? waited : number(event.par2 & ~how));
  ctx.set(kWaits, event.thread, 0);
}

void end(ModelContext &ctx, const Event &event) {
  ctx.set(kWaits, event.thread, 0);
}

/// Clears waits: which ones ended while events were lost is not known.
void blackout(ModelContext &ctx, const Event &event) {
  each_thread_of_host(ctx, event, [&](uint32_t thread) { ctx.set(kWaits, thread, 0); });
}

} // namespace

Model mutex_model() {
  return {
      "mutex",
      "which mutex a thread waits for, and what it does with mutexes",
      {
          {.name = "waits for mutex",
           .label = "Mutex that the thread waits for, + 1",
           .none = "No mutex",
           .thread_type = 430,
           .scheduling = true},
          {.name = "mutex event",
           .label = "What the thread does with a mutex",
           .none = "Nothing",
           .thread_type = 431,
           .values = {{kCreates, "Creates"},
                      {kLocks, "Locks"},
                      {kUnlocks, "Unlocks"},
                      {kPosts, "Posts"},
                      {kInherits, "Inherits"},
                      {kWaitOver, "Has waited"},
                      {kGivesUp, "Gives up"}}},
          {.name = "mutex",
           .label = "Mutex with which it does that, + 1",
           .none = "No mutex",
           .thread_type = 432},
      },
      {
          {FTrace_EVT_mutex_create, does_to_some<kCreates>, "punctual: creates"},
          {FTrace_EVT_mutex_wait, wait, "waits for parameter 2 + 1"},
          {FTrace_EVT_mutex_lock, lock,
           "waits for no mutex; punctual: locks, has waited, or gives up"},
          {FTrace_EVT_mutex_unlock, does<kUnlocks>, "punctual: unlocks"},
          {FTrace_EVT_mutex_post, does<kPosts>, "punctual: posts"},
          {FTrace_EVT_mutex_inherit, does_to_some<kInherits>, "punctual: inherits"},
          {FTrace_EVT_task_end, end, "waits for 0"},
          {FTrace_EVT_blackout_start, blackout, "no thread is known to wait", false},
          {FTrace_EVT_blackout_end, blackout, "no thread is known to wait", false},
          {FTrace_filter_mutex, if_filtered<blackout>,
           "with parameter 1 = 1 no thread is known to wait", false},
      },
  };
}

} // namespace ovnitrace
