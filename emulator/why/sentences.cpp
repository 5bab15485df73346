// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/sentences.h"

#include "emulator/base/human.h"
#include "emulator/base/printable.h"
#include "emulator/summary/groups.h"
#include "emulator/summary/names.h"
#include "emulator/why/advice_facts.h"
#include "emulator/why/blocked_at.h"
#include "emulator/why/cause_names.h"
#include "emulator/why/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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
    const bool all =
        std::all_of(subject.threads.begin(), subject.threads.end(), [&](uint32_t thread) {
          return !input.why.threads[thread].life() || sleeps(thread);
        });
    for (const uint32_t thread : subject.threads) {
      if (!all && sleeps(thread)) { // as the main process of a server
        asleep_++;
        continue;
      }
      counts_[thread] = 1;
      const ThreadTime &time = input.why.threads[thread];
      sum_.add(time);
      sum_.outside += time.outside;
      sum_.gate += time.gate + time.start_waits;
    }
  }

  std::string text() const {
    const bool says_dark = subject_.is_machine && input_.why.dark;
    if (sum_.unknown == sum_.life() && !says_dark)
      return nothing_known();
    return subject_.is_machine ? machine() : life() + spins() + ' ' + blocked() + asleep();
  }

private:
  /// Returns what to say if no state of any thread is known.
  std::string nothing_known() const {
    if (sum_.life())
      return fmt::format("It is not known when {}{} ran, waited for a CPU or {} blocked.",
                         subject_.name, subject_.count, several_ ? "were" : "was");
    return sum_.outside
               ? "No region of --control was open for these threads in this part of the trace."
           : sum_.gate ? "The program had not started in this part of the trace."
                       : "None of these threads was alive in this part of the trace.";
  }

  std::string machine() const {
    const TimeRange &range = input_.why.range;
    const size_t cpus = cpu_count(input_.catalog);
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
    if (!sum_.lost())
      return text + ". No thread waited for a CPU.";
    return text + fmt::format(". Threads waited {} for a CPU, {}.", human_duration(sum_.lost()),
                              largest_text(holders()));
  }

  /// Returns "app (9 threads) ran for 53 % of its life and waited 20 % for a CPU, mostly behind xz
  /// (7)."
  std::string life() const {
    std::string text = fmt::format("{}{} ran for {} of {} {} and ", subject_.name, subject_.count,
                                   percent(sum_.running, sum_.life()), its(),
                                   sum_.outside ? "time in the regions of --control" : "life");
    if (!sum_.lost())
      return text + "never waited for a CPU.";
    const std::string share = percent(sum_.lost(), sum_.life());
    text += "waited " + share + " for a CPU";
    return share.starts_with("less") ? text + "." : text + ", " + largest_text(holders()) + ".";
  }

  std::string spins() const {
    return sum_.spinning < sum_.life() / 100 || !sum_.spinning
               ? ""
               : fmt::format(" {0} in sched_yield: for {1} of {2} life, {3} had yielded, perhaps "
                             "because {3} "
                             "had nothing to do.",
                             several_ ? "They spin" : "It spins",
                             percent(sum_.spinning, sum_.life()), its(), several_ ? "they" : "it");
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
    if (ignores_call(block.reason))
      return (block.reason == FTRACE_OFFCPU_IDLE ? "in an " : "as ") + name;
    if (block.call == FTRACE_CALL_UNKNOWN)
      return block.reason != FTRACE_OFFCPU_DISK ? "in calls that are not known"
             : block.disk                       ? "on the disk"
                                                : "in " + name;
    if (block.page_fault)
      return "in page faults" + name.substr(kPageFault.size());
    return name.starts_with("no system call") ? "outside system calls" + name.substr(14)
                                              : "in " + name;
  }
  /// Returns who woke the thread from its largest block, if that was mostly one culprit.
  std::string waker(const std::string &block) const {
    struct Wakers {       // of one name
      Culprit::Kind kind; ///< untraced: all of them are
      Parts threads;      // each with its tid
    };
    Parts all;
    std::map<std::string, Wakers> by_name;
    Parts own;
    for (const BlockSum &sum : input_.why.blocks) {
      if (!counts_[sum.thread] || block_text(sum) != block)
        continue;
      const Culprit::Kind kind = sum.waker.kind();
      const bool is_thread = kind == Culprit::Kind::thread;
      const std::string name = is_thread || kind == Culprit::Kind::untraced
                                   ? name_of(input_.catalog, sum.waker, host_of(sum.thread))
                                   : waker(sum);
      all.add(name, sum.ns);
      Wakers &wakers = by_name.try_emplace(name, Wakers{kind, {}}).first->second;
      wakers.threads.add(waker(sum), sum.ns);
      if (is_thread)
        wakers.kind = kind;
      own.add(is_thread && input_.why.shown[sum.waker.number()] ? "own" : "", sum.ns);
    }
    const Part most = all.largest();
    if (std::string often = how_often(most.ns, all.whole()); !often.empty()) {
      often = often == kNearlyAlways ? "" : often;
      const Wakers &wakers = by_name.at(most.text);
      const Parts &of_name = wakers.threads;
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
      return ", " + often + "woken by " + culprits_text(wakers.kind, most.text, of_name.count());
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

} // namespace

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
