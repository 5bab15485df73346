// SPDX-License-Identifier: BSD-2-Clause
// A program that leaves a function, foo, in every way there is, and prints what it sees of itself.
// The arguments say what is done, in their order. What it prints does not depend on when and where
// it runs, but for `where`.
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Inside = void (*)();

ucontext_t outside, inside;
jmp_buf out;

__attribute__((noipa)) void nothing() {
  asm volatile("" ::: "memory");
}

void yield() {
  swapcontext(&inside, &outside);
}

} // namespace

extern "C" {

/// Calls what it is given, which may leave it in its own way.
__attribute__((noipa)) int foo(Inside inside, int depth) {
  if (depth > 0)
    return foo(inside, depth - 1) + 1;
  inside();
  asm volatile("" ::: "memory");
  return 1;
}

__attribute__((noipa)) void last() {
  asm volatile("" ::: "memory");
}

/// Its last call takes the place of its return.
__attribute__((noipa, optimize("O2"))) void tail() {
  asm volatile("" ::: "memory");
  return last();
}
}

namespace {

void frames() {
  void *all[64];
  printf("%d frames\n", backtrace(all, 64));
}

/// Runs foo on a stack of its own, which it leaves and comes back to.
void coroutine() {
  std::vector<char> stack(256 << 10);
  getcontext(&inside);
  inside.uc_stack.ss_sp = stack.data();
  inside.uc_stack.ss_size = stack.size();
  inside.uc_link = &outside;
  makecontext(
      &inside, [] { foo(yield, 3); }, 0);
  swapcontext(&outside, &inside); // to the yield
  foo(nothing, 0);                // on this stack, while the other is in it
  swapcontext(&outside, &inside); // to its end
}

void threw(int depth) {
  try {
    foo([] { throw std::runtime_error("thrown"); }, depth);
  } catch (const std::exception &error) {
    puts(error.what());
  }
}

/// A handler on a stack of its own, in which foo is called and left by siglongjmp.
void on_signal_stack() {
  static char stack[64 << 10];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof(stack);
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = [](int) { foo([] { siglongjmp(out, 1); }, 2); };
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  sigaction(SIGUSR1, &action, nullptr);
  if (!sigsetjmp(out, 1))
    foo([] { raise(SIGUSR1); }, 1);
}

/// foo's machine code, copied and run from elsewhere: what a program does that writes its own.
void copied() {
  const size_t bytes = 4096;
  void *memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#if defined(__aarch64__)
  const unsigned char code[] = {0x40, 5, 0x80, 0x52, 0xc0, 3, 0x5f, 0xd6}; // mov w0, 42; ret
#else
  const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3}; // mov $42, %eax; ret
#endif
  std::memcpy(memory, code, sizeof(code));
  __builtin___clear_cache(static_cast<char *>(memory), static_cast<char *>(memory) + sizeof(code));
  printf("%d\n", reinterpret_cast<int (*)()>(memory)());
  munmap(memory, bytes);
}

void wait_for(const char *file) {
  while (access(file, F_OK) != 0) {
    const timespec t = {0, 2'000'000};
    nanosleep(&t, nullptr);
  }
}

void do_one(const std::string &what) {
  const size_t equals = what.find('=');
  const std::string word = what.substr(0, equals);
  const std::string value = equals == what.npos ? "" : what.substr(equals + 1);
  if (word == "call")
    printf("%d calls\n", foo(nothing, 3));
  else if (word == "tail")
    tail();
  else if (word == "throw")
    threw(0), threw(3), foo(nothing, 0);
  else if (word == "longjmp") {
    if (!setjmp(out))
      foo([] { longjmp(out, 1); }, 2);
    foo(nothing, 1);
  } else if (word == "coroutine")
    coroutine();
  else if (word == "frames")
    foo(frames, 3);
  else if (word == "altstack")
    on_signal_stack();
  else if (word == "copied")
    copied();
  else if (word == "exit_thread")
    std::thread([] { foo([] { pthread_exit(nullptr); }, 2); }).join();
  else if (word == "parent") // many calls of a function of a library
    for (int n = 0; n < 100; n++)
      getppid();
  else if (word == "fork") {
    const pid_t child = fork();
    if (child == 0) {
      do_one(value);
      fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%d\n", status);
  } else if (word == "where") // addresses, to be looked at from outside
    printf("%p %p\n", reinterpret_cast<void *>(foo), dlsym(RTLD_DEFAULT, "getppid"));
  else if (word == "wait")
    wait_for(value.c_str());
  else
    exit(3);
  fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  for (int n = 1; n < argc; n++)
    do_one(argv[n]);
  puts("fine");
}
