// SPDX-License-Identifier: BSD-2-Clause
// A thread other than main calls execve: the kernel ends all others and gives it the tid of the
// main thread. Prints `before pid= tid=` (the calling thread) and, from the new program, `after
// pid= tid=`.
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace {

void print_time(const char *when) {
  dprintf(STDOUT_FILENO, "%s pid=%d tid=%d\n", when, getpid(), int(syscall(SYS_gettid)));
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "after") == 0) {
    print_time("after");
    return 0;
  }
  std::thread bystander([] { pause(); });
  std::thread caller([] {
    pthread_setname_np(pthread_self(), "caller");
    print_time("before");
    execl("/proc/self/exe", "exec_thread", "after", nullptr);
    perror("exec_thread: execve");
    _exit(1);
  });
  pause();
}
