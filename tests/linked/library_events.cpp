// SPDX-License-Identifier: BSD-2-Clause
// Logs through libovnitrace and prints what it logged, as tests/programs/user_events.cpp does:
//
//   library_events MARK [loaded LIBRARY]   MARK in parameter 1; loaded: through a library that it
//   opens by dlopen
//   library_events fire      starts the region of --control, logs event 1, stops the region, logs
//   event 2 library_events filters   filters interrupts, and again not, always while tracing is
//   disabled
#include <ovnitrace/ftrace.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <unistd.h>

namespace {

uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}

decltype(&TRACER_LOGEVENT) log_event = TRACER_LOGEVENT;
decltype(&FTrace_enable) enable = FTrace_enable;
decltype(&FTrace_disable) disable = FTrace_disable;

void add(unsigned code, unsigned par1, unsigned par2) {
  const uint64_t before = now();
  log_event(uint16_t(code), uint16_t(par1), par2);
  const uint64_t after = now();
  printf("logged tid=%d code=%u par1=%u par2=%u before=%llu after=%llu cpu=-1\n", gettid(), code,
         par1, par2, (unsigned long long)before, (unsigned long long)after);
}

/// Uses the CPU long enough that its timer interrupts it.
void work() {
  const clock_t end = clock() + CLOCKS_PER_SEC / 25;
  while (clock() < end)
    ;
}

int run_filters() {
  FTrace_set_filter(FTrace_filter_interrupt, 1);
  work();
  enable();
  disable();
  FTrace_set_filter(FTrace_filter_interrupt, 0);
  work();
  return 0;
}

int run_fire() {
  enable();
  if (FTrace_fire(FTrace_FIRE_start, 0, 1) != FTRACE_OK ||
      FTrace_fire(7, 0, 0) != FTRACE_E_ARGUMENT)
    return 1;
  add(FTrace_EVT_user_event_1, 0, 1);
  FTrace_fire(FTrace_FIRE_stop, gettid(), 1);
  log_event(FTrace_EVT_user_event_1, 0, 2);
  return 0;
}

template <typename Function> void load(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "filters") == 0)
    return run_filters();
  if (argc > 1 && strcmp(argv[1], "fire") == 0)
    return run_fire();
  const unsigned mark = argc > 1 ? unsigned(atoi(argv[1])) : 1;
  if (argc > 3) {
    void *library = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return 1;
    load(library, "TRACER_LOGEVENT", log_event);
    load(library, "FTrace_enable", enable);
    load(library, "FTrace_disable", disable);
  }
  log_event(FTrace_EVT_user_event_0, uint16_t(mark), 1000); // not enabled yet
  enable();
  for (unsigned n = 0; n < 100; n++)
    add(FTrace_EVT_user_event_0 | n % 13 << 4, mark, n);
  disable();
  log_event(FTrace_EVT_user_event_0, uint16_t(mark), 1001);
  enable();
  add(FTrace_EVT_ipoint, mark, 100);
}
