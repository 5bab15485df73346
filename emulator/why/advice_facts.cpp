// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/advice_facts.h"

#include "emulator/base/human.h"
#include "emulator/input/chosen_cpus.h"
#include "emulator/summary/groups.h"
#include "emulator/summary/names.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ovnitrace {

namespace {

bool is_real_time(ftrace_class of) {
  return of == FTRACE_CLASS_REAL_TIME || of == FTRACE_CLASS_DEADLINE;
}

/// Returns the class of a thread, traced or not, as it last got a CPU.
ftrace_class class_of_holder(const Explanation &why, Culprit holder, uint32_t host) {
  if (holder.kind() == Culprit::Kind::thread)
    return why.classes[holder.number()];
  const auto peer = why.peer_classes.find(uint64_t(host) << 32 | holder.number());
  return peer == why.peer_classes.end() ? FTRACE_CLASS_UNKNOWN : peer->second;
}

/// Returns whether a holder is a thread of another program, traced or not.
bool is_other(const Explanation &why, Culprit holder) {
  return holder.kind() == Culprit::Kind::thread ? !why.shown[holder.number()]
                                                : holder.kind() == Culprit::Kind::untraced;
}

/// A program that had CPUs while others waited for them, ns.
struct Other {
  uint64_t ns = 0, real_time = 0, normal = 0;           ///< by class, as far as it is known
  std::set<std::pair<uint32_t, uint32_t>> threads = {}; ///< host, tid
};

/// Adds which other program had CPUs longest, by name. Threads without a name may be of many.
void add_other(AdviceFacts &facts, const Catalog &catalog, const Explanation &why) {
  std::map<std::string, Other> others;
  for (const WaitSum &sum : why.held) {
    if (!wants_cpu(sum.kind) || !is_other(why, sum.holder))
      continue;
    const uint32_t host = catalog.threads[sum.thread].host;
    const std::string name = name_of(catalog, sum.holder, host);
    if (name.empty())
      continue;
    Other &other = others[name];
    other.ns += sum.ns;
    other.threads.emplace(host, tid_of(catalog, sum.holder));
    const ftrace_class of = class_of_holder(why, sum.holder, host);
    if (of != FTRACE_CLASS_UNKNOWN)
      (of == FTRACE_CLASS_NORMAL ? other.normal : other.real_time) += sum.ns;
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
void add_priorities(AdviceFacts &facts, const Catalog &catalog, const Explanation &why) {
  std::map<int, uint64_t> by_nice;
  for (const WaitSum &sum : why.waits) {
    const bool real_time = is_real_time(why.classes[sum.thread]);
    if (sum.kind == WaitKind::throttling)
      facts.throttled_real_time += real_time ? sum.ns : 0;
    if (!wants_cpu(sum.kind) || !is_other(why, sum.holder))
      continue;
    const ftrace_class holder = class_of_holder(why, sum.holder, catalog.threads[sum.thread].host);
    if (real_time && holder == FTRACE_CLASS_NORMAL) {
      facts.behind_lower += sum.ns;
      facts.preempted_lower += sum.kind == WaitKind::wakeup ? 0 : sum.ns;
    } else if (why.nice[sum.thread] > 0 && !is_real_time(holder)) {
      facts.as_nice += sum.ns;
      by_nice[why.nice[sum.thread]] += sum.ns;
    }
  }
  for (const auto &[nice, ns] : by_nice)
    if (!facts.nice || ns > by_nice[facts.nice])
      facts.nice = nice;
}

/// Returns the thread that ran for at least half of the time in which `thread` was preempted; kNone
/// if no thread did, or if that is not known.
uint32_t preemptor_of(uint32_t thread, const Explanation &why) {
  uint64_t all = 0;
  std::map<uint32_t, uint64_t> by_thread; // whatever its name was
  for (const WaitSum &sum : why.waits) {
    if (sum.thread != thread || sum.kind != WaitKind::preemption)
      continue;
    all += sum.ns;
    if (sum.holder.kind() == Culprit::Kind::thread)
      by_thread[sum.holder.number()] += sum.ns;
  }
  for (const auto &[preemptor, ns] : by_thread)
    if (ns * 2 >= all)
      return preemptor;
  return kNone;
}

/// Adds who preempted the thread that others waited for, and whether priorities are to blame.
void add_preemptor(AdviceFacts &facts, const Catalog &catalog, const Explanation &why) {
  const uint32_t holder = why.preempted_wakers.most, preemptor = preemptor_of(holder, why);
  if (preemptor == kNone)
    return;
  facts.preempted_by = thread_label(catalog.threads[preemptor]);
  facts.inverts_priority =
      is_real_time(why.classes[preemptor]) &&
      std::any_of(why.blocks.begin(), why.blocks.end(), [&](const BlockSum &sum) {
        return sum.waker.is_thread(holder) && is_real_time(why.classes[sum.thread]);
      });
}

} // namespace

AdviceFacts advice_facts(const TraceInfo &info, const Catalog &catalog, const Explanation &why,
                         const std::string &name) {
  AdviceFacts facts{.name = name,
                    .length = why.recorded,
                    .all_cpus = cpu_count(info, catalog),
                    .woken_by_threads = why.preempted_wakers.woken,
                    .behind_preempted = why.preempted_wakers.blocked,
                    .preempted_ns = why.preempted_wakers.most_preempted};
  if (!chose_cpus(info))
    facts.cpus = why.allowed_cpus ? std::min(why.allowed_cpus, facts.all_cpus) : facts.all_cpus;
  add_other(facts, catalog, why);
  add_priorities(facts, catalog, why);
  if (why.preempted_wakers.most != kNone) {
    facts.preempted = thread_label(catalog.threads[why.preempted_wakers.most]);
    add_preemptor(facts, catalog, why);
  }
  facts.threads = size_t(std::count(why.shown.begin(), why.shown.end(), 1));
  facts.single_threaded = facts.threads > 1 && count_processes(catalog, why.shown) == facts.threads;
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
