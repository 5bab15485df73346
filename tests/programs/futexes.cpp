// SPDX-License-Identifier: BSD-2-Clause
// Does known things with futexes and says what: addresses in decimal, their low 32 bits.
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr int kHandovers = 10, kTimeouts = 3, kChanged = 4;

alignas(64) uint32_t ball = 0;   // whose turn it is: 0 or 1
alignas(64) uint32_t nobody = 0; // is never posted
pthread_mutex_t mutex;

long futex(uint32_t *word, int operation, uint32_t value, const timespec *timeout = nullptr) {
  return syscall(SYS_futex, word, operation, value, timeout, nullptr, 0);
}

pid_t my_tid() {
  return pid_t(syscall(SYS_gettid));
}

struct Player {
  uint32_t number;
  pid_t tid;
  unsigned waits;   ///< that ended because of a post
  unsigned refused; ///< the value had changed already
  unsigned posts;
};

/// Waits for its turn and passes the ball on, kHandovers times.
void *play(void *argument) {
  Player &player = *static_cast<Player *>(argument);
  player.tid = my_tid();
  for (int n = 0; n < kHandovers; n++) {
    while (__atomic_load_n(&ball, __ATOMIC_ACQUIRE) != player.number)
      (futex(&ball, FUTEX_WAIT_PRIVATE, 1 - player.number) == 0 ? player.waits : player.refused)++;
    __atomic_store_n(&ball, 1 - player.number, __ATOMIC_RELEASE);
    futex(&ball, FUTEX_WAKE_PRIVATE, 1);
    player.posts++;
  }
  return nullptr;
}

void give_up() {
  for (int n = 0; n < kTimeouts; n++) {
    const timespec soon = {0, 1'000'000};
    while (futex(&nobody, FUTEX_WAIT, 0, &soon) != -1 || errno != ETIMEDOUT)
      ;
  }
  for (int n = 0; n < kChanged; n++)
    futex(&nobody, FUTEX_WAIT, 1);
}

std::atomic<bool> held{false};
std::atomic<pid_t> waiter{0};

void *want(void *) {
  waiter = my_tid();
  while (!held)
    usleep(200);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

/// One handover of a PI mutex: the kernel is asked by who waits and by who unlocks.
void pi() {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
  pthread_mutex_init(&mutex, &attributes);
  pthread_t thread;
  pthread_create(&thread, nullptr, want, nullptr);
  pthread_mutex_lock(&mutex);
  held = true;
  const volatile uint32_t *word = reinterpret_cast<const uint32_t *>(&mutex);
  while (!(*word & FUTEX_WAITERS)) // until it waits in the kernel
    usleep(200);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, nullptr);
}

uint32_t low(const void *address) {
  return uint32_t(reinterpret_cast<uintptr_t>(address));
}

} // namespace

int main() {
  Player players[2] = {{0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}};
  pthread_t threads[2];
  for (int n = 0; n < 2; n++)
    pthread_create(&threads[n], nullptr, play, &players[n]);
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
  give_up();
  pi();
  printf("ball %u nobody %u mutex %u\n", low(&ball), low(&nobody), low(&mutex));
  for (const Player &player : players)
    printf("player%u tid %d waits %u refused %u posts %u\n", player.number, player.tid,
           player.waits, player.refused, player.posts);
  printf("main %d timeouts %d changed %d waiter %d\n", my_tid(), kTimeouts, kChanged,
         waiter.load());
}
