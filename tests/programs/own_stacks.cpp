// SPDX-License-Identifier: BSD-2-Clause
// Blocks in many ways. Each thread has the name of its way to block. Prints the functions on its
// stack that have an object `Here`, from the outermost inward, as "way f_outer;f_inner".
// The argument is how often each blocks.
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

thread_local std::vector<const char *> stack;
thread_local bool printed;
thread_local const char *way;
struct Here {
  Here(const char *function) { stack.push_back(function); }
  ~Here() { stack.pop_back(); }
};
#define HERE const Here here(__func__)
void print() {
  if (printed)
    return;
  printed = true;
  std::string text = way;
  for (size_t n = 0; n < stack.size(); n++)
    text += (n ? ";" : " ") + std::string(stack[n]);
  puts(text.c_str());
}
void nap() {
  print();
  const timespec time = {0, 2'000'000};
  nanosleep(&time, nullptr);
}
inline __attribute__((always_inline)) void f_inlined() {
  HERE;
  nap();
  asm volatile("");
}
void f_plain() {
  HERE;
  f_inlined();
}
void f_recursive(int n) {
  HERE;
  n ? f_recursive(n - 1) : nap();
  asm volatile("");
}
void f_deep() {
  HERE;
  f_recursive(60);
}
void f_lambda() {
  HERE;
  const auto lambda = [] { f_inlined(); };
  lambda();
}
thread_local bool napped;
int f_compare(const void *, const void *) {
  HERE;
  if (!std::exchange(napped, true))
    nap();
  return 0;
}
void f_sort() {
  HERE;
  int values[] = {2, 1};
  napped = false;
  qsort(values, 2, 4, f_compare);
}
struct Cleanup {
  ~Cleanup() { f_cleanup(); }
  void f_cleanup() {
    HERE;
    nap();
    asm volatile("");
  }
};
__attribute__((noinline)) void f_throw(int n) {
  HERE;
  Cleanup cleanup;
  if (n)
    throw n;
}
void f_unwind() {
  HERE;
  try {
    f_throw(1);
  } catch (int) {
  }
}
void f_catch() {
  HERE;
  try {
    throw 1;
  } catch (int) {
    f_inlined();
  }
}
__attribute__((noinline)) void f_use(char *room) {
  HERE;
  asm volatile("" : : "r"(room) : "memory");
  nap();
}
volatile int size = 300;
void f_variable() {
  HERE;
  char room[size];
  f_use(room);
  asm volatile("");
}
void f_large() {
  HERE;
  char room[100000];
  f_use(room);
  asm volatile("");
}
#if defined(__x86_64__)
__attribute__((force_align_arg_pointer))
#endif
__attribute__((noinline)) void
f_aligned() {
  HERE;
  alignas(64) char room[64];
  f_use(room);
  asm volatile("");
}
void f_handler(int) {
  HERE;
  nap();
}
void f_signal() {
  HERE;
  syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1);
  asm volatile("");
}
void f_own_stack() {
  HERE;
  static thread_local std::vector<char> room(1 << 16);
  const stack_t other = {room.data(), 0, room.size()};
  sigaltstack(&other, nullptr);
  syscall(SYS_tgkill, getpid(), gettid(), SIGUSR2);
}
thread_local ucontext_t outside, inside;
void f_coroutine() {
  HERE;
  f_inlined();
}
void f_switch() {
  static thread_local std::vector<char> room(1 << 16);
  getcontext(&inside);
  inside.uc_stack.ss_sp = room.data();
  inside.uc_stack.ss_size = room.size();
  inside.uc_link = &outside;
  makecontext(&inside, f_coroutine, 0);
  swapcontext(&outside, &inside);
}
void f_vfork() {
  HERE;
  print();
  if (vfork() == 0) {
    const timespec time = {0, 2'000'000};
    nanosleep(&time, nullptr);
    _exit(0);
  }
  asm volatile("");
}
void f_spawn() {
  HERE;
  print();
  (void)!system("sleep 0.002");
}
int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 150;
  struct sigaction action = {};
  action.sa_handler = f_handler;
  sigaction(SIGUSR1, &action, nullptr);
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, nullptr);
  setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::pair<const char *, void (*)()> ways[] = {
      {"plain", f_plain},       {"deep", f_deep},           {"lambda", f_lambda},
      {"sort", f_sort},         {"unwind", f_unwind},       {"catch", f_catch},
      {"variable", f_variable}, {"large", f_large},         {"aligned", f_aligned},
      {"signal", f_signal},     {"own_stack", f_own_stack}, {"coroutine", f_switch},
      {"vfork", f_vfork},       {"spawn", f_spawn}};
  std::vector<std::thread> threads;
  for (const auto &[name, run] : ways)
    threads.emplace_back([name = name, run = run, rounds] {
      prctl(PR_SET_NAME, way = name);
      for (int n = 0; n < rounds; n++)
        run();
    });
  for (std::thread &thread : threads)
    thread.join();
}
