// SPDX-License-Identifier: BSD-2-Clause
// planted CAUSE MS: spends 20 ms of CPU, and MS for one cause, which `ovnitrace diff` must name. It
// is SCHED_FIFO if it may be, so that the rest of the machine hardly disturbs it.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

constexpr int kMain = 10, kAbove = 20; // priorities

void set_priority(int priority) {
  const sched_param param = {.sched_priority = priority};
  sched_setscheduler(0, SCHED_FIFO, &param); // no matter if it may not
}

timespec after(int ms, clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  time.tv_sec += ms / 1000;
  time.tv_nsec += ms % 1000 * 1'000'000L;
  if (time.tv_nsec >= 1'000'000'000) {
    time.tv_sec++;
    time.tv_nsec -= 1'000'000'000;
  }
  return time;
}

/// Runs for some time of the thread's own.
void burn(int ms) {
  const timespec end = after(ms, CLOCK_THREAD_CPUTIME_ID);
  timespec now{};
  do
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

void doze(int ms) {
  const timespec end = after(ms, CLOCK_MONOTONIC);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) == EINTR) {
  }
}

template <class Run> std::thread start(const std::string &name, Run run) {
  return std::thread([=] {
    pthread_setname_np(pthread_self(), name.c_str());
    run();
  });
}

void pin() {
  cpu_set_t first, allowed;
  CPU_ZERO(&first);
  sched_getaffinity(0, sizeof allowed, &allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &allowed)) {
      CPU_SET(cpu, &first);
      break;
    }
  sched_setaffinity(0, sizeof first, &first);
}

void in_child(const char *name, int ms, void (*spend)(int)) {
  if (const pid_t child = fork(); child == 0) {
    pthread_setname_np(pthread_self(), name);
    spend(ms);
    _exit(0);
  } else {
    waitpid(child, nullptr, 0);
  }
}

/// Waits for a lock that another thread has for this long.
void lock(const char *name, int ms, void (*spend)(int)) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  sem_t taken;
  sem_init(&taken, 0, 0);
  std::thread holder = start(name, [&] {
    pthread_mutex_lock(&mutex);
    sem_post(&taken);
    spend(ms);
    pthread_mutex_unlock(&mutex);
  });
  sem_wait(&taken);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  holder.join();
}

/// Shares a CPU with another that is more urgent.
void preempted(int ms, bool process) {
  pin();
  if (!process) {
    std::atomic<bool> done = false;
    std::atomic<bool> &is_done = done;
    std::thread rival = start("rival", [ms, &is_done] {
      burn(ms);
      is_done = true;
    });
    const sched_param above = {.sched_priority = kAbove};
    pthread_setschedparam(rival.native_handle(), SCHED_FIFO, &above); // takes the CPU at once
    while (!done)
      burn(1);
    return rival.join();
  }
  int ready[2];
  if (pipe(ready))
    abort();
  const pid_t child = fork();
  if (child == 0) {
    pthread_setname_np(pthread_self(), "hog");
    char go = 0;
    set_priority(kAbove);
    if (read(ready[0], &go, 1) == 1)
      burn(ms);
    _exit(0);
  }
  doze(2); // so that it blocks
  if (write(ready[1], "x", 1) != 1)
    abort();
  burn(5);
  waitpid(child, nullptr, 0);
}

/// A thread that takes MS for each of 2 items of a queue with room for one.
void queue(int ms) {
  sem_t room, filled;
  sem_init(&room, 0, 1);
  sem_init(&filled, 0, 0);
  std::thread reader = start("reader", [&] {
    for (int n = 0; n < 2; n++) {
      sem_wait(&filled);
      burn(ms / 2);
      sem_post(&room);
    }
  });
  for (int n = 0; n < 2; n++) {
    sem_wait(&room);
    sem_post(&filled);
  }
  sem_wait(&room);
  reader.join();
}

void chain(int ms) {
  start("chain-1", [=] { start("chain-2", [=] { burn(ms); }).join(); }).join();
}

/// 80 ms of work for MS workers.
void workers(int count) {
  std::vector<std::thread> all;
  for (int n = 0; n < count; n++)
    all.push_back(start("worker-" + std::to_string(n), [=] { burn(80 / count); }));
  for (std::thread &one : all)
    one.join();
}

void timer_file(int ms) {
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  const itimerspec when = {.it_interval = {}, .it_value = {0, ms * 1'000'000L}};
  timerfd_settime(timer, 0, &when, nullptr);
  uint64_t expired = 0;
  if (read(timer, &expired, sizeof expired) != sizeof expired)
    abort();
}

void receive(int ms) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
    abort();
  const timeval limit = {0, ms * 1000};
  setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char byte = 0;
  if (recv(ends[0], &byte, 1, 0) >= 0)
    abort();
}

void select_for(int ms) {
  timeval time = {0, ms * 1000};
  select(0, nullptr, nullptr, nullptr, &time);
}

void wait_for_event(int ms) {
  epoll_event event{};
  epoll_wait(epoll_create1(0), &event, 1, ms);
}

void wait_for_semaphore(int ms) {
  sem_t never;
  sem_init(&never, 0, 0);
  const timespec end = after(ms, CLOCK_REALTIME);
  while (sem_timedwait(&never, &end) && errno == EINTR) {
  }
}

void wait_for_signal(int ms) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  const timespec time = {0, ms * 1'000'000L};
  sigtimedwait(&set, nullptr, &time);
}

constexpr std::pair<const char *, void (*)(int)> kCauses[] = {
    {"running", burn},
    {"worker", [](int ms) { start("worker-7", [=] { burn(ms); }).join(); }},
    {"workers", workers},
    {"lock", [](int ms) { lock("holder", ms, burn); }},
    {"sleeping-lock", [](int ms) { lock("holder", ms, doze); }},
    {"chain", chain},
    {"queue", queue},
    {"rival", [](int ms) { preempted(ms, false); }},
    {"hog", [](int ms) { preempted(ms, true); }},
    {"child", [](int ms) { in_child("child", ms, burn); }},
    {"sleeping-child", [](int ms) { in_child("child", ms, doze); }},
    {"sleep", doze},
    {"poll", [](int ms) { poll(nullptr, 0, ms); }},
    {"select", select_for},
    {"epoll", wait_for_event},
    {"semaphore", wait_for_semaphore},
    {"signal", wait_for_signal},
    {"receive", receive},
    {"timer", timer_file},
};

} // namespace

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  set_priority(kMain);
  burn(10);
  for (const auto &[name, spend] : kCauses)
    if (strcmp(name, argv[1]) == 0) {
      spend(atoi(argv[2]));
      burn(10);
      return 0;
    }
  fprintf(stderr, "planted: no such cause: %s\n", argv[1]);
  return 2;
}
