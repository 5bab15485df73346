// SPDX-License-Identifier: BSD-2-Clause
// Measures what a user event costs the program that logs it: without a tracer (one nop), with the
// library but tracing disabled, and into a chunk of the program. Prints ratios to an empty loop and
// to reading the clock, which each event in a chunk does once. As root it also measures a real
// capture, as a ratio to the least system call. With disabled events only the trap into the kernel
// is left.
//
//   user_event_bench [calls in millions]

#include <ovnitrace/ftrace.h>
#include <ovnitrace/user_event.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr int kRounds = 7;

uint64_t now(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time;
  clock_gettime(clock, &time);
  return uint64_t(time.tv_sec) * 1000000000 + uint64_t(time.tv_nsec);
}

/// ns a call.
template <typename Call>
double measure(unsigned calls, Call call, clockid_t clock = CLOCK_MONOTONIC) {
  const uint64_t begin = now(clock);
  for (unsigned i = 0; i < calls; i++) {
    call(i);
    asm volatile("" ::: "memory");
  }
  return double(now(clock) - begin) / calls;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void log_event(unsigned i) {
  TRACER_LOGEVENT(FTrace_EVT_user_event_0, 1, i);
}

/// A selected chunk of 64 MiB, with tracing enabled; its number.
int start(int mode) {
  const int chunk =
      FTrace_chunk_create(64 << 20, 4096, FTrace_flags(FTRACE_CHUNK_FLAG_FREE | mode));
  const int errors[] = {chunk, FTrace_actual_chunk_select(chunk), FTrace_enable()};
  for (int error : errors) {
    if (error < 0) {
      fprintf(stderr, "user_event_bench: a chunk of 64 MiB: %s\n", FTrace_strerror(error));
      exit(1);
    }
  }
  return chunk;
}

double with_chunk(int mode, unsigned calls) {
  const int chunk = start(mode);
  const double ns = measure(calls, log_event);
  FTrace_disable();
  FTrace_chunk_delete(chunk);
  return ns;
}

/// All CPUs into one chunk: ns of a thread's time a call.
double contended(unsigned calls) {
  const int chunk = start(FTRACE_CHUNK_FLAG_CYC);
  const unsigned count = std::max(2u, std::thread::hardware_concurrency());
  std::vector<double> ns(count);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; i++)
    threads.emplace_back([&ns, i, calls] { ns[i] = measure(calls, log_event); });
  for (std::thread &thread : threads)
    thread.join();
  FTrace_disable();
  FTrace_chunk_delete(chunk);
  return median(ns);
}

constexpr unsigned kTracedCalls = 200'000; // all of them fit into a ring

/// Run by ovnitrace. CPU time, as other load on the machine disturbs it less. The first round, when
/// the kernel makes the pages of the probes, does not count.
int run_traced() {
  constexpr unsigned kCalls = kTracedCalls / kRounds;
  auto log = [](unsigned i) { ovnitrace_event(FTrace_EVT_user_event_0, 1, i); };
  std::vector<double> call, event, silent;
  for (int round = 0; round <= kRounds; round++) {
    call.push_back(measure(
        kCalls, [](unsigned) { syscall(SYS_getpid); }, CLOCK_THREAD_CPUTIME_ID));
    event.push_back(measure(kCalls, log, CLOCK_THREAD_CPUTIME_ID));
    ovnitrace_disable();
    silent.push_back(measure(kCalls, log, CLOCK_THREAD_CPUTIME_ID));
    ovnitrace_enable();
  }
  struct {
    const char *name;
    std::vector<double> &ns;
  } rows[] = {{"getpid()", call}, {"user_event.h, traced", event}, {"the same, disabled", silent}};
  for (auto &row : rows)
    row.ns.erase(row.ns.begin());
  for (auto &row : rows)
    printf("user event: %-24s %7.1f ns  %7.2f x getpid()\n", row.name, median(row.ns),
           median(row.ns) / median(call));
  return 0;
}

/// The same under the command that was built beside this program.
int capture() {
  if (geteuid() != 0) {
    printf("user event: traced: needs root\n");
    return 0;
  }
  char self[4096] = {}, trace[] = "/tmp/ovnitrace-bench-XXXXXX";
  if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 || !mkdtemp(trace))
    return 1;
  const std::string path = self, build = path.substr(0, path.rfind("/tests/bench/"));
  const std::string command =
      "'" + build + "/ovnitrace' record -o " + trace + "/trace -- '" + path + "' traced";
  fflush(stdout);
  const int status = system(command.c_str());
  const std::string clean = std::string("rm -rf ") + trace;
  return system(clean.c_str()) == 0 && status == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "traced") == 0)
    return run_traced();
  const unsigned calls = unsigned((argc > 1 ? atof(argv[1]) : 4) * 1e6);
  const unsigned in_chunk = std::min(calls, (64u << 20) / 16);
  struct {
    const char *name;
    std::vector<double> ns;
  } rows[] = {{"empty loop", {}},
              {"clock_gettime", {}},
              {"user_event.h, no tracer", {}},
              {"library, disabled", {}},
              {"library, JTN chunk", {}},
              {"library, CYC chunk", {}},
              {"library, CYC, every CPU", {}}};
  for (int round = 0; round < kRounds; round++) { // alternated, as machines are noisy
    auto *row = rows;
    row++->ns.push_back(measure(calls, [](unsigned) {}));
    row++->ns.push_back(measure(calls, [](unsigned) { now(); }));
    row++->ns.push_back(
        measure(calls, [](unsigned i) { ovnitrace_event(FTrace_EVT_user_event_0, 1, i); }));
    row++->ns.push_back(measure(calls, log_event));
    row++->ns.push_back(with_chunk(FTRACE_CHUNK_FLAG_JTN, in_chunk));
    row++->ns.push_back(with_chunk(FTRACE_CHUNK_FLAG_CYC, calls));
    row++->ns.push_back(contended(calls / 4));
  }
  const double empty = median(rows[0].ns), clock = median(rows[1].ns);
  printf("user event: median of %d rounds of %u calls\n", kRounds, calls);
  for (const auto &row : rows) {
    const double ns = median(row.ns);
    printf("user event: %-24s %7.2f ns  %7.1f x empty loop  %6.2f x clock_gettime\n", row.name, ns,
           ns / empty, ns / clock);
  }
  return capture();
}
