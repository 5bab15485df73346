// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/human.h"
#include "emulator/base/short_line.h"
#include "emulator/summary/names.h"
#include "emulator/summary/table.h"
#include "emulator/why/locks.h"
#include "emulator/why/stories.h"
#include "emulator/why/time_tree.h"
#include "emulator/why/why_report.h"
#include "emulator/why/words.h"

#include <fmt/format.h>

#include <algorithm>

namespace ovnitrace {

namespace {

constexpr size_t kMostParts = 5, kMostCauses = 10, kMostThreads = 10, kMostWakes = 10,
                 kMostLocks = 10;

std::vector<uint32_t> shown_threads(const Explanation &why) {
  std::vector<uint32_t> threads;
  for (uint32_t t = 0; t < why.threads.size(); t++)
    if (why.shown[t])
      threads.push_back(t);
  return threads;
}

std::string head(const WhyInput &input, const std::vector<uint32_t> &threads) {
  std::string text = threads.size() == 1 ? thread_label(input.catalog.threads[threads.front()])
                                         : human_count(threads.size(), "thread", "threads");
  text += ", " + human_duration(input.why.range.to - input.why.range.from);
  if (input.why.range.from > input.catalog.begin)
    text += " from " + human_duration(input.why.range.from - input.catalog.begin) + " on";
  if (threads.size() > 1) {
    uint64_t lives = 0;
    for (uint32_t t : threads)
      lives += input.why.threads[t].life();
    text += "; 100 % is the sum of their lives, " + human_duration(lives);
  }
  return text + "\n\n";
}

/// Those that waited for a CPU longest first.
std::string thread_table(const WhyInput &input, std::vector<uint32_t> threads) {
  std::stable_sort(threads.begin(), threads.end(), [&](uint32_t a, uint32_t b) {
    return input.why.threads[a].waiting > input.why.threads[b].waiting;
  });
  Table table({"THREAD", "RUNNING", "%", "WAITING", "%", "BLOCKED", "%", "NOT KNOWN"});
  const auto add = [&](std::string name, const ThreadTime &time) {
    table.add({std::move(name), human_duration(time.running),
               human_percent(time.running, time.life()), human_duration(time.waiting),
               human_percent(time.waiting, time.life()), human_duration(time.blocked),
               human_percent(time.blocked, time.life()), human_duration(time.unknown)});
  };
  ThreadTime rest;
  const size_t most = threads.size() == kMostThreads + 1 ? threads.size() : kMostThreads;
  for (size_t n = 0; n < threads.size(); n++) {
    const ThreadTime &time = input.why.threads[threads[n]];
    if (n < most) {
      add(thread_label(input.catalog.threads[threads[n]]), time);
      continue;
    }
    rest.running += time.running;
    rest.waiting += time.waiting;
    rest.blocked += time.blocked;
    rest.unknown += time.unknown;
  }
  if (threads.size() > most)
    add(human_count(threads.size() - most) + " others", rest);
  return '\n' + table.text();
}

/// In lines of at most 100 columns, as far as words allow it.
std::string wrapped(const std::string &line) {
  constexpr size_t kColumns = 100;
  constexpr const char *kFirst = "  ", *kNext = "\n      ";
  std::string text = kFirst;
  size_t columns = 2;
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    const std::string word = line.substr(at, end - at);
    if (at && columns + 1 + characters_of(word) > kColumns) {
      text += kNext + word;
      columns = 6 + characters_of(word);
    } else {
      text += (at ? " " : "") + word;
      columns += (at ? 1 : 0) + characters_of(word);
    }
    at = end + 1;
  }
  return text + '\n';
}

template <class Line>
std::string stories(const char *title, const std::vector<Story> &stories, Line line) {
  std::string text;
  for (const Story &story : stories)
    text += wrapped(line(story));
  return text.empty() ? text : '\n' + std::string(title) + ":\n" + text;
}

std::string wake_table(const WhyInput &input) {
  Table table({"WAKER", "WAKES", "TIMES", "LATE, MEAN", "LATE, MAX"}, 2);
  for (size_t n = 0; n < input.why.wakes.size() && n < kMostWakes; n++) {
    const WakeSum &wake = input.why.wakes[n];
    const ThreadInfo &thread = input.catalog.threads[wake.thread];
    table.add({who_text(input, wake.waker, wake.thread), thread_label(thread),
               human_count(wake.count), human_duration(wake.late / wake.count),
               human_duration(wake.late_max)});
  }
  return table.empty() ? "" : "\nWho wakes whom, and how late it then got a CPU:\n" + table.text();
}

std::string idle_line(const WhyInput &input) {
  uint64_t known = 0, idle = 0, forbidden = 0;
  for (const ThreadTime &time : input.why.threads) {
    known += time.idle_known;
    idle += time.idle_elsewhere;
    forbidden += time.idle_forbidden;
  }
  if (!known)
    return "";
  std::string text =
      fmt::format("\nAnother CPU that the thread may use was idle for {} of {} of waiting ({}).\n",
                  human_duration(idle), human_duration(known), human_percent(idle, known));
  if (forbidden)
    text += fmt::format("For {} ({}) one was idle, but only such as the thread may not use.\n",
                        human_duration(forbidden), human_percent(forbidden, known));
  return text;
}

std::string untraced_line(const WhyInput &input) {
  const bool some =
      std::any_of(input.why.held.begin(), input.why.held.end(), [](const WaitSum &sum) {
        return sum.holder.kind() == Who::Kind::untraced || sum.holder.kind() == Who::Kind::unseen;
      });
  return some ? "\nOf threads that are not traced, only the first is known that gets a CPU: -a "
                "records them all.\n"
              : "";
}

/// Who ended the wait; of a PI futex he had it.
std::string lock_waker_text(const WhyInput &input, const LockSum &sum) {
  if (sum.waker.kind() == Who::Kind::nobody)
    return "nobody: it did not block";
  const std::string who = who_text(input, sum.waker, sum.thread);
  return sum.inherits && sum.waker.kind() == Who::Kind::thread ? who + ", who had it" : who;
}

std::string lock_table(const WhyInput &input) {
  Table table({"FUTEX", "PROCESS", "MOST OFTEN ENDED BY", "THREADS", "WAITS", "TIME", "MAX"}, 3);
  const std::vector<Lock> locks = locks_of(input.catalog, input.why);
  for (size_t n = 0; n < locks.size() && n < kMostLocks; n++) {
    const Lock &lock = locks[n];
    const auto most =
        std::max_element(lock.parts.begin(), lock.parts.end(),
                         [](const LockSum *a, const LockSum *b) { return a->count < b->count; });
    table.add({fmt::format("{:#x}{}", lock.futex, lock.inherits ? " (PI)" : ""),
               std::to_string(lock.pid), lock_waker_text(input, **most),
               human_count(lock.threads.size()), human_count(lock.count), human_duration(lock.ns),
               human_duration(lock.max)});
  }
  return table.empty() ? ""
                       : "\nWaits for futexes, by the low half of their address:\n" + table.text();
}

} // namespace

std::string why_text(const WhyInput &input) {
  const std::vector<uint32_t> threads = shown_threads(input.why);
  std::string text = head(input, threads);
  const TimeNode tree = time_tree(input);
  text += tree_text(tree, kMostParts) + idle_line(input) + untraced_line(input);
  if (const std::string lengths = lengths_text(tree, kMostCauses); !lengths.empty())
    text += '\n' + lengths;
  if (threads.size() > 1)
    text += thread_table(input, threads);
  text += stories("The longest waits for a CPU", input.why.longest_waits,
                  [&](const Story &wait) { return wait_story(input, wait); });
  text += stories("The longest times blocked", input.why.longest_blocks,
                  [&](const Story &block) { return block_story(input, block); });
  return text + wake_table(input) + lock_table(input);
}

} // namespace ovnitrace
