// SPDX-License-Identifier: BSD-2-Clause
// crowded [PAIRS, 250] [TRIPS, 2000]: pairs of threads pass a byte to and fro over pipes, TRIPS
// times. They block at the ends of many call paths. Prints `switches=`, the least number there was.
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr unsigned kWays = 4, kDepth = 5;

/// Goes down a path of calls that `path` chooses, and reads a byte there.
ssize_t go(int pipe, unsigned path, unsigned depth);

template <unsigned way>
__attribute__((noinline)) ssize_t take(int pipe, unsigned path, unsigned depth) {
  char byte;
  const ssize_t got = depth ? go(pipe, path, depth - 1) : read(pipe, &byte, 1);
  asm volatile("" ::"i"(way) : "memory"); // no tail call, and no copy of another function
  return got;
}

ssize_t go(int pipe, unsigned path, unsigned depth) {
  static constexpr ssize_t (*kTake[kWays])(int, unsigned, unsigned) = {take<0>, take<1>, take<2>,
                                                                       take<3>};
  return kTake[path % kWays](pipe, path / kWays, depth);
}

void send(int pipe) {
  if (write(pipe, "", 1) != 1)
    exit(1);
}

void receive(int pipe, unsigned path) {
  if (go(pipe, path, kDepth) != 1)
    exit(1);
}

} // namespace

int main(int argc, char **argv) {
  const unsigned pairs = argc > 1 ? unsigned(atoi(argv[1])) : 250;
  const unsigned trips = argc > 2 ? unsigned(atoi(argv[2])) : 2000;
  std::vector<std::thread> threads;
  for (unsigned n = 0; n < pairs; n++) {
    int there[2], back[2];
    if (pipe(there) != 0 || pipe(back) != 0)
      return 1;
    threads.emplace_back([=] {
      for (unsigned trip = 0; trip < trips; trip++) {
        send(there[1]);
        receive(back[0], n * 7 + trip);
      }
    });
    threads.emplace_back([=] {
      for (unsigned trip = 0; trip < trips; trip++) {
        receive(there[0], n * 5 + trip);
        send(back[1]);
      }
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  printf("switches=%u\n", pairs * trips);
}
