// SPDX-License-Identifier: BSD-2-Clause
// Changes priorities in every way that a program can, and says what it did. With "pi": two
// SCHED_FIFO threads at one mutex with priority inheritance.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

pid_t my_tid() {
  return pid_t(syscall(SYS_gettid));
}

std::atomic<pid_t> sleeper_tid{0};
sem_t over;

void *sleeper(void *) {
  sleeper_tid = my_tid();
  while (sem_wait(&over) != 0)
    ;
  return nullptr;
}

void nice_values() {
  pthread_t thread;
  sem_init(&over, 0, 0);
  pthread_create(&thread, nullptr, sleeper, nullptr);
  while (!sleeper_tid)
    usleep(1000);
  setpgid(0, 0);                   // a group is changed below: not that of who runs this
  setpriority(PRIO_PROCESS, 0, 3); // its own
  setpriority(PRIO_PROCESS, 0, 3); // no change
  setpriority(PRIO_PROCESS, id_t(sleeper_tid), 7); // another thread's
  sched_param none = {};
  sched_setscheduler(sleeper_tid, SCHED_BATCH, &none); // only the policy
  setpriority(PRIO_PGRP, 0, 9);                        // both
  usleep(1000);                                        // and gets a CPU anew with it
  printf("main %d other %d\n", my_tid(), sleeper_tid.load());
  sem_post(&over);
  pthread_join(thread, nullptr);
}

constexpr int kLow = 10, kHigh = 20;
pthread_mutex_t mutex;
std::atomic<bool> held{false};
std::atomic<pid_t> high_tid{0}, low_tid{0};

bool become_fifo(int priority) {
  sched_param param = {};
  param.sched_priority = priority;
  return sched_setscheduler(0, SCHED_FIFO, &param) == 0;
}

/// Whether a thread sleeps, by /proc.
bool sleeps(pid_t tid) {
  char path[64], text[256] = {};
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  FILE *file = fopen(path, "r");
  const size_t read = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file)
    fclose(file);
  const char *name_end = read ? strrchr(text, ')') : nullptr;
  return name_end && name_end[2] == 'S';
}

void *low(void *) {
  low_tid = my_tid();
  become_fifo(kLow);
  pthread_mutex_lock(&mutex);
  held = true;
  while (!high_tid || !sleeps(high_tid))
    usleep(500);
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

void *high(void *) {
  while (!held)
    usleep(500);
  become_fifo(kHigh);
  high_tid = my_tid();
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

/// 2 if threads may not be SCHED_FIFO here.
int inheritance() {
  if (!become_fifo(1))
    return 2;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
  pthread_mutex_init(&mutex, &attributes);
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, low, nullptr);
  pthread_create(&threads[1], nullptr, high, nullptr);
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
  printf("low %d high %d\n", low_tid.load(), high_tid.load());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "pi") == 0)
    return inheritance();
  nice_values();
}
