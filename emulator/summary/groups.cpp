// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/groups.h"

#include "emulator/format/state_table.h"
#include "emulator/input/thread_group.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace ovnitrace {

namespace {

using Value = std::function<uint64_t(const ThreadSummary &)>;

/// Returns the words by which threads can be sorted, and their values. If two words are equal, the
/// first one counts.
std::vector<std::pair<std::string, Value>> sort_values() {
  std::vector<std::pair<std::string, Value>> values;
  for (const ThreadState state : kSummedStates)
    values.emplace_back(kStateTable[size_t(state)].name,
                        [=](const ThreadSummary &of) { return of.reported(state); });
  values.emplace_back("switches", &ThreadSummary::switches);
  for (const CounterInfo &counter : kCounters)
    values.emplace_back(counter.name, counter.count);
  for (const ThreadState state : kSummedStates) // after the counter `preempted`, which is older
    values.emplace_back(kStateTable[size_t(state)].term,
                        [=](const ThreadSummary &of) { return of.reported(state); });
  values.emplace_back("latency", [](const ThreadSummary &of) { return of.latency.max(); });
  return values;
}

/// Returns the words for the columns of `top`, in their order, and their values.
std::vector<std::pair<std::string, Value>> top_values() {
  const auto time = [](ThreadState state) {
    return [=](const ThreadSummary &of) { return of.reported(state); };
  };
  return {
      {"run", time(ThreadState::Running)},
      {"preempt", &ThreadSummary::preempted_time},
      {"woken", time(ThreadState::Warming)},
      {"block", time(ThreadState::Paused)},
      {"throttle", &ThreadSummary::throttled_time},
      {"sw", &ThreadSummary::switches},
      {"p50", [](const ThreadSummary &of) { return of.latency.percentile(50); }},
      {"p99", [](const ThreadSummary &of) { return of.latency.percentile(99); }},
      {"max", [](const ThreadSummary &of) { return of.latency.max(); }},
  };
}

/// Returns the value of a word; that of the first if the word is unknown.
Value value_of(const std::string &word) {
  const auto values = sort_values();
  for (const auto &all : {values, top_values()})
    for (const auto &[known, value] : all)
      if (word == known)
        return value;
  return values.front().second;
}

/// Groups the threads that the cut keeps by `key_of`. `start` makes a group of its first thread.
template <class KeyOf, class Start>
std::vector<ThreadGroup> group(const Catalog &catalog, const Summary &summary,
                               const std::string &word, KeyOf key_of, Start start) {
  std::map<decltype(key_of(catalog.threads[0])), size_t> places;
  std::vector<ThreadGroup> groups;
  for (size_t t = 0; t < catalog.threads.size(); t++) {
    if (!summary.shown[t])
      continue;
    const auto [at, is_new] = places.try_emplace(key_of(catalog.threads[t]), groups.size());
    if (is_new)
      groups.push_back(start(t));
    ThreadGroup &one = groups[at->second];
    one.threads++;
    one.sum.add(summary.threads[t]);
  }
  const auto value = value_of(word);
  std::stable_sort(groups.begin(), groups.end(), [&](const ThreadGroup &a, const ThreadGroup &b) {
    return value(a.sum) > value(b.sum);
  });
  return groups;
}

} // namespace

/// Returns the main thread of each thread. The threads of a pid follow one another, main threads
/// first. If there are several main threads, several processes have used the pid, and a thread
/// belongs to the last one that was born before it.
std::vector<uint32_t> main_threads(const Catalog &catalog) {
  const std::vector<ThreadInfo> &threads = catalog.threads;
  std::vector<uint32_t> mains(threads.size());
  uint32_t first = 0; // of the pid
  for (uint32_t t = 0; t < mains.size(); t++) {
    const ThreadInfo &of = threads[t];
    if (threads[first].host != of.host || threads[first].pid != of.pid)
      first = t;
    mains[t] = of.tid == of.pid ? t : first;
    for (uint32_t main = first; main < t && of.tid != of.pid; main++)
      if (threads[main].tid != threads[main].pid)
        break;
      else if (threads[main].birth <= of.birth)
        mains[t] = main;
  }
  return mains;
}

std::string process_name(const Catalog &catalog, const ThreadInfo &main, uint64_t time) {
  if (main.tid == main.pid)
    return main.name_at(time);
  const std::vector<PeerName> &peers = catalog.hosts[main.host].peers;
  const PeerName *peer = find_peer(peers, main.pid, std::min(time, main.end));
  return peer ? peer->name : "";
}

size_t count_processes(const Catalog &catalog, const std::vector<uint8_t> &shown) {
  const std::vector<uint32_t> mains = main_threads(catalog);
  std::set<uint32_t> processes;
  for (size_t t = 0; t < shown.size(); t++)
    if (shown[t])
      processes.insert(mains[t]);
  return processes.size();
}

std::vector<std::string> sort_words() {
  std::vector<std::string> words;
  for (const auto &[word, value] : sort_values())
    if (std::find(words.begin(), words.end(), word) == words.end())
      words.push_back(word);
  return words;
}

std::vector<std::string> top_sort_words() {
  std::vector<std::string> words;
  for (const auto &[word, value] : top_values())
    words.push_back(word);
  return words;
}

std::vector<uint32_t> sorted_threads(const Summary &summary, const std::string &word) {
  std::vector<uint32_t> order;
  for (uint32_t t = 0; t < summary.threads.size(); t++)
    if (summary.shown[t])
      order.push_back(t);
  const auto value = value_of(word);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return value(summary.threads[a]) > value(summary.threads[b]);
  });
  return order;
}

std::vector<ThreadGroup> by_process(const Catalog &catalog, const Summary &summary,
                                    const std::string &word) {
  const std::vector<uint32_t> mains = main_threads(catalog);
  return group(
      catalog, summary, word,
      [&](const ThreadInfo &thread) { return mains[size_t(&thread - catalog.threads.data())]; },
      [&](size_t t) {
        const ThreadInfo &thread = catalog.threads[t];
        return ThreadGroup{
            thread.host, thread.pid, process_name(catalog, catalog.threads[mains[t]]), 0, {}};
      });
}

std::vector<ThreadGroup> by_name(const Catalog &catalog, const Summary &summary,
                                 const std::string &word) {
  return group(
      catalog, summary, word, [](const ThreadInfo &thread) { return thread.name; },
      [&](size_t t) {
        return ThreadGroup{0, 0, catalog.threads[t].name, 0, {}};
      });
}

std::vector<ThreadGroup> by_cgroup(const Catalog &catalog, const Summary &summary,
                                   const std::string &word) {
  return group(
      catalog, summary, word,
      [&](const ThreadInfo &thread) { return group_of(catalog, thread, summary.to); },
      [&](size_t t) {
        const std::string_view name = group_of(catalog, catalog.threads[t], summary.to);
        return ThreadGroup{0, 0, std::string(name), 0, {}};
      });
}

} // namespace ovnitrace
