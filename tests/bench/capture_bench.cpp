// SPDX-License-Identifier: BSD-2-Clause
// What capturing costs: ns added to a context switch, beside an empty-program floor, bare rings and
// the peers that are installed. Needs root.
//
// Loads: A, a pipe ping-pong on one CPU; B, one on each CPU at once. Each round runs the load plain
// and then under each tracer, in turn, so that the drift of a shared machine falls on all alike;
// the figure is the median over the rounds of (traced - plain) / switches of the same round.
#include "tests/bench/bare_ring.h"

#include <fmt/core.h>
#include <linux/bpf.h>
#include <nlohmann/json.hpp>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

constexpr int kTrips = 150'000; // 300,000 switches: about a second
constexpr int kSwitchesPerTrip = 2;

/// Runs a shell command and returns what it printed.
std::string output_of(const std::string &command) {
  FILE *stream = popen((command + " 2>/dev/null").c_str(), "r");
  std::string text;
  char block[4096];
  while (size_t got = fread(block, 1, sizeof(block), stream))
    text.append(block, got);
  pclose(stream);
  return text;
}

bool installed(const std::string &command) {
  return system(("command -v " + command + " >/dev/null 2>&1").c_str()) == 0;
}

struct Load {
  const char *name;
  std::string command;
  int copies;
};

std::vector<Load> loads(const std::string &pingpong) {
  long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  std::string all;
  for (long cpu = 0; cpu < cpus; cpu++)
    all += fmt::format("{} --cpus {} {} & ", pingpong, cpu, kTrips);
  return {{"A: one CPU", fmt::format("{} --cpus {} {}", pingpong, cpus - 1, kTrips), 1},
          {"B: every CPU", fmt::format("sh -c '{} wait'", all), int(cpus)}};
}

/// CPU time per switch in ns, the mean of the copies of the load. CPU time and not wall time,
/// because other load on a shared machine disturbs it less; on a machine of one's own they are the
/// same here.
double ns_per_switch(const std::string &printed) {
  const std::string key = " cpu_ns_per_roundtrip=";
  double sum = 0;
  int found = 0;
  for (size_t at = 0; (at = printed.find(key, at)) != std::string::npos; found++)
    sum += atof(printed.c_str() + (at += key.size()));
  return found ? sum / found / kSwitchesPerTrip : 0;
}

// ---- the floor: programs that do nothing, on the same three tracepoints
// --------------------------

class EmptyPrograms {
public:
  void attach() {
    const bpf_insn nothing[] = {{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0},
                                {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
    bpf_attr load = {};
    load.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
    load.insns = reinterpret_cast<uint64_t>(nothing);
    load.insn_cnt = 2;
    load.license = reinterpret_cast<uint64_t>("GPL");
    for (const char *tracepoint : {"sched_switch", "sched_waking", "sched_wakeup"}) {
      int program = int(syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof(load)));
      bpf_attr open = {};
      open.raw_tracepoint.name = reinterpret_cast<uint64_t>(tracepoint);
      open.raw_tracepoint.prog_fd = uint32_t(program);
      fds_.push_back(program);
      fds_.push_back(int(syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &open, sizeof(open))));
      if (fds_.back() < 0) {
        perror("capture_bench: the floor's programs");
        exit(1);
      }
    }
  }
  void detach() {
    for (int fd : fds_)
      close(fd);
    fds_.clear();
  }

private:
  std::vector<int> fds_;
};

// ---- tracers ------------------------------------------------------------------------------------

struct Sample {
  double added = 0;   // ns per switch
  double bytes = -1;  // per switch
  double reader = -1; // CPU ns per switch of the tracer's own process
  double lost = -1;
};

struct Tracer {
  const char *name;
  std::function<Sample(const Load &)> run;
};

uint64_t bytes_in(const fs::path &path) {
  uint64_t sum = 0;
  if (fs::is_regular_file(path))
    return fs::file_size(path);
  for (const auto &entry : fs::directory_iterator(path))
    if (entry.path().extension() == ".ftr")
      sum += entry.file_size();
  return sum;
}

Sample run_bare_ring(const fs::path &file, const Load &load) {
  BareRing tracer(file);
  Sample sample;
  sample.added = ns_per_switch(output_of(load.command));
  tracer.stop();
  double switches = double(kTrips) * kSwitchesPerTrip * load.copies;
  sample.bytes = double(fs::file_size(file)) / switches;
  sample.reader = double(tracer.reader_cpu_ns()) / switches;
  sample.lost = double(tracer.lost());
  fs::remove(file);
  return sample;
}

Sample run_ovnitrace(const std::string &options, const fs::path &scratch, const Load &load) {
  fs::path trace = scratch / "ovnitrace";
  Sample sample;
  sample.added = ns_per_switch(output_of(fmt::format("build/ovnitrace record -q -f {} -o {} -- {}",
                                                     options, trace.string(), load.command)));
  nlohmann::json json = nlohmann::json::parse(std::ifstream(trace / "trace.json"));
  double switches = double(kTrips) * kSwitchesPerTrip * load.copies;
  sample.bytes = double(bytes_in(trace)) / switches;
  sample.reader = json.at("tracer_cpu_ns").get<double>() / switches;
  sample.lost = json.at("lost").get<double>();
  return sample;
}

/// perf and trace-cmd print what they lost in words; the number is not asked for here.
Sample run_peer(const std::string &tracer, const fs::path &file, const Load &load) {
  Sample sample;
  sample.added = ns_per_switch(output_of(fmt::format("{} {}", tracer, load.command)));
  if (fs::exists(file))
    sample.bytes = double(bytes_in(file)) / (double(kTrips) * kSwitchesPerTrip * load.copies);
  fs::remove(file);
  return sample;
}

std::vector<Tracer> tracers(const fs::path &scratch, EmptyPrograms &empty) {
  std::vector<Tracer> list = {
      {"empty programs (floor)",
       [&](const Load &load) {
         empty.attach();
         Sample sample = {ns_per_switch(output_of(load.command)), -1, -1, -1};
         empty.detach();
         return sample;
       }},
      {"bare rings", [=](const Load &load) { return run_bare_ring(scratch / "bare", load); }},
      {"ovnitrace -- PROGRAM", [=](const Load &load) { return run_ovnitrace("", scratch, load); }},
  };
  fs::path perf = scratch / "perf.data", trace_cmd = scratch / "trace.dat";
  if (installed("perf"))
    list.push_back({"perf sched record", [=](const Load &load) {
                      return run_peer("perf sched record -o " + perf.string() + " --", perf, load);
                    }});
  if (installed("trace-cmd"))
    list.push_back({"trace-cmd record", [=](const Load &load) {
                      return run_peer("trace-cmd record -q -e sched_switch -e sched_waking -o " +
                                          trace_cmd.string(),
                                      trace_cmd, load);
                    }});
  return list;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

std::string cell(double value) {
  return value < 0 ? "-" : fmt::format("{:.0f}", value);
}

void measure(const Load &load, const std::vector<Tracer> &list, int rounds) {
  std::vector<double> plain;
  std::vector<std::vector<Sample>> samples(list.size());
  for (int round = 0; round < rounds; round++) {
    plain.push_back(ns_per_switch(output_of(load.command)));
    for (size_t n = 0; n < list.size(); n++) {
      Sample sample = list[n].run(load);
      if (sample.added <= 0)
        continue; // the tracer could not run: the load printed nothing
      sample.added -= plain.back();
      samples[n].push_back(sample);
    }
  }
  fmt::print("{}: plain {:.0f} ns per switch (median of {} rounds)\n", load.name, median(plain),
             rounds);
  fmt::print("  {:<24} {:>14} {:>8} {:>13} {:>13} {:>8}\n", "", "added ns/sw", "ratio",
             "bytes/switch", "tracer ns/sw", "lost");
  for (size_t n = 0; n < list.size(); n++) {
    if (samples[n].empty()) {
      fmt::print("  {:<24} does not run here\n", list[n].name);
      continue;
    }
    auto column = [&](double Sample::*field) {
      std::vector<double> values;
      for (const Sample &sample : samples[n])
        values.push_back(sample.*field);
      return median(values);
    };
    double added = column(&Sample::added);
    fmt::print("  {:<24} {:>14.0f} {:>8.3f} {:>13} {:>13} {:>8}\n", list[n].name, added,
               1 + added / median(plain), cell(column(&Sample::bytes)),
               cell(column(&Sample::reader)), cell(column(&Sample::lost)));
  }
}

} // namespace

int main(int argc, char **argv) {
  if (geteuid() != 0) {
    fmt::print(stderr, "capture_bench: needs root\n");
    return 1;
  }
  int rounds = argc > 1 ? std::max(1, atoi(argv[1])) : 5;
  std::string scratch = (fs::temp_directory_path() / "ovnitrace-bench-XXXXXX").string();
  if (!mkdtemp(scratch.data()))
    return perror("capture_bench: mkdtemp"), 1;
  EmptyPrograms empty;
  std::vector<Tracer> list = tracers(scratch, empty);
  for (const Load &load : loads("build/tests/programs/pingpong"))
    measure(load, list, rounds);
  fs::remove_all(scratch);
}
