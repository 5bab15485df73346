// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/sentences.h"

#include "emulator/base/human.h"
#include "emulator/base/printable.h"
#include "emulator/input/chosen_cpus.h"
#include "emulator/summary/groups.h"
#include "emulator/summary/names.h"
#include "emulator/why/blocked_at.h"
#include "emulator/why/cause_names.h"
#include "emulator/why/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ovnitrace {

namespace {

/// A culprit or a call, with its time.
struct Part {
  std::string text;
  uint64_t ns = 0;
};

/// Returns whole percents: in a sentence, nobody reads more.
std::string percent(uint64_t part, uint64_t whole) {
  const std::string rounded =
      fmt::format("{:.0f}", whole ? 100.0 * double(part) / double(whole) : 0.0);
  return rounded == "0" && part ? "less than 1 %" : rounded + " %";
}

constexpr const char *kNearlyAlways = "nearly always ", *kMostly = "mostly ";

/// Returns how large a part of `whole` is, in words; empty below one half.
std::string how_often(uint64_t part, uint64_t whole) {
  const double share = double(part) / double(whole);
  return share >= 0.9 ? kNearlyAlways : share >= 0.5 ? kMostly : "";
}

/// Returns "; 25 % is not known", or nothing if that is 1 % or less.
std::string not_known(uint64_t part, uint64_t whole) {
  return part > whole / 100 ? "; " + percent(part, whole) + " is not known" : "";
}

std::string name_or_none(const std::string &name) {
  return name.empty() ? "threads without a name" : short_name(name);
}

/// Sums by text.
class Parts {
public:
  void add(const std::string &text, uint64_t ns) {
    sums_[text] += ns;
    whole_ += ns;
  }
  uint64_t whole() const { return whole_; }
  size_t count() const { return sums_.size(); }
  Part largest() const {
    Part part;
    for (const auto &[text, ns] : sums_)
      if (ns > part.ns)
        part = {text, ns};
    return part;
  }

private:
  std::map<std::string, uint64_t> sums_;
  uint64_t whole_ = 0;
};

/// Returns the largest part of a whole in words: "mostly behind xz", "most of all behind xz (34 %
/// of that)".
std::string largest_text(const Parts &parts) {
  const Part part = parts.largest();
  const std::string often = how_often(part.ns, parts.whole());
  const std::string share =
      often.empty() ? " (" + percent(part.ns, parts.whole()) + " of that)" : "";
  return (often.empty() ? "most of all " : often) + part.text + share;
}

class Sentences {
public:
  Sentences(const WhyInput &input, const Subject &subject)
      : input_(input), subject_(subject), several_(subject.programs > 1),
        counts_(input.why.threads.size()) {
    const auto sleeps = [&](uint32_t thread) { return input.why.threads[thread].hardly_ran(); };
    const bool all = std::all_of(subject.threads.begin(), subject.threads.end(), sleeps);
    for (const uint32_t thread : subject.threads) {
      if (!all && sleeps(thread)) { // as the main process of a server
        asleep_++;
        continue;
      }
      counts_[thread] = 1;
      const ThreadTime &time = input.why.threads[thread];
      sum_.running += time.running;
      sum_.waiting += time.waiting;
      sum_.spinning += time.spinning;
      sum_.blocked += time.blocked;
      sum_.unknown += time.unknown;
      sum_.outside += time.outside;
    }
  }

  std::string text() const {
    return subject_.is_machine ? machine() : life() + spins() + ' ' + blocked() + asleep();
  }

private:
  std::string machine() const {
    const TimeRange &range = input_.why.range;
    const size_t cpus = cpu_count(input_.info, input_.catalog);
    const uint64_t all = (range.to - range.from) * cpus;
    Parts by_name;
    for (const uint32_t thread : subject_.threads)
      by_name.add(name_or_none(input_.catalog.threads[thread].name),
                  input_.why.threads[thread].running);
    std::string text = fmt::format(
        "The {} busy for {} of {}", cpus == 1 ? "CPU was" : fmt::format("{} CPUs were", cpus),
        percent(sum_.running, all), human_duration(range.to - range.from));
    if (const Part most = by_name.largest(); most.ns)
      text += fmt::format(", longest with {} ({})", most.text, percent(most.ns, all));
    text += not_known(input_.why.dark, all);
    if (!lost())
      return text + ". No thread waited for a CPU.";
    return text + fmt::format(". Threads waited {} for a CPU, {}.", human_duration(lost()),
                              largest_text(holders()));
  }

  /// Returns "app (9 threads) ran for 53 % of its life and waited 20 % for a CPU, mostly behind xz
  /// (7)."
  std::string life() const {
    std::string text = fmt::format("{}{} ran for {} of {} {} and ", subject_.name, subject_.count,
                                   percent(sum_.running, sum_.life()), its(),
                                   sum_.outside ? "time in the regions of --control" : "life");
    if (!lost())
      return text + "never waited for a CPU.";
    const std::string share = percent(lost(), sum_.life());
    text += "waited " + share + " for a CPU";
    return share.starts_with("less") ? text + "." : text + ", " + largest_text(holders()) + ".";
  }

  /// Returns how long threads waited for a CPU that they could use. One that spins needed none.
  uint64_t lost() const { return sum_.waiting - sum_.spinning; }
  std::string spins() const {
    return sum_.spinning < sum_.life() / 100 || !sum_.spinning
               ? ""
               : fmt::format(
                     " {} in sched_yield: for {} of {} life, {} had yielded and had nothing "
                     "to do.",
                     several_ ? "They spin" : "It spins", percent(sum_.spinning, sum_.life()),
                     its(), several_ ? "they" : "it");
  }

  /// Returns who held the CPUs. With several programs, looks at each thread alone: one may wait
  /// behind another.
  Parts holders() const {
    Parts parts;
    for (const WaitSum &sum : several_ ? input_.why.waits : input_.why.held)
      if (sum.kind != WaitKind::spin && (!several_ || counts_[sum.thread]))
        parts.add(holder(sum), sum.ns);
    return parts;
  }
  std::string holder(const WaitSum &sum) const {
    if (sum.kind == WaitKind::throttling)
      return "because no CPU quota was left";
    if (is_throttled(sum.kind))
      return "until the next period (SCHED_DEADLINE)";
    switch (sum.holder.kind()) {
    case Culprit::Kind::thread:
      if (!subject_.is_machine && input_.why.shown[sum.holder.number()] &&
          (!several_ || same_program(sum.thread, sum.holder.number())))
        return subject_.threads.size() > 1 ? "behind " + its() + " own threads" : "behind itself";
      [[fallthrough]];
    case Culprit::Kind::untraced:
      return "behind " + name_or_none(name_of(input_.catalog, sum.holder, host_of(sum.thread)));
    case Culprit::Kind::idle:
      return "while an idle CPU woke up";
    case Culprit::Kind::unseen:
      return "while no traced thread had that CPU";
    default:
      return "behind an unknown holder";
    }
  }

  bool same_program(uint32_t a, uint32_t b) const {
    const std::vector<ThreadInfo> &threads = input_.catalog.threads;
    return threads[subject_.mains[a]].name == threads[subject_.mains[b]].name;
  }
  std::string its() const { return several_ ? "their" : "its"; }
  std::string it_was() const { return several_ ? "They were" : "It was"; }
  std::string asleep() const {
    return asleep_ ? fmt::format(" Threads that slept nearly all the time are left out: {}.",
                                 human_count(asleep_))
                   : "";
  }

  /// Returns "It was blocked for 27 %, mostly in futex, woken by loader (4711)."
  std::string blocked() const {
    const std::string unknown = not_known(sum_.unknown, sum_.life());
    if (!sum_.blocked)
      return it_was() + " never blocked" + unknown + ".";
    const std::string share = percent(sum_.blocked, sum_.life());
    if (share.starts_with("less"))
      return it_was() + " blocked for " + share + unknown + ".";
    Parts calls;
    for (const BlockSum &sum : input_.why.blocks)
      if (counts_[sum.thread])
        calls.add(block_text(sum), sum.ns);
    const Part most = calls.largest();
    const std::string text = how_often(most.ns, calls.whole()) == kNearlyAlways
                                 ? it_was() + " blocked " + most.text + " for " + share
                                 : it_was() + " blocked for " + share + ", " + largest_text(calls);
    return text + waker(most.text) + unknown + ".";
  }
  std::string block_text(const BlockSum &sum) const {
    const Block block = sum.block;
    const std::string name = block_name(input_.catalog.hosts[host_of(sum.thread)].machine, block);
    switch (block.reason) {
    case FTRACE_OFFCPU_STOPPED:
    case FTRACE_OFFCPU_TRACED:
    case FTRACE_OFFCPU_FROZEN:
    case FTRACE_OFFCPU_PARKED:
    case FTRACE_OFFCPU_IDLE:
      return "as " + name;
    default:
      break;
    }
    if (block.call == FTRACE_CALL_UNKNOWN)
      return block.reason == FTRACE_OFFCPU_DISK ? "on the disk" : "in calls that are not known";
    if (block.page_fault)
      return "in page faults" + name.substr(kPageFault.size());
    return name.starts_with("no system call") ? "outside system calls" + name.substr(14)
                                              : "in " + name;
  }
  /// Returns who woke the thread from its largest block, if that was mostly one culprit.
  std::string waker(const std::string &block) const {
    Parts all;
    std::map<std::string, Parts> threads; // by name: each thread with its tid
    Parts own;
    for (const BlockSum &sum : input_.why.blocks) {
      if (!counts_[sum.thread] || block_text(sum) != block)
        continue;
      const bool is_thread = sum.waker.kind() == Culprit::Kind::thread;
      const std::string name =
          is_thread ? name_of(input_.catalog, sum.waker, host_of(sum.thread)) : waker(sum);
      all.add(name, sum.ns);
      threads[name].add(waker(sum), sum.ns);
      own.add(is_thread && input_.why.shown[sum.waker.number()] ? "own" : "", sum.ns);
    }
    const Part most = all.largest();
    if (std::string often = how_often(most.ns, all.whole()); !often.empty()) {
      often = often == kNearlyAlways ? "" : often;
      const Parts &of_name = threads[most.text];
      const Part thread = of_name.largest();
      const std::string them = several_ ? "them" : "it";
      if (thread.text == "nobody yet") // a long wait for the next request may be one of many
        return all.count() == 1 ? ", and nobody has woken " + them : "";
      if (thread.text == "not known")
        return "; who woke " + them + " is not known";
      if (of_name.count() == 1)
        return ", " + often + "woken by " + thread.text;
      if (thread.ns * 5 >= most.ns * 4 && !how_often(thread.ns, all.whole()).empty())
        return ", " + std::string(kMostly) + "woken by " + thread.text;
      return ", " + often + "woken by " +
             fmt::format("{} ({} threads)", short_name(most.text), of_name.count());
    }
    const Part side = own.largest();
    return side.text == "own" && !how_often(side.ns, own.whole()).empty()
               ? ", mostly woken by " + its() + " own threads"
               : "";
  }
  std::string waker(const BlockSum &sum) const {
    return culprit_text(input_, sum.waker, sum.thread);
  }

  uint32_t host_of(uint32_t thread) const { return input_.catalog.threads[thread].host; }

  const WhyInput &input_;
  const Subject &subject_;
  const bool several_;          ///< programs
  std::vector<uint8_t> counts_; ///< by thread, 1: the sentences are about it
  size_t asleep_ = 0;           ///< threads that slept nearly all the time
  ThreadTime sum_;
};

/// Returns what to say of a trace without a thread.
std::string no_thread(const Catalog &catalog) {
  std::string chains;
  for (const HostInfo &host : catalog.hosts)
    for (const std::string &chain : host.chains)
      chains += (chains.empty() ? "" : ", ") + printable_line(chain);
  return chains.empty()
             ? "No thread was recorded."
             : "No region of --control started, so nothing was recorded: " + chains + ".";
}

struct Other {
  Part part;
  ftrace_class mostly = FTRACE_CLASS_UNKNOWN; ///< at least half of the time
};

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

/// Returns the other program that had CPUs longest, by name.
Other largest_other(const Catalog &catalog, const Explanation &why) {
  Parts parts;
  std::map<std::string, uint64_t> real_time, normal;
  std::map<std::string, std::set<std::pair<uint32_t, uint32_t>>> tids; // host, tid
  for (const WaitSum &sum : why.held) {
    // No CPU would have helped, whatever ran there.
    if (is_throttled(sum.kind) || sum.kind == WaitKind::spin)
      continue;
    const uint32_t host = catalog.threads[sum.thread].host;
    const bool traced = sum.holder.kind() == Culprit::Kind::thread;
    if (traced ? why.shown[sum.holder.number()] : sum.holder.kind() != Culprit::Kind::untraced)
      continue;
    const std::string name = name_of(catalog, sum.holder, host);
    parts.add(name, sum.ns);
    const ftrace_class of = class_of_holder(why, sum.holder, host);
    if (of != FTRACE_CLASS_UNKNOWN)
      (of == FTRACE_CLASS_NORMAL ? normal : real_time)[name] += sum.ns;
    tids[name].emplace(host,
                       traced ? catalog.threads[sum.holder.number()].tid : sum.holder.number());
  }
  Part part = parts.largest();
  const ftrace_class mostly = !part.ns                              ? FTRACE_CLASS_UNKNOWN
                              : real_time[part.text] * 2 >= part.ns ? FTRACE_CLASS_REAL_TIME
                              : normal[part.text] * 2 >= part.ns    ? FTRACE_CLASS_NORMAL
                                                                    : FTRACE_CLASS_UNKNOWN;
  part.text = tids[part.text].size() == 1 ? name_and_number(short_name(part.text), "thread",
                                                            tids[part.text].begin()->second)
                                          : name_or_none(part.text);
  return {part, mostly};
}

/// Adds how long threads waited that the kernel puts before or behind the threads that ran.
void add_priorities(AdviceFacts &facts, const Catalog &catalog, const Explanation &why) {
  std::map<int, uint64_t> by_nice;
  for (const WaitSum &sum : why.waits) {
    const bool real_time = is_real_time(why.classes[sum.thread]);
    if (sum.kind == WaitKind::throttling)
      facts.throttled_real_time += real_time ? sum.ns : 0;
    const bool traced = sum.holder.kind() == Culprit::Kind::thread;
    if (is_throttled(sum.kind) || sum.kind == WaitKind::spin ||
        (traced ? why.shown[sum.holder.number()] : sum.holder.kind() != Culprit::Kind::untraced))
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
  const Other other = largest_other(catalog, why);
  AdviceFacts facts{.name = name,
                    .length = why.recorded,
                    .all_cpus = cpu_count(info, catalog),
                    .behind_other = other.part.ns,
                    .other = other.part.text,
                    .other_class = other.mostly,
                    .woken_by_threads = why.preempted_wakers.woken,
                    .behind_preempted = why.preempted_wakers.blocked,
                    .preempted_ns = why.preempted_wakers.most_preempted};
  if (!chose_cpus(info))
    facts.cpus = why.allowed_cpus ? std::min(why.allowed_cpus, facts.all_cpus) : facts.all_cpus;
  add_priorities(facts, catalog, why);
  if (why.preempted_wakers.most != kNone) {
    facts.preempted = thread_label(catalog.threads[why.preempted_wakers.most]);
    add_preemptor(facts, catalog, why);
  }
  facts.threads = size_t(std::count(why.shown.begin(), why.shown.end(), 1));
  facts.single_threaded = facts.threads > 1 && count_processes(catalog, why.shown) == facts.threads;
  for (const ThreadTime &time : why.threads) {
    facts.running += time.running;
    facts.waiting += time.waiting - time.spinning;
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

Answer answer_of(const TraceInfo &info, const Catalog &catalog, const Explanation &why,
                 const std::string &command) {
  NoDiagnostics silent;
  const Stacks none(Catalog(), silent); // sentences name no functions
  const std::string path;
  const WhyInput input{path, info, catalog, none, why};
  const Subject subject = subject_of(info, catalog, why);
  if (subject.threads.empty())
    return {no_thread(catalog), {}};
  Answer answer{.sentences = Sentences(input, subject).text()};
  if (!subject.is_machine) { // nobody owns all programs of a machine
    AdviceFacts facts = advice_facts(info, catalog, why, subject.name);
    facts.command = command;
    answer.advice = advice(facts);
  }
  return answer;
}

} // namespace ovnitrace
