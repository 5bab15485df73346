// SPDX-License-Identifier: BSD-2-Clause
// sched_mix [SECONDS, 1]: threads that sleep, spin, share a CPU, yield, wake each other over
// futexes and pipes, migrate between two CPUs and fork. In the end each thread prints what the
// kernel accounted to it, to be compared with the trace:
//   thread tid= pid= role= exec= delay= slices= vol= invol= before= after=
// (ns and counts, see schedstat.h). The main thread, which lived before its execve, prints a line
// of role main-start as well.
#include "tests/programs/schedstat.h"

#include <atomic>
#include <csignal>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace {

uint64_t deadline;
int cpu_a, cpu_b; // the first and the last CPU that we may use; one and the same if there is one

bool time_left() {
  return now_ns() < deadline;
}

void sleep_us(uint64_t us) {
  const timespec t{time_t(us / 1'000'000), long(us % 1'000'000 * 1000)};
  nanosleep(&t, nullptr);
}

void spin_us(uint64_t us) {
  const uint64_t end = now_ns() + us * 1000;
  while (now_ns() < end) {
  }
}

void pin(pid_t tid, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(tid, sizeof set, &set) != 0) {
    perror("sched_mix: sched_setaffinity");
    exit(1);
  }
}

void find_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) {
    perror("sched_mix: sched_getaffinity");
    exit(1);
  }
  cpu_a = cpu_b = -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &set)) {
      cpu_a = cpu_a < 0 ? cpu : cpu_a;
      cpu_b = cpu;
    }
}

void report(const char *role) {
  const Accounting a = read_accounting();
  dprintf(STDOUT_FILENO, // one write, so that lines of several threads do not mix
          "thread tid=%d pid=%d role=%s exec=%lu delay=%lu slices=%lu vol=%lu invol=%lu before=%lu "
          "after=%lu\n",
          own_tid(), getpid(), role, a.exec, a.delay, a.slices, a.voluntary, a.involuntary,
          a.before, a.after);
}

void sleeper() {
  while (time_left()) {
    spin_us(100);
    sleep_us(1000);
  }
}

void spinner() {
  while (time_left()) {
  }
}

void shared_spinner() {
  pin(0, cpu_a);
  spinner();
}

void yielder() {
  pin(0, cpu_b);
  do {
    spin_us(50);
    sched_yield();
  } while (time_left());
}

/// A ball that two threads pass to and fro by raw futex calls: it holds whose turn it is, or
/// kOver.
std::atomic<uint32_t> ball{0};
constexpr uint32_t kOver = 2;

void futex(int operation, uint32_t value) {
  syscall(SYS_futex, &ball, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

void futex_player(uint32_t own) {
  for (;;) {
    uint32_t turn;
    while ((turn = ball.load()) == 1 - own)
      futex(FUTEX_WAIT, turn);
    if (turn != kOver) {
      spin_us(20);
      turn = time_left() ? 1 - own : kOver;
      ball.store(turn);
      futex(FUTEX_WAKE, 1);
    }
    if (turn == kOver)
      return;
  }
}

int there[2], back[2];

/// Passes a byte on; ends when the clock or the other end does.
void pipe_player(int in, int out, bool serves) {
  char byte = 0;
  while (time_left()) {
    if (serves && write(out, &byte, 1) != 1)
      break;
    if (read(in, &byte, 1) != 1)
      break;
    spin_us(10);
    if (!serves && write(out, &byte, 1) != 1)
      break;
  }
  close(out);
}

/// Moves itself from CPU to CPU.
void migrator() {
  for (int i = 0; time_left(); i++) {
    pin(0, i % 2 ? cpu_b : cpu_a);
    spin_us(2000);
    sleep_us(500);
  }
}

/// Is moved while it runs, by the main thread.
std::atomic<pid_t> moved_tid{0};

void moved() {
  moved_tid = own_tid();
  spinner();
}

void forker() {
  for (int i = 0; i == 0 || time_left(); i++) {
    const pid_t pid = fork();
    if (pid == 0) {
      pthread_setname_np(pthread_self(), "child");
      for (int j = 0; j < 5; j++) {
        spin_us(1000);
        sleep_us(2000);
      }
      report("child");
      _exit(0);
    }
    if (pid < 0 || waitpid(pid, nullptr, 0) != pid) {
      perror("sched_mix: fork or waitpid");
      exit(1);
    }
    sleep_us(50'000);
  }
}

struct Role {
  const char *name;
  void (*run)();
};

const Role roles[] = {
    {"sleeper", sleeper},
    {"sleeper", sleeper},
    {"spinner", spinner},
    {"shared-spin", shared_spinner},
    {"shared-spin", shared_spinner},
    {"yielder", yielder},
    {"yielder", yielder},
    {"futex-0", [] { futex_player(0); }},
    {"futex-1", [] { futex_player(1); }},
    {"pipe-0", [] { pipe_player(back[0], there[1], true); }},
    {"pipe-1", [] { pipe_player(there[0], back[1], false); }},
    {"migrator", migrator},
    {"moved", moved},
    {"forker", forker},
};

} // namespace

int main(int argc, char **argv) {
  report("main-start");
  // The last byte may find nobody. (The other end of a pipe ends by itself: forked children, which
  // hold it open too, live for milliseconds.)
  signal(SIGPIPE, SIG_IGN);
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  deadline = now_ns() + uint64_t(seconds * 1e9);
  find_cpus();
  if (pipe(there) != 0 || pipe(back) != 0) {
    perror("sched_mix: pipe");
    return 1;
  }

  std::vector<std::thread> threads;
  for (const Role &role : roles)
    threads.emplace_back([&role] {
      pthread_setname_np(pthread_self(), role.name);
      role.run();
      report(role.name);
    });
  for (int i = 0; time_left(); i++) {
    if (moved_tid != 0)
      pin(moved_tid, i % 2 ? cpu_a : cpu_b);
    sleep_us(10'000);
  }
  for (auto &thread : threads)
    thread.join();
  report("main");
}
