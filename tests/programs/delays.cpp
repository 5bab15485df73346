// SPDX-License-Identifier: BSD-2-Clause
// delays KIND COUNT LONG SHORT NAME: makes a thread NAME, the victim, wait COUNT times for LONG us,
// and COUNT times for SHORT us. Both threads are SCHED_FIFO on one CPU. KIND is one of these:
//   latency    the victim is woken while the other thread runs
//   idle       the same, while the victim may use the other CPUs, too
//   blocked    it waits for a semaphore
//   preempted  the other thread preempts it while it spins
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string>
#include <unistd.h>

namespace {

constexpr int kVictim = 10, kMain = 20; // priorities

sem_t asked, answered;
std::atomic<bool> spins{false}, over{false};
pid_t victim_tid;
cpu_set_t one, all; // CPUs

void set_priority(int priority) {
  const sched_param param = {.sched_priority = priority};
  if (sched_setscheduler(0, SCHED_FIFO, &param) != 0)
    _exit(3);
}

long now_us() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000 + time.tv_nsec / 1000;
}

void burn(long us) {
  for (const long end = now_us() + us; now_us() < end;)
    ;
}

void wait(sem_t &semaphore) {
  while (sem_wait(&semaphore) != 0)
    ;
}

void *victim(void *name) {
  set_priority(kVictim);
  victim_tid = gettid();
  pthread_setname_np(pthread_self(), static_cast<char *>(name));
  sem_post(&answered);
  for (;;) {
    wait(asked);
    if (over)
      return nullptr;
    while (spins)
      ;
    sem_post(&answered);
  }
}

void delay(const std::string &kind, long us) {
  if (kind == "blocked")
    usleep(useconds_t(us));
  spins = kind == "preempted";
  sem_post(&asked);
  if (kind == "idle") // a queued thread that may use more CPUs is not moved
    sched_setaffinity(victim_tid, sizeof(all), &all);
  if (kind == "latency" || kind == "idle")
    burn(us);
  if (kind == "preempted") {
    usleep(300); // the victim spins, and this thread preempts it
    burn(us);
    spins = false;
  }
  wait(answered);
  if (kind == "idle")
    sched_setaffinity(victim_tid, sizeof(one), &one);
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 6)
    return 2;
  sched_getaffinity(0, sizeof(all), &all);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof(one), &one);
  sem_init(&asked, 0, 0);
  sem_init(&answered, 0, 0);
  pthread_t thread;
  pthread_create(&thread, nullptr, victim, argv[5]);
  wait(answered);
  set_priority(kMain);
  for (int n = 0; n < std::atoi(argv[2]); n++)
    for (const int us : {3, 4})
      delay(argv[1], std::atol(argv[us]));
  over = true;
  sem_post(&asked);
  pthread_join(thread, nullptr);
}
