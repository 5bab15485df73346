// SPDX-License-Identifier: BSD-2-Clause
// forker [N, 100]: forks N times, each child executes /bin/true, one after the other.
// Prints `child pid= status=` for each, and `forks=N`.
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  const long count = argc > 1 ? atol(argv[1]) : 100;
  for (long i = 0; i < count; i++) {
    const pid_t pid = fork();
    if (pid == 0) {
      execl("/bin/true", "true", nullptr);
      _exit(127);
    }
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
      perror("forker: fork or waitpid");
      return 1;
    }
    dprintf(STDOUT_FILENO, "child pid=%d status=%d\n", pid, status);
  }
  printf("forks=%ld\n", count);
}
