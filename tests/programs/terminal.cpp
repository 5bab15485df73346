// SPDX-License-Identifier: BSD-2-Clause
// terminal [COMPUTE_MS, 30]: the main thread waits for a line from a terminal, which the thread
// `writer` sends when it has computed for so long. A kernel worker hands the line over.
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace {

void compute(long ms) {
  timespec now = {};
  do
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
}

} // namespace

int main(int argc, char **argv) {
  const long ms = argc > 1 ? atol(argv[1]) : 30;
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || grantpt(master) || unlockpt(master))
    return 1;
  const int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
  if (terminal < 0)
    return 1;
  std::thread writer([&] {
    pthread_setname_np(pthread_self(), "writer");
    compute(ms);
    if (write(terminal, "x\n", 2) != 2)
      abort();
  });
  char text[8];
  if (read(master, text, sizeof text) <= 0)
    return 1;
  writer.join();
}
