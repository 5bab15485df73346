// SPDX-License-Identifier: BSD-2-Clause
// A program with phases for --control: functions, markers and an MPI_Pcontrol. Each of them prints
// "name tid ns" when it runs, in ns of CLOCK_MONOTONIC. The arguments name the phases, in order;
// wait_ms sleeps that long.
#include <dlfcn.h>
#include <ovnitrace/user_event.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <barrier>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1'000'000'000 + uint64_t(t.tv_nsec);
}

void log(const char *what) {
  printf("%s %ld %llu\n", what, syscall(SYS_gettid), (unsigned long long)now());
  fflush(stdout);
}

void nap(long ms) {
  timespec t = {ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&t, nullptr);
}

jmp_buf out;

} // namespace

extern "C" {

__attribute__((noipa)) void foo() {
  log("foo");
  nap(1);
}

__attribute__((noipa)) void bar() {
  log("bar");
  nap(1);
}

__attribute__((noipa)) void boo() {
  log("boo");
  nap(1);
}

__attribute__((noipa)) void quick() {}

__attribute__((noipa)) void tick() {
  log("tick");
}

__attribute__((noipa)) void tock() {
  log("tock");
}

/// Calls itself; the outermost call ends last.
__attribute__((noipa)) void recursive(int depth) {
  log("recursive_enter");
  nap(1);
  if (depth > 0)
    recursive(depth - 1);
  log("recursive_leave");
  asm volatile(""); // the call before it shall not take the place of the return
}

__attribute__((noipa)) void outer(bool again);

__attribute__((noipa)) void inner() {
  log("inner");
  outer(false);
}

/// The call sequence outer, inner, outer.
__attribute__((noipa)) void outer(bool again) {
  log("outer");
  if (again)
    inner();
  nap(1);
  log("outer_leave");
  asm volatile("");
}

/// Could return, so that its exit can be probed, but never does.
__attribute__((noipa)) void jumps() {
  static volatile bool always = true;
  nap(1);
  if (always)
    longjmp(out, 1);
  log("jumps");
}

/// Has no exit: nothing that leaves it can be probed.
__attribute__((noipa, noreturn)) void never() {
  for (;;)
    pause();
}

__attribute__((noipa)) int MPI_Pcontrol(const int level, ...) {
  asm volatile("" ::: "memory");
  return level + 1;
}
}

#if defined(__GLIBC__)
namespace {
__attribute__((noipa)) void chosen_one() {
  log("chosen");
}
} // namespace
extern "C" {
static void (*choose())() {
  return chosen_one;
}
/// Each process chooses its code when it is loaded.
void chosen() __attribute__((ifunc("choose")));
}
#endif

namespace demo {
struct Solver {
  __attribute__((noipa)) void step(int n) {
    log("solver_int");
    nap(n);
  }
  __attribute__((noipa)) void step(double n) {
    log("solver_double");
    nap(long(n));
  }
};
} // namespace demo

namespace {

/// Between the markers 100 and 101: 2 * `rounds` + 3 instructions, one of them a system call, and 7
/// rounds of a repeated one. Two more are before that of the marker 102.
void counted([[maybe_unused]] unsigned rounds) {
#if defined(__x86_64__)
  static char bytes[7];
  unsigned long count = 7, call = SYS_getpid;
  char *at = bytes;
  asm volatile("mov $0x100, %%ebx\n .byte 0x64, 0x67, 0x90\n"
               "1: dec %[rounds]\n jnz 1b\n"
               "syscall\n"
               "mov $7, %%ecx\n"
               "rep stosb\n"
               "mov $0x101, %%ebx\n .byte 0x64, 0x67, 0x90\n"
               "mov $0x102, %%ebx\n .byte 0x64, 0x67, 0x90\n"
               : [rounds] "+r"(rounds), "+a"(call), "+D"(at), "+c"(count)
               :
               : "rbx", "r11", "memory");
#endif
}

volatile int handled[NSIG];

/// Signals that the program sends to itself, each of which its handler must get. (SIGTRAP is sent
/// only once: the kernel takes the handler away when it is single-stepped.)
void signals() {
  for (int signal : {SIGUSR1, SIGURG, SIGTRAP}) {
    handled[signal] = 0;
    ::signal(signal, [](int number) { handled[number] = handled[number] + 1; });
    const int count = signal == SIGTRAP ? 1 : 3;
    for (int n = 0; n < count; n++)
      raise(signal);
    if (handled[signal] != count)
      exit(4);
  }
  log("signals");
}

/// Threads that are all there before the first calls tick or tock, one at a time: the log has their
/// calls in order.
void turns(int count, int calls) {
  std::mutex turn;
  std::barrier all(count);
  std::vector<std::thread> threads;
  for (int n = 0; n < count; n++)
    threads.emplace_back([&, n] {
      std::minstd_rand random(unsigned(n) + 1);
      all.arrive_and_wait();
      for (int call = 0; call < calls; call++) {
        const std::lock_guard mine(turn);
        random() % 2 ? tick() : tock();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// FTrace_fire: "EVENT:WHO:BCAST", WHO a tid or `main`.
void fire(const std::string &what) {
  const size_t first = what.find(':'), second = what.rfind(':');
  const std::string who = what.substr(first + 1, second - first - 1);
  FTrace_fire(unsigned(atoi(what.c_str())),
              who == "main" ? unsigned(getpid()) : unsigned(atoi(who.c_str())),
              atoi(what.c_str() + second + 1));
}

/// Where foo is: its address in the process, and in the file, both hexadecimal.
void where() {
  Dl_info info;
  const auto at = reinterpret_cast<uintptr_t>(&foo);
  if (!dladdr(reinterpret_cast<void *>(at), &info))
    exit(6);
  printf("where %lx %lx\n", at, at - reinterpret_cast<uintptr_t>(info.dli_fbase));
  fflush(stdout);
}

/// Works until there is the file.
void spin(const char *file) {
  log("spin");
  while (access(file, F_OK) != 0)
    for (int n = 0; n < 100; n++)
      asm volatile("");
  log("spun");
}

void markers([[maybe_unused]] const std::string &what) {
#if defined(__x86_64__)
  if (what == "ssc") {
    asm volatile("mov $0x11223344, %%ebx\n .byte 0x64, 0x67, 0x90" ::: "rbx");
    log("ssc");
  } else if (what == "ssc_other") {
    asm volatile("mov $0x55, %%ebx\n .byte 0x64, 0x67, 0x90" ::: "rbx");
  } else if (what == "magic" || what == "magic_other") {
    asm volatile("xchg %%bx, %%bx" ::"a"(4ul), "b"(7ul), "c"(what == "magic" ? 9ul : 8ul));
    log(what.c_str());
  } else if (what == "cpuid") {
    unsigned a = 0x4711 | 5 << 16, b, c = 0, d;
    asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    log("cpuid");
  } else if (what == "itext") {
    asm volatile(".byte 0x0f, 0x1f, 0x80, 0x44, 0x33, 0x22, 0x11"); // a nop of its own
    log("itext");
  } else if (what == "crc") {
    unsigned a = 1;
    asm volatile("crc32l %0, %0" : "+r"(a));
    log("crc");
  } else if (what == "x87") {
    double a = 1;
    asm volatile("fsin" : "+t"(a));
    log("x87");
  } else if (what == "int3") {
    asm volatile("int3");
    log("int3");
  }
#endif
}

void do_one(const std::string &what);

void in_threads(const std::string &what, int count) {
  std::vector<std::thread> threads;
  for (int n = 0; n < count; n++)
    threads.emplace_back([&] { do_one(what); });
  for (std::thread &thread : threads)
    thread.join();
}

/// Wait until the main thread is blocked in a futex: it joins the thread that calls this.
void wait_until_joined() {
  const std::string main = "/proc/self/task/" + std::to_string(getpid());
  for (;; nap(1)) {
    // In /proc/PID/stat the state follows the name in parentheses.
    std::string stat, call;
    std::getline(std::ifstream(main + "/stat"), stat);
    std::ifstream(main + "/syscall") >> call;
    const size_t name_end = stat.rfind(") ");
    if (name_end != stat.npos && stat[name_end + 2] == 'S' && call == std::to_string(SYS_futex))
      return;
  }
}

/// As su does: it waits for the stops of its child too, stops itself then, and continues the child
/// when it is continued.
void as_su(const std::string &what) {
  const pid_t child = fork();
  if (child == 0) {
    do_one(what);
    _exit(0);
  }
  for (int status; waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status);) {
    kill(getpid(), SIGSTOP);
    kill(child, SIGCONT);
  }
}

void do_one(const std::string &what) {
  const size_t equals = what.find('=');
  const std::string word = what.substr(0, equals);
  const std::string value = equals == what.npos ? "" : what.substr(equals + 1);
  if (word == "foo")
    foo();
  else if (word == "bar")
    bar();
  else if (word == "boo")
    boo();
  else if (word == "quick")
    for (long n = atol(value.c_str()); n > 0; n--)
      quick();
  else if (word == "never")
    never();
  else if (word == "recursive")
    recursive(3);
  else if (word == "nested")
    outer(true);
  else if (word == "jumps" && !setjmp(out))
    jumps();
  else if (word == "solver_int")
    demo::Solver().step(1);
  else if (word == "solver_double")
    demo::Solver().step(1.0);
  else if (word == "turns") // turns=THREADS:CALLS
    turns(atoi(value.c_str()), atoi(value.substr(value.find(':') + 1).c_str()));
  else if (word == "signals")
    signals();
  else if (word == "where")
    where();
  else if (word == "spin")
    spin(value.c_str());
  else if (word == "count")
    counted(unsigned(atoi(value.c_str())));
  else if (word == "pcontrol")
    MPI_Pcontrol(1, value.c_str()), log("pcontrol");
  else if (word == "wait")
    log("wait"), nap(atol(value.c_str()));
  else if (word == "many")
    for (long n = atol(value.c_str()); n > 0; n--)
      foo(), nap(1), bar(), nap(1);
  else if (word == "threads") // threads=N:WHAT
    in_threads(value.substr(value.find(':') + 1), atoi(value.c_str()));
  else if (word == "joined") // joined=WHAT, in a thread: once the main thread waits for its end
    wait_until_joined(), do_one(value);
  else if (word == "fork") {
    const pid_t child = fork();
    if (child == 0) {
      do_one(value);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  } else if (word == "su") {
    as_su(value);
  } else if (word == "exec") { // exec=PROGRAM:STEP
    const std::string program = value.substr(0, value.find(':'));
    execl(program.c_str(), program.c_str(), value.substr(program.size() + 1).c_str(), nullptr);
    exit(5);
  } else if (word == "fire") {
    fire(value);
  } else if (word == "event") {
    TRACER_LOGEVENT(FTrace_EVT_user_event_1, 0, unsigned(atoi(value.c_str())));
  } else if (word == "dlopen") { // dlopen=LIBRARY:FUNCTION
    const size_t colon = value.find(':');
    void *library = dlopen(value.substr(0, colon).c_str(), RTLD_NOW);
    auto function =
        library ? reinterpret_cast<int (*)(int)>(dlsym(library, value.substr(colon + 1).c_str()))
                : nullptr;
    if (!function)
      exit(3);
    function(1);
    log("dlopen");
  } else {
    markers(word);
  }
}

} // namespace

int main(int argc, char **argv) {
  for (int n = 1; n < argc; n++)
    do_one(argv[n]);
}
