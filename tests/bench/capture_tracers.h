// SPDX-License-Identifier: BSD-2-Clause
// The loads and the tracers of capture_bench.
#pragma once

#include "tests/bench/bare_tracers.h"
#include "tests/bench/shell_run.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

struct Load {
  std::string name, command;
  double switches; ///< that it makes in all
};

/// A, a pipe ping-pong on one CPU; B, one on each CPU at once; C, 250 of them, so that 500 threads
/// want the CPUs.
inline std::vector<Load> bench_loads() {
  constexpr int kTrips = 100'000, kPairs = 250;
  const std::string pingpong = "build/tests/programs/pingpong --cpus";
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  const auto together = [&](int pairs, int trips) {
    std::string all;
    for (int pair = 0; pair < pairs; pair++)
      all += fmt::format("{} {} {} & ", pingpong, pair % cpus, trips);
    return "sh -c '" + all + " wait'";
  };
  return {{"A: one CPU", fmt::format("{} {} {}", pingpong, cpus - 1, kTrips), 2.0 * kTrips},
          {"B: every CPU", together(int(cpus), kTrips), 2.0 * kTrips * double(cpus)},
          {"C: 500 threads", together(kPairs, kTrips / 100), 2.0 * kTrips / 100 * kPairs}};
}

/// The costs in one run. NAN means not known.
struct Sample {
  double cpu_ns = NAN;    ///< of the load, a switch
  double bytes = NAN;     ///< written, a switch
  double reader_ns = NAN; ///< CPU time of the tracer itself, a switch
  double lost = NAN;      ///< records
  double peak_mib = NAN;  ///< of the tracer's largest process
};

/// CPU time and not wall time, because other load on a shared machine disturbs it less; on a
/// machine of one's own they are the same here. The mean of the copies of the load.
inline double cpu_ns_of(const std::string &printed) {
  const std::string key = " cpu_ns_per_roundtrip=";
  double sum = 0;
  int found = 0;
  for (size_t at = 0; (at = printed.find(key, at)) != std::string::npos; found++)
    sum += atof(printed.c_str() + (at += key.size()));
  return found ? sum / found / 2 : NAN;
}

struct Tracer {
  std::string name;
  std::function<Sample(const Load &)> run;
};

inline Sample run_plain(const Load &load) {
  return {.cpu_ns = cpu_ns_of(run_shell(load.command).printed)};
}

inline Sample run_bare(BareTracer::Kind kind, const std::string &file, const Load &load) {
  BareTracer tracer(kind, file);
  Sample sample = run_plain(load);
  tracer.stop();
  if (kind == BareTracer::Kind::ring || kind == BareTracer::Kind::mapped) {
    sample.bytes = double(std::filesystem::file_size(file)) / load.switches;
    sample.reader_ns = double(tracer.reader_cpu_ns()) / load.switches;
    sample.lost = double(tracer.lost());
  }
  std::filesystem::remove(file);
  return sample;
}

inline Sample run_ovnitrace(const std::string &options, const std::string &trace,
                            const Load &load) {
  const ShellRun run = run_shell(
      fmt::format("build/ovnitrace record -q -f {} -o {} -- {}", options, trace, load.command));
  uint64_t bytes = 0;
  for (const auto &entry : std::filesystem::directory_iterator(trace))
    if (entry.path().extension() == ".ftr" || entry.path().extension() == ".zst")
      bytes += entry.file_size();
  const nlohmann::json json = nlohmann::json::parse(std::ifstream(trace + "/trace.json"));
  return {.cpu_ns = cpu_ns_of(run.printed),
          .bytes = double(bytes) / load.switches,
          .reader_ns = json.at("tracer_cpu_ns").get<double>() / load.switches,
          .lost = json.at("lost").get<double>(),
          .peak_mib = double(run.peak_bytes) / (1 << 20)};
}

/// perf and trace-cmd say in words what they lost: the number is not looked for here.
inline Sample run_peer(const std::string &tracer, const std::string &file, const Load &load) {
  const ShellRun run = run_shell(tracer + " " + load.command);
  Sample sample = {.cpu_ns = cpu_ns_of(run.printed),
                   .peak_mib = double(run.peak_bytes) / (1 << 20)};
  if (std::filesystem::exists(file))
    sample.bytes = double(std::filesystem::file_size(file)) / load.switches;
  std::filesystem::remove(file);
  return sample;
}

/// The floor first. Those that are not installed are not among them.
inline std::vector<Tracer> bench_tracers(const std::string &scratch) {
  using Kind = BareTracer::Kind;
  const auto bare = [&](Kind kind) {
    return [=](const Load &load) { return run_bare(kind, scratch + "/bare", load); };
  };
  const auto ours = [&](const std::string &options) {
    return [=](const Load &load) { return run_ovnitrace(options, scratch + "/trace", load); };
  };
  std::vector<Tracer> list = {{"empty programs", bare(Kind::empty)},
                              {"bare mapped rings", bare(Kind::mapped)},
                              {"bare BPF rings", bare(Kind::ring)},
                              {"ovnitrace -- PROGRAM", ours("")},
                              {"ovnitrace --compress=0", ours("--compress=0")},
                              {"ovnitrace --stacks=kernel", ours("--stacks=kernel")},
                              {"ovnitrace --stacks", ours("--stacks")}};
  const auto add_peer = [&](const std::string &name, const std::string &options) {
    const std::string program = name.substr(0, name.find(' '));
    const std::string file = scratch + "/" + program + ".data";
    if (system(("command -v " + program + " >/dev/null 2>&1").c_str()) != 0)
      return;
    const std::string command = program + " " + options + " -o " + file + " --";
    list.push_back({name, [=](const Load &load) { return run_peer(command, file, load); }});
  };
  add_peer("perf sched record", "sched record");
  add_peer("perf --call-graph fp", "record -q -e sched:sched_switch --call-graph fp");
  add_peer("perf --call-graph dwarf", "record -q -e sched:sched_switch --call-graph dwarf");
  add_peer("trace-cmd record", "record -q -e sched_switch -e sched_waking");
  return list;
}
