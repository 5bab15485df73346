// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/slices/spin_watch.h"

#include <algorithm>
#include <bit>

namespace ovnitrace {

namespace {

/// Returns the limit of runs between two yields, by the CPUs of the host. The kernel may let
/// sched_yield() return to its caller for a slice, even if another thread wants the CPU. By
/// default, slices are 0.75 ms and grow with the CPUs in these steps.
uint64_t longest_spin(uint64_t cpus) {
  constexpr uint64_t kStep = 1'000'000, kLastStep = 8; // ns, CPUs
  return kStep * uint64_t(std::bit_width(std::clamp<uint64_t>(cpus, 1, kLastStep)));
}

} // namespace

SpinWatch::SpinWatch(const Catalog &catalog) : threads_(catalog.threads.size()) {
  std::vector<uint64_t> cpus(catalog.hosts.size()); // by host
  for (const CpuInfo &cpu : catalog.cpus)
    cpus[cpu.host]++;
  for (size_t t = 0; t < threads_.size(); t++)
    threads_[t].limit = longest_spin(cpus[catalog.threads[t].host]);
}

void SpinWatch::change(uint32_t thread, const StateChange &change, uint64_t time, bool yields) {
  State &state = threads_[thread];
  if (change.from == change.to) // it is put on another CPU
    return;
  if (change.to == ThreadState::Running) {
    state.running_since = time;
    return;
  }
  if (change.to != ThreadState::Cooling) {
    state.yielded = state.spins = false;
    return;
  }
  if (change.from == ThreadState::Running)
    state.ran += time - state.running_since;
  if (!yields)
    return;
  state.spins = state.yielded && state.ran < state.limit;
  state.has_spun |= state.spins;
  if (!state.spins)
    state.since = time;
  state.yielded = true;
  state.ran = 0;
}

} // namespace ovnitrace
