// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/off_cpu/off_cpu_times.h"

#include "emulator/format/call_names.h"
#include "emulator/summary/groups.h"
#include "emulator/why/blocked_at.h"
#include "emulator/why/cause_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ovnitrace {

namespace {

/// Returns until when, ns, a thread keeps the name that it has at `time`.
uint64_t name_until(const ThreadInfo &thread, uint64_t time) {
  for (const EarlierName &earlier : thread.earlier_names)
    if (time < earlier.until)
      return earlier.until;
  return UINT64_MAX;
}

} // namespace

OffCpuTimes::OffCpuTimes(const Catalog &catalog, const Stacks &stacks, OffCpuOptions options)
    : catalog_(catalog), stacks_(stacks), options_(std::move(options)),
      gate_(catalog, options_.programs), current_(catalog.threads.size()) {}

/// Rows are by process, its main thread first. A pid may be used again.
const ThreadInfo &OffCpuTimes::main_thread_of(uint32_t thread) const {
  const ThreadInfo &info = catalog_.threads[thread];
  const ThreadInfo *main = &info;
  for (uint32_t t = thread; t > 0 && main->tid != main->pid; t--) {
    const ThreadInfo &before = catalog_.threads[t - 1];
    if (before.pid != info.pid || before.host != info.host)
      break;
    if (before.tid != before.pid || before.birth <= info.birth)
      main = &before;
  }
  return *main;
}

uint32_t OffCpuTimes::owner_of(uint32_t thread, uint64_t time) {
  Current &current = current_[thread];
  if (current.owner != kNone && time < current.until)
    return current.owner;
  const ThreadInfo &info = catalog_.threads[thread], &main = main_thread_of(thread);
  Owner owner{thread, process_name(catalog_, main, time), info.name_at(time)};
  // Without a name, the number is shown instead.
  const bool alone = options_.per_thread || owner.process.empty() || owner.name.empty();
  const auto [at, added] = numbers_.try_emplace({alone ? thread : kNone, owner.process, owner.name},
                                                uint32_t(owners_.size()));
  if (added)
    owners_.push_back(std::move(owner));
  current = {at->second, std::min(name_until(info, time), name_until(main, time))};
  return current.owner;
}

void OffCpuTimes::on_slice(const Slice &slice) {
  const bool blocked = is_blocked(slice.state);
  if (gate_.is_closed(slice) || (!blocked && !is_waiting(slice.state)) || slice.length() == 0)
    return;
  const ThreadInfo &thread = catalog_.threads[slice.thread];
  const bool known = !stacks_.of_thread(thread).frames(slice.stack).empty();
  Key key = {.owner = owner_of(slice.thread, slice.start),
             .host = thread.host,
             .stack = known ? slice.stack : kNone,
             .waits = !blocked};
  if (blocked) {
    key.block = block_of(slice);
    key.block.page_fault = is_page_fault(&stacks_, thread, slice);
  } else {
    key.wait = wait_kind(slice.state, slice.reason);
  }
  Sum &sum = sums_[key];
  sum.ns += slice.length();
  sum.count++;
  (blocked ? blocked_ : waiting_) += slice.length();
  no_stack_ += blocked && !known ? slice.length() : 0;
}

std::string OffCpuTimes::cause(const Key &key) const {
  return key.waits ? wait_name(catalog_, key.wait)
                   : block_name(catalog_.hosts[key.host].machine, key.block);
}

std::string OffCpuTimes::innermost(const Key &key) const {
  if (key.waits)
    return "[waiting for a CPU]";
  if (key.stack != kNone)
    return {};
  if (ignores_call(key.block.reason))
    return fmt::format("[{}]", cause(key));
  const std::string_view call = call_name(catalog_.hosts[key.host].machine, key.block.call);
  return call.empty() ? "[blocked]" : fmt::format("[{}]", call);
}

} // namespace ovnitrace
