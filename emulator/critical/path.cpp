// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/critical/path.h"

#include "emulator/base/error.h"
#include "emulator/core/program_threads.h"
#include "emulator/critical/path_history.h"
#include "emulator/critical/walk.h"
#include "emulator/input/read_watcher.h"
#include "emulator/slices/slicer.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kNameLength = 15; // bytes that the kernel keeps of a name

/// Returns the last thread that had this tid.
uint32_t find_tid(const Catalog &catalog, uint32_t tid) {
  uint32_t last = kNone;
  for (uint32_t t = 0; t < catalog.threads.size(); t++)
    if (const ThreadInfo &thread = catalog.threads[t];
        thread.tid == tid && (last == kNone || thread.birth >= catalog.threads[last].birth))
      last = t;
  if (last != kNone)
    return last;
  throw Error("the trace has no thread {}: `ovnitrace info` lists the threads", tid);
}

/// Whose path it is. From `turn` on, it is that of `last`.
struct PathSubject {
  uint32_t thread, last;   ///< indices into Catalog::threads
  uint64_t from, turn, to; ///< ns on the clock of the trace
  bool guessed;            ///< `thread` was not named by anybody
};

/// Returns the thread that ended last among the threads that the process of a main thread had up to
/// `to`, ns. If several have not ended, returns the one that ran longest.
uint32_t last_of_process(const Catalog &catalog, const HistoryRecorder &history, uint32_t main,
                         uint64_t to) {
  if (history.ended_at(main) == UINT64_MAX)
    return main;
  const ThreadInfo &first = catalog.threads[main];
  const auto is_of = [&](const ThreadInfo &thread) {
    return thread.pid == first.pid && thread.host == first.host && thread.birth >= first.birth;
  };
  for (const ThreadInfo &thread : catalog.threads) // a later process may have the same pid
    if (is_of(thread) && thread.tid == thread.pid && thread.birth > first.birth)
      to = std::min(to, thread.birth - 1);
  uint32_t last = main;
  const auto order = [&](uint32_t t) { return std::pair(history.ended_at(t), history.ran(t)); };
  for (uint32_t t = 0; t < catalog.threads.size(); t++)
    if (is_of(catalog.threads[t]) && catalog.threads[t].birth <= to && order(t) > order(last))
      last = t;
  return last;
}

/// Returns where the path ends. `kept`: by thread, 1 if the cut keeps it, so the path can be its.
PathSubject subject_of(const Catalog &catalog, const TraceInfo &info, TimeRange range,
                       const PathQuery &query, const std::vector<uint8_t> &kept,
                       const HistoryRecorder &history) {
  if (query.section) {
    const LongSection found = history.section();
    if (found.thread == kNone)
      throw Error("no section {} starts and ends in this part of the trace", *query.section);
    return {found.thread, found.thread, found.from, found.to, found.to, false};
  }
  uint32_t thread = query.thread ? *query.thread
                    : query.tid  ? find_tid(catalog, *query.tid)
                                 : main_thread(catalog, info);
  const bool named = query.thread || query.tid;
  const uint32_t longest = history.longest_running(kept);
  const bool never_ran = thread != kNone && !history.ran(thread); // as the main process of a server
  const bool guessed =
      thread == kNone || (!named && (!kept[thread] || (never_ran && longest != kNone)));
  if (guessed)
    thread = longest;
  if (thread == kNone)
    throw Error("no thread ran in this part of the trace, so there is no critical path");
  const ThreadInfo &root = catalog.threads[thread];
  const uint32_t last =
      root.tid == root.pid ? last_of_process(catalog, history, thread, range.to) : thread;
  const uint64_t end = history.ended_at(last);
  const uint64_t to = end > range.from ? std::min(end, range.to) : range.to;
  const uint64_t started = history.started(root.host);
  const std::vector<uint32_t> program = program_pids(info, catalog);
  const bool waited = started < to && std::ranges::find(program, root.pid) != program.end();
  const uint64_t from = waited ? std::max(range.from, started) : range.from;
  const uint64_t turn = last == thread ? to : std::clamp(history.ended_at(thread), from, to);
  return {thread, last, from, turn, to, guessed};
}

CriticalPath walk_from(const PathSubject &subject, HistoryRecorder &history, const Catalog &catalog,
                       size_t number, size_t walks) {
  CriticalPath path;
  path.thread = subject.thread;
  path.last = subject.last;
  path.guessed = subject.guessed;
  path.from = subject.from;
  path.to = subject.to;
  for (const PathRoot &root : {PathRoot{subject.last, subject.turn, subject.to},
                               PathRoot{subject.thread, subject.from, subject.turn}})
    if (root.from < root.to)
      Walk(history.slices(), catalog, path.segments, number, walks).from(root);
  return path;
}

} // namespace

uint32_t main_thread(const Catalog &catalog, const TraceInfo &info) {
  const std::vector<ThreadInfo> &threads = catalog.threads;
  const uint32_t known = info.attached_pids.empty() ? info.program_pid : info.attached_pids.front();
  if (const uint32_t first = known ? first_with_tid(catalog, known) : kNone; first != kNone)
    return first;
  if (info.command.empty())
    return kNone;
  std::unordered_set<uint32_t> tids;
  bool births = false; // are known: the program was started during the capture, as the first of
                       // those that have its name
  for (const ThreadInfo &thread : threads) {
    tids.insert(thread.tid);
    births |= thread.birth != 0;
  }
  const std::string &program = info.command.front();
  const std::string name = program.substr(program.rfind('/') + 1).substr(0, kNameLength);
  uint32_t named = kNone, first = kNone;
  size_t firsts = 0; ///< processes that no traced thread has made
  for (uint32_t t = 0; t < threads.size(); t++) {
    if (threads[t].tid != threads[t].pid)
      continue;
    if (threads[t].name == name && (threads[t].birth != 0 || !births) &&
        (named == kNone || threads[t].birth < threads[named].birth))
      named = t;
    if (!tids.contains(threads[t].parent) && firsts++ == 0)
      first = t;
  }
  return firsts == 1 ? first : named;
}

std::vector<CriticalPath> critical_paths(EventSource &source, const TraceInfo &info, const Cut &cut,
                                         const PathQuery &query, size_t more) {
  const Catalog &catalog = source.catalog();
  Cut times;
  times.from = cut.from;
  times.to = cut.to;
  check_cut(times, catalog);
  Cut threads = cut; // a thread that the query names is nobody's choice but its own
  if (query.tid || query.thread)
    threads = {};
  check_cut(threads, catalog);
  const std::vector<uint8_t> kept = kept_threads(threads, catalog);
  HistoryRecorder history(catalog, query, kept);
  replay_slices(source, times, history);
  history.finish(range_of(times, catalog).to);
  std::vector<PathSubject> subjects = {
      subject_of(catalog, info, range_of(times, catalog), query, kept, history)};
  if (more)
    for (const uint32_t thread : history.by_running(kept)) {
      if (subjects.size() > more)
        break;
      const PathQuery own = {.tid = {}, .section = {}, .thread = thread};
      if (thread != subjects.front().thread)
        subjects.push_back(subject_of(catalog, info, range_of(times, catalog), own, kept, history));
    }
  std::vector<CriticalPath> paths;
  for (const PathSubject &subject : subjects)
    paths.push_back(walk_from(subject, history, catalog, paths.size(), subjects.size()));
  if (ReadWatcher::current)
    ReadWatcher::current->ends();
  return paths;
}

CriticalPath critical_path(EventSource &source, const TraceInfo &info, const Cut &cut,
                           const PathQuery &query) {
  return std::move(critical_paths(source, info, cut, query, 0).front());
}

} // namespace ovnitrace
