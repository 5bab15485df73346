// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/human.h"
#include "emulator/base/short_line.h"
#include "emulator/input/chosen_cpus.h"
#include "emulator/slices/interrupts.h"
#include "emulator/summary/idle_text.h"
#include "emulator/summary/names.h"
#include "emulator/summary/table.h"
#include "emulator/why/cause_names.h"
#include "emulator/why/group_waits.h"
#include "emulator/why/locks.h"
#include "emulator/why/opening_lines.h"
#include "emulator/why/sentences.h"
#include "emulator/why/subject.h"
#include "emulator/why/time_tree.h"
#include "emulator/why/times_table.h"
#include "emulator/why/wait_lines.h"
#include "emulator/why/why_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace ovnitrace {

namespace {

constexpr size_t kMostParts = 5, kMostCauses = 10, kMostWakes = 10, kMostLocks = 10;

/// Returns the most lines of a table that usually has `usual` ones.
size_t most_of(const WhyOptions &options, size_t usual) {
  const size_t top = options.top.value_or(usual);
  return top ? top : SIZE_MAX;
}

std::vector<uint32_t> shown_threads(const Explanation &why) {
  std::vector<uint32_t> threads;
  for (uint32_t t = 0; t < why.threads.size(); t++)
    if (why.shown[t])
      threads.push_back(t);
  return threads;
}

std::string head(const WhyInput &input, const std::vector<uint32_t> &threads, size_t columns) {
  std::string text = threads.size() == 1 ? thread_label(input.catalog.threads[threads.front()])
                                         : human_count(threads.size(), "thread", "threads");
  text += ", " + human_duration(input.why.range.to - input.why.range.from);
  if (input.why.range.from > input.catalog.begin)
    text += " from " + human_duration(input.why.range.from - input.catalog.begin) + " on";
  uint64_t lives = 0, outside = 0, awake = 0;
  for (uint32_t t : threads) {
    const ThreadTime &time = input.why.threads[t];
    lives += time.life();
    awake += time.hardly_ran() ? 0 : time.life();
    outside += time.outside;
  }
  if (outside)
    text += fmt::format("; 100 % is {} time in the regions of --control, {}",
                        threads.size() > 1 ? "their" : "its", human_duration(lives));
  else if (threads.size() > 1)
    text += "; 100 % is the sum of their lives, " + human_duration(lives);
  else if (lives < input.why.range.to - input.why.range.from)
    text += "; 100 % is the time it was alive, " + human_duration(lives);
  text = wrapped(text, columns);
  if (awake && awake < lives && !subject_of(input.info, input.catalog, input.why).is_machine)
    text += '\n' + wrapped("(the sentences above leave out threads that slept nearly all the time: "
                           "100 % is " +
                               human_duration(awake) + " there)",
                           columns);
  return text + "\n\n";
}

template <class Line>
std::string long_waits(const char *title, const std::vector<LongWait> &long_waits,
                       const WhyOptions &options, Line line) {
  std::string text;
  for (size_t n = 0; n < long_waits.size() && n < most_of(options, Explanation::kMostLines); n++)
    text += "  " + wrapped(line(long_waits[n]), options.columns, 2, 6) + '\n';
  return text.empty() ? text : '\n' + std::string(title) + ":\n" + text;
}

std::string wake_table(const WhyInput &input, const WhyOptions &options) {
  Table table({"WAKER", "WAKES", "TIMES", "LATE, MEAN", "LATE, MAX"}, 2);
  for (size_t n = 0; n < input.why.wakes.size() && n < most_of(options, kMostWakes); n++) {
    const WakeSum &wake = input.why.wakes[n];
    const ThreadInfo &thread = input.catalog.threads[wake.thread];
    table.add({culprit_text(input, wake.waker, wake.thread), thread_label(thread),
               human_count(wake.count),
               wake.measured ? human_duration(wake.late / wake.measured) : "-",
               wake.measured ? human_duration(wake.late_max) : "-"});
  }
  return table.empty()
             ? ""
             : "\nWho wakes whom, and how late it then got a CPU:\n" + table.text(options.columns);
}

std::string idle_lines(const WhyInput &input, size_t columns) {
  uint64_t known = 0;
  IdleTimes idle;
  for (const ThreadTime &time : input.why.threads) {
    known += time.idle_known;
    idle.add(time.idle);
  }
  return known ? '\n' + idle_text(known, idle, columns) : "";
}

/// Returns whether the capture left out a family of events, as far as the trace says.
bool lacks(const TraceInfo &info, const char *family) {
  return !info.families.empty() && !has_family(info, family);
}

/// Names the options of the capture that would say more about what was long.
std::string option_lines(const WhyInput &input, size_t columns) {
  ThreadTime sum;
  uint64_t idle_known = 0, by_interrupts = 0;
  for (const ThreadTime &time : input.why.threads) {
    sum.add(time);
    idle_known += time.idle_known;
  }
  for (const BlockSum &block : input.why.blocks)
    if (block.waker == Culprit(Culprit::Kind::interrupt, uint32_t(InterruptSource::other)))
      by_interrupts += block.ns;
  const auto is_long = [](uint64_t ns, uint64_t of) { return ns >= 10'000'000 && ns >= of / 10; };
  std::string text;
  const auto put = [&](const std::string &line) { text += wrapped(line, columns) + '\n'; };
  const bool no_power = lacks(input.info, "power"), some_cpus = chose_cpus(input.info);
  if (!idle_known && (no_power || some_cpus) && !input.info.all_threads &&
      is_long(sum.lost(), sum.running + sum.waiting))
    put(fmt::format("Not known: whether a CPU was idle while threads waited. Record {}.",
                    !no_power                    ? "all CPUs"
                    : some_cpus                  ? "all CPUs, with -a or --filter +power"
                    : input.info.filters.empty() ? "with -a or --filter +power"
                                                 : "with --filter +power"));
  std::vector<std::string> families;
  for (const char *family : {"timer", "irq"})
    if (lacks(input.info, family))
      families.emplace_back(family);
  if (!families.empty() && is_long(by_interrupts, sum.blocked))
    put(fmt::format("Not known: which interrupts woke threads. Record with --filter +{}.",
                    fmt::join(families, ",")));
  return text.empty() ? text : '\n' + text;
}

std::string unseen_line(const WhyInput &input, size_t columns) {
  const bool some =
      std::any_of(input.why.held.begin(), input.why.held.end(),
                  [](const WaitSum &sum) { return sum.holder.kind() == Culprit::Kind::unseen; });
  return some ? '\n' +
                    wrapped("This trace names only the first thread that got a CPU from a traced "
                            "one, not those that followed. Record it again to see all who had the "
                            "CPU.",
                            columns) +
                    '\n'
              : "";
}

/// Returns who ended the wait, and that it had held a PI futex.
std::string lock_waker_text(const WhyInput &input, const LockSum &sum) {
  if (sum.waker.kind() == Culprit::Kind::nobody)
    return "nobody: it did not block";
  const std::string waker = culprit_text(input, sum.waker, sum.thread);
  return sum.inherits && sum.waker.kind() == Culprit::Kind::thread ? waker + ", who had it" : waker;
}

/// Returns a sum with the culprit that ended waits of the longest total time. A culprit that ended
/// only waits that were given up, as by a signal, counts if there is no other.
const LockSum &longest_ender(const Lock &lock) {
  const auto key = [](const LockSum &sum) {
    return std::pair(sum.waker.kind(), sum.waker.number());
  };
  std::map<std::pair<Culprit::Kind, uint32_t>, uint64_t> ns; // whatever its name was
  for (const LockSum *part : lock.parts)
    ns[key(*part)] += part->gave_up < part->count ? part->ns : 0;
  return **std::max_element(
      lock.parts.begin(), lock.parts.end(),
      [&](const LockSum *a, const LockSum *b) { return ns[key(*a)] < ns[key(*b)]; });
}

std::string lock_table(const WhyInput &input, const WhyOptions &options) {
  const std::vector<Lock> locks = locks_of(input.catalog, input.why);
  const bool has_stacks = std::any_of(locks.begin(), locks.end(),
                                      [](const Lock &lock) { return lock.max_stack != kNone; });
  Table::Row head{"FUTEX", "PROCESS", "MOST TIME ENDED BY"};
  if (has_stacks)
    head.push_back("LONGEST WAIT AT");
  const size_t left = head.size();
  head.insert(head.end(), {"THREADS", "WAITS", "TIME", "MAX"});
  Table table(std::move(head), left);
  for (size_t n = 0; n < locks.size() && n < most_of(options, kMostLocks); n++) {
    const Lock &lock = locks[n];
    Table::Row row{fmt::format("{:#x}{}", lock.futex, lock.inherits ? " (PI)" : ""),
                   std::to_string(lock.pid), lock_waker_text(input, longest_ender(lock))};
    if (has_stacks)
      row.push_back(longest_wait_at(lock, input.stacks));
    row.insert(row.end(), {human_count(lock.threads.size()), human_count(lock.count),
                           human_duration(lock.ns), human_duration(lock.max)});
    table.add(std::move(row));
  }
  return table.empty() ? ""
                       : "\nWaits for futexes, by the low half of their address:\n" +
                             table.text(options.columns);
}

} // namespace

std::string why_text(const WhyInput &input, const WhyOptions &options) {
  const std::vector<uint32_t> threads = shown_threads(input.why);
  std::string text = hit_line(input);
  if (!text.empty())
    text = wrapped(text, options.columns) + "\n\n";
  text +=
      answer_text(answer_of(input.info, input.catalog, input.why, input.command), options.columns);
  if (options.brief || (threads.empty() && !text.empty()))
    return text.substr(0, text.find_last_not_of('\n') + 1) + '\n';
  text += head(input, threads, options.columns);
  const TimeNode tree = time_tree(input, options.depth);
  text += tree_text(tree, most_of(options, kMostParts), options.columns) +
          idle_lines(input, options.columns) + option_lines(input, options.columns) +
          unseen_line(input, options.columns);
  if (const std::string lengths =
          lengths_text(tree, most_of(options, kMostCauses), options.columns);
      !lengths.empty())
    text += '\n' + lengths;
  if (const std::string line = tail_line(input); !line.empty())
    text += '\n' + wrapped(line, options.columns) + '\n';
  if (options.by == WhyBy::cgroup)
    text += '\n' + group_table(input, options);
  else if (threads.size() > 1 || options.sort == "latency")
    text += '\n' + times_table(input, options);
  text += long_waits("The longest waits for a CPU", input.why.longest_waits, options,
                     [&](const LongWait &wait) { return wait_line(input, wait); });
  text += long_waits("The waits during which a CPU was idle longest", input.why.idle_waits, options,
                     [&](const LongWait &wait) { return idle_wait_line(input, wait); });
  text += long_waits("The longest times blocked", input.why.longest_blocks, options,
                     [&](const LongWait &block) { return block_line(input, block); });
  return text + wake_table(input, options) + lock_table(input, options);
}

std::string blocked_text(const WhyInput &input, size_t top, size_t columns) {
  TimeNode tree = time_tree(input);
  std::erase_if(tree.parts, [](const TimeNode &part) { return part.label != "blocked"; });
  return tree_text(tree, top, columns);
}

} // namespace ovnitrace
