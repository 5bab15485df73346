// SPDX-License-Identifier: BSD-2-Clause
// capture_bench [--seconds N] [--json]: what capturing costs, beside a floor of empty programs,
// bare tracers and the peers that are installed. Needs root.
//
// Two measures. The kernel's own statistics of BPF programs, ns a run above an empty program: they
// hardly vary, so these figures count. And the CPU time that a load takes more, in pairs with plain
// runs before and after: with the median goes the interval that holds it with 95 %. Runs during
// which the host took CPU time from this machine are repeated. A load is measured until the
// interval of ovnitrace is below a tenth of what bare BPF rings cost, or for N seconds.
#include "tests/bench/capture_tracers.h"
#include "tests/bench/interval.h"
#include "tests/bench/program_stats.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <numeric>
#include <random>
#include <string_view>

namespace {

constexpr std::array kTracepoints = {"switch", "waking", "wakeup"};
constexpr size_t kFewest = 6;        // runs, for an interval of 95 %
constexpr double kMostStolen = 0.01; // of the time of a run
constexpr int kStatisticsRuns = 3;

using Json = nlohmann::ordered_json;

double seconds_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return double(now.tv_sec) + double(now.tv_nsec) / 1e9;
}

std::string cell(double value, const char *format = "{:.0f}") {
  return std::isnan(value) ? "-" : fmt::format(fmt::runtime(format), value);
}

// ---- the kernel's statistics --------------------------------------------------------------------

/// ns a run, by tracepoint; and of all of them, a switch of the load.
using ProgramCost = std::map<std::string, double>;

ProgramCost program_cost(const Tracer &tracer, const Load &load) {
  std::map<std::string, std::vector<double>> runs;
  for (int run = 0; run < kStatisticsRuns; run++) {
    ProgramStats stats;
    tracer.run(load);
    for (const auto &[tracepoint, time] : stats.times())
      runs[tracepoint].push_back(time.each());
  }
  ProgramCost cost;
  for (auto &[tracepoint, values] : runs)
    cost[tracepoint] = *std::min_element(values.begin(), values.end());
  return cost;
}

/// Those that have BPF programs, above the floor, which is the first.
void measure_programs(const std::vector<Tracer> &tracers, const Load &load, bool quiet, Json &out) {
  if (!quiet)
    fmt::print("{}: BPF programs, ns a run above an empty one (the kernel's statistics)\n"
               "  {:<24} {:>8} {:>8} {:>8}\n",
               load.name, "", "switch", "waking", "wakeup");
  ProgramCost floor;
  for (const Tracer &tracer : tracers) {
    const ProgramCost cost = program_cost(tracer, load);
    if (cost.empty())
      continue;
    if (floor.empty())
      floor = cost;
    std::string cells;
    for (const char *tracepoint : kTracepoints) {
      const auto found = cost.find(tracepoint);
      const bool is_floor = &tracer == &tracers.front();
      const double ns =
          found == cost.end() ? NAN : found->second - (is_floor ? 0 : floor[tracepoint]);
      cells += fmt::format(" {:>8}", cell(ns));
      if (!std::isnan(ns))
        out[tracer.name][std::string("program_ns_") + tracepoint] = ns;
    }
    if (!quiet)
      fmt::print("  {:<24}{}{}\n", tracer.name, cells,
                 &tracer == &tracers.front() ? "  (itself)" : "");
  }
}

// ---- the load's CPU time ------------------------------------------------------------------------

/// Runs, and says whether the host left the machine alone meanwhile.
bool run_undisturbed(const std::function<Sample(const Load &)> &run, const Load &load,
                     Sample &sample) {
  const double start = seconds_now(), stolen = stolen_seconds();
  sample = run(load);
  const double cpus = double(sysconf(_SC_NPROCESSORS_ONLN));
  return stolen_seconds() - stolen <= kMostStolen * cpus * (seconds_now() - start);
}

struct Measured {
  std::vector<double> added; ///< ns a switch
  std::vector<Sample> samples;
  Interval interval() const { return interval_of(added); }
};

double median_of(const std::vector<Sample> &samples, double Sample::*field) {
  std::vector<double> values;
  for (const Sample &sample : samples)
    if (!std::isnan(sample.*field))
      values.push_back(sample.*field);
  return interval_of(values).median;
}

/// How close the figure of ovnitrace has to be known, ns a switch.
double wanted_half_width(const std::vector<Tracer> &tracers,
                         const std::vector<Measured> &measured) {
  for (size_t n = 0; n < tracers.size(); n++)
    if (tracers[n].name == "bare BPF rings")
      return measured[n].interval().median / 10;
  return 0;
}

void measure_load(const std::vector<Tracer> &tracers, const Load &load, double seconds, bool quiet,
                  Json &out) {
  std::mt19937 random(1);
  std::vector<size_t> order(tracers.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::vector<Measured> measured(tracers.size());
  std::vector<double> plain;
  size_t repeated = 0;
  const double until = seconds_now() + seconds;
  const auto enough = [&] {
    const Interval ours = measured[3].interval();
    return ours.count >= kFewest && ours.half_width() < wanted_half_width(tracers, measured);
  };
  for (bool done = false; !done; done = enough() || seconds_now() > until) {
    std::shuffle(order.begin(), order.end(), random);
    Sample before, after;
    bool quiet_before = run_undisturbed(run_plain, load, before);
    for (size_t n : order) {
      Sample traced;
      const bool quiet_traced = run_undisturbed(tracers[n].run, load, traced);
      const bool quiet_after = run_undisturbed(run_plain, load, after);
      if (std::isnan(traced.cpu_ns))
        continue; // the tracer does not run here
      if (quiet_before && quiet_traced && quiet_after) {
        measured[n].added.push_back(traced.cpu_ns - (before.cpu_ns + after.cpu_ns) / 2);
        measured[n].samples.push_back(traced);
        plain.push_back(before.cpu_ns);
      } else {
        repeated++;
      }
      before = after;
      quiet_before = quiet_after;
    }
  }
  const double plain_ns = interval_of(plain).median;
  out["plain_ns"] = plain_ns;
  out["disturbed"] = repeated;
  if (!quiet)
    fmt::print("{}: {} ns a switch when nothing traces; {} runs were disturbed and left out\n"
               "  {:<24} {:>24} {:>5} {:>7} {:>13} {:>13} {:>9} {:>8}\n",
               load.name, cell(plain_ns), repeated, "", "ns added (95 % interval)", "runs", "ratio",
               "bytes/switch", "tracer ns/sw", "peak MiB", "lost");
  for (size_t n = 0; n < tracers.size(); n++) {
    const Interval added = measured[n].interval();
    const auto of = [&](double Sample::*field) { return median_of(measured[n].samples, field); };
    Json &row = out[tracers[n].name];
    row["added_ns"] = {added.median, added.low, added.high};
    row["runs"] = added.count;
    row["bytes"] = of(&Sample::bytes);
    row["tracer_ns"] = of(&Sample::reader_ns);
    row["peak_mib"] = of(&Sample::peak_mib);
    row["lost"] = of(&Sample::lost);
    if (quiet)
      continue;
    if (!added.count)
      fmt::print("  {:<24} was not measured\n", tracers[n].name);
    else
      fmt::print("  {:<24} {:>8} ({:>5} to {:>5}) {:>5} {:>7} {:>13} {:>13} {:>9} {:>8}\n",
                 tracers[n].name, cell(added.median), cell(added.low), cell(added.high),
                 added.count, cell(1 + added.median / plain_ns, "{:.3f}"), cell(of(&Sample::bytes)),
                 cell(of(&Sample::reader_ns)), cell(of(&Sample::peak_mib)),
                 cell(of(&Sample::lost)));
  }
}

} // namespace

int main(int argc, char **argv) {
  double seconds = 120;
  bool json = false;
  for (int n = 1; n < argc; n++) {
    if (std::string_view(argv[n]) == "--json")
      json = true;
    else if (std::string_view(argv[n]) == "--seconds" && n + 1 < argc)
      seconds = atof(argv[++n]);
  }
  if (geteuid() != 0) {
    fmt::print(stderr, "capture_bench: needs root\n");
    return 1;
  }
  std::string scratch =
      (std::filesystem::temp_directory_path() / "ovnitrace-bench-XXXXXX").string();
  if (!mkdtemp(scratch.data()))
    return perror("capture_bench: mkdtemp"), 1;
  const std::vector<Tracer> tracers = bench_tracers(scratch);
  Json all;
  for (const Load &load : bench_loads()) {
    measure_programs(tracers, load, json, all[load.name]);
    measure_load(tracers, load, seconds, json, all[load.name]);
  }
  if (json)
    fmt::print("{}\n", all.dump(2));
  std::filesystem::remove_all(scratch);
}
