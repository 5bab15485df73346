// SPDX-License-Identifier: BSD-2-Clause
// Measures the conversion of generated traces to both .prv files with arrows. The traces have 1, 3
// and 10 million scheduler events of 64 threads on 8 CPUs, and of 50,000 threads on 256 CPUs.
// Prints events a second of wall time and of CPU time, which other load disturbs less, peak memory,
// and the ratio to the floor: copying the files that were written.
//
//   convert_bench [directory [millions of events ...]]
#include "emulator/base/error.h"
#include "tests/support/convert_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <ovnitrace/ftrace_codes.h>
#include <ovnitrace/ftrace_record.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace fs = std::filesystem;
using namespace ovnitrace;

namespace {

constexpr uint32_t kFirstTid = 100000;
constexpr uint32_t kChunkRecords = 16384;

struct Shape {
  uint32_t threads, cpus;
};

double now(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

/// Writes one CPU's chunks. Each says anew who its threads are.
class ChunkStream {
public:
  ChunkStream(const std::string &dir, uint16_t cpu, uint32_t threads)
      : file_(fopen(fmt::format("{}/cpu{:04}.ftr", dir, cpu).c_str(), "wb")), cpu_(cpu),
        threads_(threads) {
    begin();
    put(FTrace_EVT_trace_start, 0, 0, 1000000);
  }
  ~ChunkStream() {
    put(FTrace_EVT_trace_stop, 0, time_, 0);
    flush();
    fclose(file_);
  }
  void event(uint16_t code, uint32_t thread, uint64_t time, uint32_t par2) {
    if (records_.size() + 4 > kChunkRecords) {
      put(FTrace_EVT_next_chunk, 0, time_, ++number_);
      flush();
      begin();
    }
    uint16_t &context = contexts_[thread];
    if (!context) {
      context = ++used_;
      put(FTrace_EVT_id, context, time, kFirstTid + thread);
      put(FTrace_EXT_process, context, 0, kFirstTid + thread / 16 * 16);
      put(FTrace_EXT_name_0, context, time, 0x6b726f77); // "work"
    }
    put(code, context, time, par2);
  }

private:
  void begin() {
    contexts_.assign(threads_, 0);
    used_ = 0;
    put(FTrace_EVT_cycles_per_msec, 0, time_, 1000000);
    put(FTrace_EXT_format, FTRACE_EXT_VERSION, time_, 0);
    put(FTrace_EXT_chunk, cpu_, time_, number_);
    put(FTrace_EVT_numevents, 0, time_, 0);
  }
  void put(uint16_t code, uint16_t par1, uint64_t time, uint32_t par2) {
    time_ = std::max(time, time_);
    records_.emplace_back();
    ftrace_record_set(&records_.back(), code, par1, time, par2);
  }
  void flush() {
    records_[3].par2 = uint32_t(records_.size());
    fwrite(records_.data(), sizeof(ftrace_record), records_.size(), file_);
    records_.clear();
  }
  FILE *file_;
  uint16_t cpu_;
  uint32_t threads_;
  uint32_t number_ = 0;
  uint64_t time_ = 0;
  std::vector<ftrace_record> records_;
  // Contexts of the current chunk, numbered as the tracer does:
  std::vector<uint16_t> contexts_; ///< by thread; 0: none yet
  uint16_t used_ = 0;
};

/// A schedule that could be: threads run, are preempted or sleep, and running ones wake others.
void generate(const std::string &dir, uint64_t events, const Shape &shape) {
  std::vector<std::unique_ptr<ChunkStream>> cpus;
  for (uint16_t c = 0; c < shape.cpus; c++)
    cpus.push_back(std::make_unique<ChunkStream>(dir, c, shape.threads));
  std::vector<std::deque<uint32_t>> ready(shape.cpus);
  std::vector<int64_t> running(shape.cpus, -1);
  std::vector<uint32_t> asleep;
  for (uint32_t t = 0; t < shape.threads; t++)
    ready[t % shape.cpus].push_back(t);

  uint64_t time = 0, seed = 1, written = 0;
  auto random = [&seed](uint32_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return uint32_t((seed >> 33) % below);
  };
  auto tid = [](int64_t thread) { return thread < 0 ? 0 : kFirstTid + uint32_t(thread); };
  while (written < events) {
    time += 200 + random(3000);
    uint32_t c = random(shape.cpus);
    if (running[c] >= 0 && !asleep.empty() && random(3)) { // wakes
      uint32_t at = random(uint32_t(asleep.size())), woken = asleep[at];
      asleep[at] = asleep.back();
      asleep.pop_back();
      ready[random(8) ? woken % shape.cpus : random(shape.cpus)].push_back(woken);
      cpus[c]->event(FTrace_EVT_task_activate, woken, time, tid(running[c]));
      written++;
      continue;
    }
    int64_t next = -1, prev = running[c];
    if (!ready[c].empty()) {
      next = ready[c].front();
      ready[c].pop_front();
    }
    if (prev >= 0) {
      bool preempted = next >= 0 && random(4) == 0;
      uint32_t reason = preempted ? FTRACE_OFFCPU_PREEMPTED : FTRACE_OFFCPU_SLEEP;
      cpus[c]->event(preempted ? FTrace_EVT_task_epilogue : FTrace_EVT_task_sleep, uint32_t(prev),
                     time, tid(next) | reason << FTRACE_REASON_SHIFT);
      preempted ? ready[c].push_back(uint32_t(prev)) : asleep.push_back(uint32_t(prev));
      written++;
    }
    if (next >= 0) {
      cpus[c]->event(FTrace_EVT_task_dispatch, uint32_t(next), time, 121);
      written++;
    }
    running[c] = next;
  }
}

struct CountFaults : DiagnosticSink {
  void report(const Diagnostic &diagnostic) override {
    if (diagnostic.harmless)
      return;
    fmt::print(stderr, "{}: {}\n", diagnostic.file, diagnostic.what);
    reported++;
  }
  int reported = 0;
};

/// What the child that converts reports.
struct Figures {
  uint64_t events;
  double wall, cpu; ///< seconds; CPU of all threads
};

Figures convert_in_child(const std::string &dir, long &peak_kib) {
  int pipe_fds[2];
  if (pipe(pipe_fds) != 0)
    exit(1);
  pid_t child = fork();
  if (child == 0) {
    CountFaults sink;
    double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    ConvertResult result = convert_directory(dir, {}, sink);
    Figures figures{result.events, now(CLOCK_MONOTONIC) - wall,
                    now(CLOCK_PROCESS_CPUTIME_ID) - cpu};
    bool sent = write(pipe_fds[1], &figures, sizeof figures) == sizeof figures;
    _exit(!sent || result.faults || sink.reported);
  }
  Figures figures{};
  rusage usage{};
  int status = 0;
  bool got = read(pipe_fds[0], &figures, sizeof figures) == sizeof figures;
  wait4(child, &status, 0, &usage);
  close(pipe_fds[0]);
  close(pipe_fds[1]);
  if (!got || status != 0) {
    fmt::print(stderr, "convert_bench: the conversion failed\n");
    exit(1);
  }
  peak_kib = usage.ru_maxrss;
  return figures;
}

/// Copies a file as plainly as can be; returns its bytes.
uint64_t copy_file(const std::string &from, const std::string &to) {
  static char buffer[1 << 18];
  int in = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  int out = open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  uint64_t bytes = 0;
  for (ssize_t n; (n = read(in, buffer, sizeof buffer)) > 0; bytes += uint64_t(n))
    if (write(out, buffer, size_t(n)) != n)
      exit(1);
  close(in);
  close(out);
  return bytes;
}

void run(const std::string &base, uint64_t millions, const Shape &shape) {
  std::string dir = fmt::format("{}/ovnitrace-convert-bench-{}", base, getpid());
  fs::create_directory(dir);
  generate(dir, millions * 1000000, shape);
  long peak_kib = 0;
  Figures best{};
  for (int round = 0; round < 3; round++) {
    Figures figures = convert_in_child(dir, peak_kib);
    if (best.events == 0 || figures.cpu < best.cpu)
      best = figures;
  }
  double begin = now(CLOCK_MONOTONIC);
  uint64_t bytes = copy_file(dir + "/thread.prv", dir + "/copy1");
  bytes += copy_file(dir + "/cpu.prv", dir + "/copy2");
  double copy = now(CLOCK_MONOTONIC) - begin;
  fmt::print("{:>3} M events, {} threads, {} CPUs: {:.2f} M events/s of wall time, {:.2f} of CPU "
             "time; peak {:.1f} MiB; "
             "{:.0f} MiB written, {:.1f} times the time of a plain copy\n",
             millions, shape.threads, shape.cpus, double(best.events) / best.wall / 1e6,
             double(best.events) / best.cpu / 1e6, double(peak_kib) / 1024,
             double(bytes) / (1 << 20), best.wall / copy);
  fs::remove_all(dir);
}

} // namespace

int main(int argc, char **argv) {
  std::string base = argc > 1 ? argv[1] : fs::temp_directory_path().string();
  std::vector<uint64_t> sizes = {1, 3, 10};
  if (argc > 2)
    sizes.clear();
  for (int i = 2; i < argc; i++)
    sizes.push_back(strtoull(argv[i], nullptr, 10));
  for (uint64_t millions : sizes)
    for (const Shape &shape : {Shape{64, 8}, Shape{50000, 256}})
      run(base, millions, shape);
}
