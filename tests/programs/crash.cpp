// SPDX-License-Identifier: BSD-2-Clause
// crash [ROUNDS, 15000]: every millisecond, ROUNDS times, main wakes its four workers for a little
// work. Then worker-3 writes through a null pointer. Another thread has slept all the time. The
// program dies by SIGSEGV, without a core file: a case for a flight recorder.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr int kWorkers = 4;

void name_self(const std::string &name) {
  pthread_setname_np(pthread_self(), name.c_str());
}

void work(unsigned amount) {
  for (unsigned n = 0; n < amount; n++)
    asm volatile("");
}

} // namespace

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 15000;
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(SIGSEGV, SIG_DFL);
  pthread_barrier_t round;
  pthread_barrier_init(&round, nullptr, kWorkers + 1);
  int *volatile nowhere = nullptr;
  std::vector<std::thread> threads;
  threads.emplace_back([] {
    name_self("sleeper");
    for (;;)
      pause();
  });
  for (int worker = 0; worker < kWorkers; worker++)
    threads.emplace_back([&, worker] {
      name_self("worker-" + std::to_string(worker));
      for (int n = 0; n < rounds; n++) {
        pthread_barrier_wait(&round);
        work(20'000u * unsigned(worker + 1));
      }
      if (worker == kWorkers - 1)
        *nowhere = 1;
      for (;;)
        pause();
    });
  for (int n = 0; n < rounds; n++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    pthread_barrier_wait(&round);
  }
  for (std::thread &thread : threads)
    thread.join();
  return 1;
}
