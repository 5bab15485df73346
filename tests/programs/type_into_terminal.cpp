// SPDX-License-Identifier: BSD-2-Clause
// Tries each way to put a character into the input of its terminal, and prints the errno of each.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

long errno_of(long result) {
  return result < 0 ? errno : 0;
}

/// The kernel ignores the high half of a request.
constexpr unsigned long kHighBits = 0xffffffff00000000;

#if defined(__x86_64__)
/// As 32-bit programs call it. A kernel without them ends the process.
int errno_of_compat(unsigned request) {
  const pid_t child = fork();
  if (child == 0) {
    long result;
    asm volatile("int $0x80"
                 : "=a"(result)
                 : "a"(54L), "b"(0L), "c"(long(request)), "d"(0L)
                 : "memory", "r8", "r9", "r10", "r11");
    _exit(result < 0 ? int(-result) : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
#endif

} // namespace

int main() {
  char key = 'x';
  char paste = 3; // the selection of a virtual terminal
  printf("TIOCSTI=%ld\n", errno_of(ioctl(0, TIOCSTI, &key)));
  printf("TIOCLINUX=%ld\n", errno_of(ioctl(0, TIOCLINUX, &paste)));
  printf("TIOCSTI-high=%ld\n", errno_of(syscall(SYS_ioctl, 0, TIOCSTI | kHighBits, &key)));
#if defined(__x86_64__)
  printf("TIOCSTI-32=%d\n", errno_of_compat(TIOCSTI));
  printf("TIOCSTI-x32=%ld\n", errno_of(syscall(0x40000000 + 514, 0, TIOCSTI, &key)));
#endif
  winsize size;
  printf("TIOCGWINSZ=%ld\n", errno_of(ioctl(0, TIOCGWINSZ, &size)));
  return 0;
}
