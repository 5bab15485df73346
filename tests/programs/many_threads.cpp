// SPDX-License-Identifier: BSD-2-Clause
// many_threads [N, 1000] [AT_ONCE, 16] [RENAMES, 0]: renames itself RENAMES times, and starts N
// threads that live for a moment, at most AT_ONCE together. Prints `thread tid=` for each, and
// `threads=N`.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

int main(int argc, char **argv) {
  const size_t count = argc > 1 ? strtoul(argv[1], nullptr, 10) : 1000;
  const size_t at_once = argc > 2 ? std::max(1ul, strtoul(argv[2], nullptr, 10)) : 16;
  for (size_t left = argc > 3 ? strtoul(argv[3], nullptr, 10) : 0; left > 0; left--) {
    prctl(PR_SET_NAME, left % 2 ? "odd" : "even");
    std::this_thread::sleep_for(std::chrono::nanoseconds(1)); // a trace has a name for each run
  }
  for (size_t done = 0; done < count;) {
    std::vector<std::thread> batch;
    for (; batch.size() < at_once && done < count; done++)
      batch.emplace_back(
          [] { dprintf(STDOUT_FILENO, "thread tid=%d\n", int(syscall(SYS_gettid))); });
    for (auto &thread : batch)
      thread.join();
  }
  printf("threads=%zu\n", count);
}
