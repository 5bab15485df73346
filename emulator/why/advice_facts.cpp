// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/advice_facts.h"

#include "emulator/base/human.h"
#include "emulator/format/cgroup_names.h"
#include "emulator/input/chosen_cpus.h"
#include "emulator/summary/groups.h"
#include "emulator/summary/names.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ovnitrace {

namespace {

/// A program that had CPUs while others waited for them, ns.
struct Other {
  uint64_t ns = 0, real_time = 0, normal = 0;           ///< by class, as far as it is known
  std::set<std::pair<uint32_t, uint32_t>> threads = {}; ///< host, tid
};

/// Adds which other program had CPUs longest, by name. Threads without a name may be of many. A
/// kernel thread is no program: it can neither be moved nor slowed down.
void add_other(AdviceFacts &facts, const Catalog &catalog, const Explanation &why) {
  std::map<std::string, Other> others;
  for (const WaitSum &sum : why.held) {
    if (!wants_cpu(sum.kind) || !is_of_other_program(sum.holder, why.shown))
      continue;
    const uint32_t host = catalog.threads[sum.thread].host;
    const std::string name = name_of(catalog, sum.holder, host);
    if (name.empty() || group_of(catalog, sum.holder, host, why.range.to) == kKernelGroup)
      continue;
    Other &other = others[name];
    other.ns += sum.ns;
    other.threads.emplace(host, tid_of(catalog, sum.holder));
  }
  for (const PriorityWaits::Holder &of : why.priorities.holders)
    if (const auto found = others.find(name_of(catalog, of.culprit, of.host));
        found != others.end()) {
      found->second.normal += of.normal;
      found->second.real_time += of.real_time;
    }
  for (const auto &[name, other] : others)
    if (other.ns > facts.behind_other) {
      facts.behind_other = other.ns;
      facts.other = other.threads.size() == 1
                        ? name_and_number(short_name(name), "thread", other.threads.begin()->second)
                        : short_name(name);
      facts.other_class = other.real_time * 2 >= other.ns ? FTRACE_CLASS_REAL_TIME
                          : other.normal * 2 >= other.ns  ? FTRACE_CLASS_NORMAL
                                                          : FTRACE_CLASS_UNKNOWN;
    }
}

/// Adds how long threads waited that the kernel puts before or behind the threads that ran.
void add_priorities(AdviceFacts &facts, const PriorityWaits &waits) {
  facts.behind_lower = waits.behind_lower;
  facts.preempted_lower = waits.preempted_lower;
  facts.throttled_real_time = waits.throttled_real_time;
  for (size_t nice = 1; nice < waits.as_nice.size(); nice++) {
    facts.as_nice += waits.as_nice[nice];
    if (waits.as_nice[nice] > waits.as_nice[size_t(facts.nice)])
      facts.nice = int(nice);
  }
}

} // namespace

AdviceFacts advice_facts(const TraceInfo &info, const Catalog &catalog, const Explanation &why,
                         const std::string &name) {
  AdviceFacts facts{.name = name,
                    .length = why.recorded,
                    .all_cpus = cpu_count(catalog),
                    .woken_by_threads = why.preempted_wakers.woken,
                    .behind_preempted = why.preempted_wakers.blocked,
                    .preempted_ns = why.preempted_wakers.most_preempted};
  if (!chose_cpus(info))
    facts.cpus = why.allowed_cpus ? std::min(why.allowed_cpus, facts.all_cpus) : facts.all_cpus;
  add_other(facts, catalog, why);
  add_priorities(facts, why.priorities);
  if (why.preempted_wakers.most != kNone)
    facts.preempted = thread_label(catalog.threads[why.preempted_wakers.most]);
  if (why.preempted_wakers.by != kNone)
    facts.preempted_by = thread_label(catalog.threads[why.preempted_wakers.by]);
  facts.inverts_priority = why.preempted_wakers.inverts;
  const auto shown = size_t(std::count(why.shown.begin(), why.shown.end(), 1));
  facts.single_threaded = shown > 1 && count_processes(catalog, why.shown) == shown;
  facts.threads =
      size_t(std::count_if(why.threads.begin(), why.threads.end(),
                           [](const auto &time) { return time.life() && !time.hardly_ran(); }));
  for (const ThreadTime &time : why.threads) {
    facts.running += time.running;
    facts.waiting += time.lost();
    facts.idle_forbidden += time.idle_forbidden;
    facts.blocked += time.hardly_ran() ? 0 : time.blocked;
  }
  for (const BlockSum &sum : why.blocks)
    if (sum.waker.kind() == Culprit::Kind::thread && why.shown[sum.waker.number()] &&
        !why.threads[sum.thread].hardly_ran())
      facts.woken_by_own += sum.ns;
  for (const WaitSum &sum : why.held)
    if (sum.kind == WaitKind::throttling)
      facts.throttled += sum.ns;
    else if (is_throttled(sum.kind)) // it wants no CPU before its next period
      facts.waiting -= std::min(facts.waiting, sum.ns);
    else if (sum.kind != WaitKind::spin && sum.holder.kind() == Culprit::Kind::thread &&
             why.shown[sum.holder.number()])
      facts.behind_own += sum.ns;
  return facts;
}

} // namespace ovnitrace
