// SPDX-License-Identifier: BSD-2-Clause
// What --control costs the program: a hit of each type of alarm, and a context switch outside a
// region. The program is this one, run under ovnitrace; the kernel's statistics say how much of it
// the BPF programs took. CPU time, as other load disturbs it less; the median of the rounds. A hit
// costs the trap into the kernel too, so it is compared with the least system call.
//
//   control_bench            all of it; needs root
//   control_bench hits STEP  in the program: ns a hit
//   control_bench switches   in the program: ns a switch of a ping-pong on one CPU

#include <bpf/bpf.h>
#include <fmt/core.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <thread>
#include <vector>

extern "C" {
__attribute__((noipa)) void called() {
  asm volatile("push %rbx\n pop %rbx");
}
__attribute__((noipa)) int MPI_Pcontrol(int level, const char *) {
  asm volatile("push %rbx\n pop %rbx");
  return level;
}
}

namespace {

constexpr int kRounds = 7;
constexpr int kCounted = 1000; // instructions in a hit of icount
constexpr int kTrips = 20'000; // of the ping-pong: two switches each

double cpu_ns() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) * 1e9 + double(time.tv_nsec);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Runs and time of the BPF programs of which `wanted` likes the name.
struct BpfTime {
  double runs = 0, ns = 0;
};

BpfTime bpf_time(const std::function<bool(const std::string &)> &wanted) {
  BpfTime sum;
  for (uint32_t id = 0; bpf_prog_get_next_id(id, &id) == 0;) {
    const int fd = bpf_prog_get_fd_by_id(id);
    bpf_prog_info info = {};
    uint32_t bytes = sizeof(info);
    if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0 && wanted(info.name)) {
      sum.runs += double(info.run_cnt);
      sum.ns += double(info.run_time_ns);
    }
    close(fd);
  }
  return sum;
}

bool is_alarm(const std::string &name) {
  return name.starts_with("on_alarm") || name == "on_pcontrol";
}

bool is_switch(const std::string &name) {
  return name.starts_with("on_switch") || name == "on_waking" || name == "on_wakeup";
}

// ---- in the program -----------------------------------------------------------------------------

struct Step {
  const char *name, *chain; ///< the alarm that it hits, which never fires
  void (*hit)();
  unsigned count;
};

constexpr Step kSteps[] = {
    {"enter_func", "start:enter_func:called", called, 20'000},
    {"exit_func", "start:exit_func:called", called, 20'000},
    {"address", "start:address:called", called, 20'000},
    {"ssc", "start:ssc:77",
     [] {
       asm volatile("mov $0x77, %%ebx\n .byte 0x64, 0x67, 0x90" ::: "rbx");
     },
     20'000},
    {"magic", "start:magic:1.2",
     [] { asm volatile("xchg %%bx, %%bx" ::"a"(4ul), "b"(1ul), "c"(2ul)); }, 20'000},
    {"cpuid", "start:cpuid:7",
     [] {
       unsigned a = 0x4711 | 7 << 16, b, c = 0, d;
       asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
     },
     5'000},
    {"itext", "start:itext:0f1f8011223344",
     [] { asm volatile(".byte 0x0f, 0x1f, 0x80, 0x11, 0x22, 0x33, 0x44"); }, 20'000},
    {"isa-extension", "start:isa-extension:SSE4",
     [] {
       unsigned a = 1;
       asm volatile("crc32l %0, %0" : "+r"(a));
     },
     5'000},
    {"isa-category", "start:isa-category:X87_ALU", [] { asm volatile("fnop"); }, 5'000},
    {"pcontrol", "start:pcontrol:other", [] { MPI_Pcontrol(1, "region"); }, 20'000},
    {"int3", "start:int3", [] { asm volatile("int3"); }, 2'000},
    {"icount", "precond:ssc:77,start:icount:1000000000",
     [] {
       asm volatile("mov $500, %%ecx\n 1: dec %%ecx\n jnz 1b" ::: "ecx", "cc");
     },
     20},
};

const Step *find_step(const std::string &name) {
  for (const Step &step : kSteps)
    if (name == step.name)
      return &step;
  return nullptr;
}

/// Wall time, as in a trap the tracer runs in place of the program.
double wall_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) * 1e9 + double(time.tv_nsec);
}

int run_hits(const Step &step) {
  const bool counted = !strcmp(step.name, "icount");
  const bool traced = counted || !strcmp(step.name, "int3");
  const auto clock = traced ? wall_ns : cpu_ns;
  const int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
  std::vector<double> hits, calls;
  const BpfTime before = bpf_time(is_alarm);
  if (counted)
    find_step("ssc")->hit();
  for (int round = 0; round <= kRounds; round++) { // the first, which makes pages, does not count
    const double start = clock();
    for (unsigned n = 0; n < step.count; n++)
      step.hit();
    hits.push_back((clock() - start) / step.count / (counted ? kCounted : 1));
    const double middle = clock();
    for (unsigned n = 0; !counted && n < step.count; n++)
      syscall(SYS_getpid);
    calls.push_back((clock() - middle) / step.count);
  }
  const BpfTime after = bpf_time(is_alarm);
  close(stats);
  hits.erase(hits.begin());
  calls.erase(calls.begin());
  const double runs = after.runs - before.runs;
  fmt::print("control: a hit of {:<14} {:8.0f} ns", step.name, median(hits));
  if (!counted)
    fmt::print("  {:6.1f} x getpid()", median(hits) / median(calls));
  if (!traced)
    fmt::print("  of it in BPF {:5.0f} ns", runs ? (after.ns - before.ns) / runs : 0);
  fmt::print("\n");
  return 0;
}

/// ns a switch of two threads on one CPU, and of it in BPF programs.
int run_switches(const char *what) {
  const int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
  std::vector<double> all, in_bpf;
  for (int round = 0; round <= kRounds; round++) {
    int there[2], back[2];
    char byte = 0;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof(one), &one);
    if (pipe(there) || pipe(back))
      return 1;
    const BpfTime before = bpf_time(is_switch);
    const double start = cpu_ns();
    std::thread other([&] {
      char got;
      while (read(there[0], &got, 1) == 1 && write(back[1], &got, 1) == 1)
        ;
    });
    for (int n = 0; n < kTrips; n++)
      if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
        return 1;
    close(there[1]);
    other.join();
    all.push_back((cpu_ns() - start) / (2 * kTrips));
    in_bpf.push_back((bpf_time(is_switch).ns - before.ns) / (2 * kTrips));
    for (int fd : {there[0], back[0], back[1]})
      close(fd);
  }
  close(stats);
  fmt::print("control: a switch {:<28} {:6.0f} ns  of it in BPF {:5.0f} ns\n", what, median(all),
             median(in_bpf));
  return 0;
}

// ---- ovnitrace around it
// --------------------------------------------------------------------------

std::string quoted(const std::string &text) {
  return "'" + text + "'";
}

int run_all() {
  char self[4096] = {}, folder[] = "/tmp/ovnitrace-bench-XXXXXX";
  if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 || !mkdtemp(folder))
    return 1;
  const std::string path = self, build = path.substr(0, path.rfind("/tests/bench/"));
  const std::string record =
      quoted(build + "/ovnitrace") + " record -f -o " + folder + std::string("/trace ");
  const auto run = [&](const std::string &options, const std::string &program) {
    // standard error is of no interest where it works
    return system((record + options + " -- " + program + " 2>" + folder + "/err || { cat " +
                   folder + "/err >&2; false; }")
                      .c_str());
  };
  int failed = 0;
  fflush(stdout);
  for (const Step &step : kSteps)
    failed += run("--control " + std::string(step.chain) +
                      (strcmp(step.name, "icount") ? ":count1000000000" : ""),
                  quoted(path) + " hits " + step.name) != 0;
  const std::string switches = quoted(path) + " switches ";
  failed += system((switches + "'without ovnitrace'").c_str()) != 0;
  failed += run("", switches + "recorded") != 0;
  failed += run("--control start:interactive", switches + "'outside a region'") != 0;
  const std::string other = std::string(folder) + "/other";
  failed += system((quoted(build + "/ovnitrace") + " record --control start:interactive -o " +
                    other + " -- sleep 100 2>/dev/null & until [ -e " + other +
                    "/trace.json ]; do sleep 0.1; done; " + switches +
                    "'of threads that are not traced'; kill $!; wait")
                       .c_str()) != 0;
  failed += system((std::string("rm -rf ") + folder).c_str()) != 0;
  return failed != 0;
}

} // namespace

int main(int argc, char **argv) {
  if (geteuid() != 0) {
    fmt::print("control: needs root\n");
    return 0;
  }
  if (argc > 2 && !strcmp(argv[1], "switches"))
    return run_switches(argv[2]);
  if (argc > 2 && !strcmp(argv[1], "hits"))
    if (const Step *step = find_step(argv[2]))
      return run_hits(*step);
  return run_all();
}
