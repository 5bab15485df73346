// SPDX-License-Identifier: BSD-2-Clause
// Logs user events and says what it logged: a line an event, with the clock read just before and
// after it.
//
//   user_events MARK          threads that are pinned, migrate and sleep; each logs events of every
//   number,
//                             ipoints, data pointers and sections, with MARK in parameter 1
//   user_events fork MARK     the same in three child processes, one after the other
//   user_events switch MARK   disables and enables itself in between
//   user_events disable       only disables itself
//   user_events codes         every code that there is, and some that are none
//   user_events filter CODE STATUS …   sets filters, each after working for a while, and logs event
//   2 user_events spin COUNT    a thread logs that many events without a pause, and another is
//   blocked all the time user_events until FILE    logs event 0 with a growing number until there
//   is a FILE, then prints the number
#include <ovnitrace/user_event.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sched.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr int kThreads = 4, kEvents = 400;

uint64_t now(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time;
  clock_gettime(clock, &time);
  return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}

struct Logged {
  unsigned code, par1, par2;
  uint64_t before, after;
  int cpu; ///< -1: changed meanwhile
};

class Log {
public:
  template <typename Event> void add(unsigned code, unsigned par1, unsigned par2, Event event) {
    const int cpu = sched_getcpu();
    const uint64_t before = now();
    event();
    const uint64_t after = now();
    all_.push_back({code, par1, par2, before, after, sched_getcpu() == cpu ? cpu : -1});
  }
  void add(unsigned code, unsigned par1, unsigned par2) {
    add(code, par1, par2, [&] { TRACER_LOGEVENT(uint16_t(code), uint16_t(par1), par2); });
  }
  void print() const {
    std::string text;
    char line[128];
    for (const Logged &event : all_) {
      snprintf(line, sizeof(line),
               "logged tid=%d code=%u par1=%u par2=%u before=%llu after=%llu cpu=%d\n", gettid(),
               event.code, event.par1, event.par2, (unsigned long long)event.before,
               (unsigned long long)event.after, event.cpu);
      text += line;
    }
    fputs(text.c_str(), stdout); // at once: threads print too
  }

private:
  std::vector<Logged> all_;
};

/// One on each CPU and two that wander; all of them sleep now and then.
void stay_or_move(int thread, int step) {
  const int cpus = int(std::thread::hardware_concurrency());
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((thread < 2 ? thread : thread + step) % cpus, &set);
  if (thread >= 2 || step == 0)
    sched_setaffinity(0, sizeof(set), &set);
  if (step % 50 == 49)
    usleep(200);
  if (step % 7 == 3)
    sched_yield();
}

void every_number(Log &log, unsigned mark, unsigned step) {
  const unsigned number = step % 15;
  switch (step % 20) {
  case 15:
    return log.add(FTrace_EVT_ipoint, mark, step);
  case 16:
    return log.add(FTrace_EVT_data_pointer, mark, step);
  case 17: {
    ovnitrace::Section section(step);
    return log.add(FTrace_EVT_user_event_0, mark, step);
  }
  }
  if (number < 13) // the others are sections
    log.add(FTrace_EVT_user_event_0 | number << 4, mark, step);
}

void run_thread(int thread, unsigned mark) {
  Log log;
  for (int step = 0; step < kEvents; step++) {
    stay_or_move(thread, step);
    every_number(log, mark, unsigned(thread * kEvents + step));
  }
  log.print();
}

void run_threads(unsigned mark) {
  std::vector<std::thread> threads;
  for (int n = 0; n < kThreads; n++)
    threads.emplace_back(run_thread, n, mark);
  for (std::thread &thread : threads)
    thread.join();
  fflush(stdout);
}

void run_children(unsigned mark) {
  for (unsigned n = 0; n < 3; n++) {
    const pid_t child = fork();
    if (child == 0) {
      run_threads(mark + n);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
}

void run_switched(unsigned mark) {
  Log log;
  log.add(FTrace_EVT_user_event_1, mark, 1);
  FTrace_disable();
  TRACER_LOGEVENT(FTrace_EVT_user_event_1, uint16_t(mark), 2);
  std::thread([&] { TRACER_LOGEVENT(FTrace_EVT_user_event_1, uint16_t(mark), 3); }).join();
  const pid_t child = fork();
  if (child == 0) { // a process of its own: enabled
    log = Log();
    log.add(FTrace_EVT_user_event_1, mark, 4);
    log.print();
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  FTrace_enable();
  log.add(FTrace_EVT_user_event_1, mark, 5);
  log.print();
}

void run_codes() {
  for (unsigned code = 0; code <= 0xffff; code += code < 0x100 ? 1 : 0x7f)
    TRACER_LOGEVENT(uint16_t(code), 4242, code & FTrace_family_mask);
  TRACER_LOGEVENT(0x8000 | FTrace_EVT_ipoint, 4243, 1);
}

/// Uses the CPU long enough that its timer interrupts it.
void work() {
  const uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + 40'000'000;
  while (now(CLOCK_THREAD_CPUTIME_ID) < end)
    ;
}

void run_filters(int count, char **arguments) {
  for (int n = 0; n + 1 < count; n += 2) {
    work();
    FTrace_set_filter(uint8_t(strtoul(arguments[n], nullptr, 0)), atoi(arguments[n + 1]));
    TRACER_LOGEVENT(FTrace_EVT_user_event_2, 0, uint32_t(n / 2));
  }
  work();
}

bool sleeps(pid_t tid) {
  char line[128] = {};
  FILE *file = fopen(("/proc/self/task/" + std::to_string(tid) + "/stat").c_str(), "r");
  if (!file)
    return false;
  const bool any = fgets(line, sizeof(line), file);
  fclose(file);
  const char *after_name = any ? strrchr(line, ')') : nullptr;
  return after_name && after_name[2] == 'S';
}

void run_spinning(unsigned count) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0)
    exit(1);
  std::atomic<pid_t> blocked_tid = 0;
  std::thread blocked([&] {
    blocked_tid = gettid();
    char byte;
    if (read(pipe_ends[0], &byte, 1) != 1)
      exit(1);
  });
  while (!blocked_tid || !sleeps(blocked_tid))
    usleep(1000);
  std::thread spinning([&] {
    for (unsigned n = 1; n <= count; n++)
      TRACER_LOGEVENT(FTrace_EVT_user_event_0, 777, n);
    printf("spinning %d blocked %d\n", gettid(), blocked_tid.load());
  });
  spinning.join();
  if (write(pipe_ends[1], "", 1) != 1)
    exit(1);
  blocked.join();
}

void run_until(const char *file) {
  unsigned n = 0;
  for (; access(file, F_OK) != 0; usleep(1000))
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, 777, ++n);
  printf("logged %u\n", n);
}

} // namespace

int main(int argc, char **argv) {
  const std::string what = argc > 1 ? argv[1] : "1";
  if (what == "disable")
    FTrace_disable();
  else if (what == "fork" && argc > 2)
    run_children(unsigned(atoi(argv[2])));
  else if (what == "switch" && argc > 2)
    run_switched(unsigned(atoi(argv[2])));
  else if (what == "codes")
    run_codes();
  else if (what == "filter")
    run_filters(argc - 2, argv + 2);
  else if (what == "spin" && argc > 2)
    run_spinning(unsigned(atoi(argv[2])));
  else if (what == "until" && argc > 2)
    run_until(argv[2]);
  else
    run_threads(unsigned(atoi(what.c_str())));
}
