// SPDX-License-Identifier: BSD-2-Clause
// Provides a mutex that a real-time thread can share with ordinary threads.
#pragma once

#include <mutex>
#include <pthread.h>

namespace ovnitrace {

/// While a thread waits for it, the thread that holds it runs with the priority of the one that
/// waits. Without that, the reader would wait until the ordinary thread that holds it gets a CPU,
/// which takes seconds on a machine with hundreds of runnable threads.
class InheritingMutex : public std::mutex {
public:
  InheritingMutex() {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(native_handle(), &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
};

} // namespace ovnitrace
