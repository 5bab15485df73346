// SPDX-License-Identifier: BSD-2-Clause
// family_calls WHAT: makes system calls that families and filters record, in an order that a test
// knows. Ends with 2 where they are not allowed.
//
//   futex        each operation on futexes; prints the low 32 bits of their addresses
//   priority     changes of the priority of this thread
//   setuid       the calls that set a real user, each in a child process, which prints its pid
//   32 WHAT      the same by calls of 32-bit programs
//   signals      signals that are ignored, pending already, for a thread, and without room
//   timers       timers that are armed for a time far away and disarmed
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <linux/futex.h>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr uid_t kUser = 1001;

[[noreturn]] void give_up() {
  _exit(2);
}

/// What the calls work on, at an address that a 32-bit program can have.
struct Shared {
  alignas(64) uint32_t word = 0;
  alignas(64) uint32_t other = 0;
  alignas(64) uint32_t pi = 0;
  struct Waiter { // struct futex_waitv
    uint64_t value = 1, address = 0;
    uint32_t flags = 2, reserved = 0; // FUTEX2_SIZE_U32
  };
  alignas(64) Waiter waiters[2];
  sched_param param = {};
  struct Attributes { // struct sched_attr of <linux/sched/types.h>
    uint32_t size = sizeof(Attributes), policy = SCHED_FIFO;
    uint64_t flags = 0;
    int32_t nice = 0;
    uint32_t priority = 7;
    uint64_t runtime = 0, deadline = 0, period = 0;
  } attributes;
};

Shared *make_shared() {
#if defined(__x86_64__)
  const int low = MAP_32BIT;
#else
  const int low = 0;
#endif
  void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | low, -1, 0);
  if (memory == MAP_FAILED)
    give_up();
  return new (memory) Shared;
}

uint32_t low(const void *address) {
  return uint32_t(reinterpret_cast<uintptr_t>(address));
}

long futex(uint32_t *word, int operation, uint32_t value, uint32_t *second = nullptr,
           uint32_t third = 0) {
  return syscall(SYS_futex, word, operation, value, nullptr, second, third);
}

void all_futexes(Shared &all) {
  const long kWaitv = 449, kWake = 454, kWait = 455, kRequeue = 456;
  all.waiters[0].address = uint64_t(&all.word);
  all.waiters[1].address = uint64_t(&all.other);
  futex(&all.word, FUTEX_WAIT, 1); // its value is 0: none of these waits
  futex(&all.word, FUTEX_WAIT_BITSET_PRIVATE, 1, nullptr, FUTEX_BITSET_MATCH_ANY);
  futex(&all.word, FUTEX_WAIT_REQUEUE_PI, 1, &all.pi);
  futex(&all.word, FUTEX_WAKE_PRIVATE, 1);
  futex(&all.word, FUTEX_WAKE_BITSET, 1, nullptr, FUTEX_BITSET_MATCH_ANY);
  futex(&all.word, FUTEX_WAKE_OP, 1, &all.other);
  futex(&all.word, FUTEX_REQUEUE, 1, &all.other);
  futex(&all.word, FUTEX_CMP_REQUEUE, 1, &all.other);
  futex(&all.word, FUTEX_CMP_REQUEUE_PI, 1, &all.pi);
  futex(&all.word, FUTEX_FD, 0);
  futex(&all.pi, FUTEX_TRYLOCK_PI, 0);
  futex(&all.pi, FUTEX_TRYLOCK_PI, 0); // it has the lock
  futex(&all.pi, FUTEX_LOCK_PI, 0);    // the same
  futex(&all.pi, FUTEX_UNLOCK_PI, 0);
  futex(&all.pi, FUTEX_LOCK_PI2, 0);
  futex(&all.pi, FUTEX_UNLOCK_PI_PRIVATE, 0);
  syscall(kWaitv, all.waiters, 1, 0, nullptr, CLOCK_MONOTONIC);
  syscall(kWait, &all.word, 1, ~0u, 2, nullptr, CLOCK_MONOTONIC);
  syscall(kWake, &all.word, ~0u, 1, 2);
  syscall(kRequeue, all.waiters, 0, 1, 1);
}

void print_addresses(const Shared &all) {
  printf("word %u other %u pi %u array %u\n", low(&all.word), low(&all.other), low(&all.pi),
         low(all.waiters));
}

void all_priorities(Shared &all) {
  const auto set = [&](int policy, int priority) {
    all.param.sched_priority = priority;
    return sched_setscheduler(0, policy, &all.param);
  };
  if (set(SCHED_FIFO, 5) != 0)
    give_up();
  all.param.sched_priority = 6;
  sched_setparam(0, &all.param);
  syscall(SYS_sched_setattr, 0, &all.attributes, 0);
  set(SCHED_OTHER, 0);
  setpriority(PRIO_PROCESS, 0, 3);
  printf("main %d\n", getpid());
}

/// Lets a child process call `set`, and then live for a moment.
template <typename Set> void in_child(Set set) {
  const pid_t child = fork();
  if (child == 0) {
    set();
    usleep(1000);
    _exit(getuid() == kUser ? 0 : 1);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0)
    give_up();
  printf("child %d\n", child);
}

void all_users() {
  in_child([] { syscall(SYS_setuid, kUser); });
  in_child([] { syscall(SYS_setreuid, kUser, -1); });
  in_child([] { syscall(SYS_setresuid, kUser, -1, -1); });
}

#if defined(__x86_64__)
long call32(long number, long a = 0, long b = 0, long c = 0) {
  long result = number;
  asm volatile("int $0x80"
               : "+a"(result)
               : "b"(a), "c"(b), "d"(c), "S"(0L), "D"(0L)
               : "memory", "r8", "r9", "r10", "r11");
  return result;
}

void futexes_of_32_bits(Shared &all) {
  const long kFutex = 240, kFutexTime64 = 422;
  call32(kFutex, low(&all.word), FUTEX_WAIT, 1);
  call32(kFutex, low(&all.word), FUTEX_WAKE, 1);
  call32(kFutexTime64, low(&all.other), FUTEX_WAIT, 1);
  call32(kFutexTime64, low(&all.other), FUTEX_WAKE, 1);
}

void priorities_of_32_bits(Shared &all) {
  const long kNice = 34, kSetPriority = 97, kSetParam = 154, kSetScheduler = 156, kSetAttr = 351;
  all.param.sched_priority = 5;
  if (call32(kSetScheduler, 0, SCHED_FIFO, low(&all.param)) != 0)
    give_up();
  all.param.sched_priority = 6;
  call32(kSetParam, 0, low(&all.param));
  call32(kSetAttr, 0, low(&all.attributes), 0);
  all.param.sched_priority = 0;
  call32(kSetScheduler, 0, SCHED_OTHER, low(&all.param));
  call32(kSetPriority, PRIO_PROCESS, 0, 3);
  call32(kNice, 4);
  printf("main %d\n", getpid());
}

void users_of_32_bits() {
  constexpr long kSame16 = 0xffff, kSame = 0xffffffff;
  in_child([] { call32(23, kUser); });
  in_child([] { call32(70, kUser, kSame16); });
  in_child([] { call32(164, kUser, kSame16, kSame16); });
  in_child([] { call32(203, kUser, kSame); });
  in_child([] { call32(208, kUser, kSame, kSame); });
  in_child([] { call32(213, kUser); });
}

int do_as_32_bits(const std::string &what) {
  signal(SIGSEGV, [](int) { give_up(); }); // a kernel that runs no such programs
  Shared *all = make_shared();
  if (what == "futex")
    futexes_of_32_bits(*all), print_addresses(*all);
  if (what == "priority")
    priorities_of_32_bits(*all);
  if (what == "setuid")
    users_of_32_bits();
  return 0;
}
#else
int do_as_32_bits(const std::string &) {
  return 2;
}
#endif

void set_mask(int how, int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  sigprocmask(how, &set, nullptr);
}

void all_signals() {
  const int plain = SIGUSR1, unwanted = SIGUSR2, queued = 34, without_room = 35; // SIGRTMIN, + 1
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  for (const long number : {plain, queued, without_room})
    sigaction(int(number), &action, nullptr);
  signal(unwanted, SIG_IGN);
  kill(getpid(), unwanted);
  set_mask(SIG_BLOCK, plain);
  kill(getpid(), plain);
  kill(getpid(), plain); // pending already
  set_mask(SIG_UNBLOCK, plain);
  syscall(SYS_tgkill, getpid(), getpid(), plain);
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_SIGPENDING, &none);
  kill(getpid(), queued);                     // comes without its information
  sigqueue(getpid(), without_room, sigval{}); // does not come
  printf("main %d\n", getpid());
}

void all_timers() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  const struct {
    clockid_t clock;
    int flags;
    itimerspec time;
  } far[] = {{CLOCK_MONOTONIC, 0, {{0, 0}, {100, 0}}},
             {CLOCK_REALTIME, TFD_TIMER_ABSTIME, {{0, 0}, {now.tv_sec + 100, now.tv_nsec}}},
             {CLOCK_MONOTONIC, 0, {{0, 0}, {1000, 0}}},
             {CLOCK_MONOTONIC, TFD_TIMER_ABSTIME, {{0, 0}, {0, 1}}}}; // long ago
  for (const auto &one : far) {
    const int timer = timerfd_create(one.clock, 0);
    const itimerspec never = {};
    timerfd_settime(timer, one.flags, &one.time, nullptr);
    timerfd_settime(timer, 0, &never, nullptr);
    close(timer);
  }
}

} // namespace

int main(int argc, char **argv) {
  setvbuf(stdout, nullptr, _IONBF, 0);
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "32" && argc > 2)
    return do_as_32_bits(argv[2]);
  Shared *all = make_shared();
  if (what == "futex")
    all_futexes(*all), print_addresses(*all);
  else if (what == "priority")
    all_priorities(*all);
  else if (what == "setuid")
    all_users();
  else if (what == "signals")
    all_signals();
  else if (what == "timers")
    all_timers();
  else
    return 2;
}
