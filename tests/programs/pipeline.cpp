// SPDX-License-Identifier: BSD-2-Clause
// pipeline [ITEMS, 40] [SLOW_US, 5000]: three threads, stage-0 to stage-2, which hand ITEMS bytes
// from pipe to pipe. stage-1 sleeps SLOW_US for each; the others only pass them on. All of it is
// section 1 of the main thread, which waits for the last byte.
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <ovnitrace/user_event.h>

namespace {

constexpr int kStages = 3, kSlow = 1;
constexpr char kItem = 1, kEnd = 0;
int pipes[kStages + 1][2];

void put(int pipe, char item) {
  if (write(pipes[pipe][1], &item, 1) != 1)
    abort();
}
char get(int pipe) {
  char item = kEnd;
  if (read(pipes[pipe][0], &item, 1) != 1)
    abort();
  return item;
}

void stage(int number, useconds_t slow_us) {
  pthread_setname_np(pthread_self(), ("stage-" + std::to_string(number)).c_str());
  while (get(number) != kEnd) {
    if (number == kSlow)
      usleep(slow_us);
    put(number + 1, kItem);
  }
  put(number + 1, kEnd);
}

} // namespace

int main(int argc, char **argv) {
  const int items = argc > 1 ? atoi(argv[1]) : 40;
  const useconds_t slow_us = argc > 2 ? useconds_t(atoi(argv[2])) : 5000;
  for (auto &ends : pipes)
    if (pipe(ends))
      return 1;
  ovnitrace_section_begin(1);
  std::vector<std::thread> threads;
  for (int number = 0; number < kStages; number++)
    threads.emplace_back(stage, number, slow_us);
  for (int n = 0; n < items; n++)
    put(0, kItem);
  put(0, kEnd);
  int passed = 0;
  while (get(kStages) != kEnd)
    passed++;
  ovnitrace_section_end(1);
  for (std::thread &thread : threads)
    thread.join();
  printf("passed=%d\n", passed);
}
