// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/path_report.h"

#include "emulator/base/human.h"
#include "emulator/base/short_line.h"
#include "emulator/critical/path_text.h"
#include "emulator/summary/names.h"
#include "emulator/summary/table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace ovnitrace {

namespace {

/// The sum of all segments that differ only in their times.
struct PathSum {
  PathSegment like; ///< one of them; its times mean nothing
  uint64_t ns = 0;
  uint64_t count = 0; ///< segments
  /// The number of waits and blocks: a wait has a segment for each holder of the CPU, and counts
  /// once.
  uint64_t stretches = 0;
};

/// Calls `f(part)` for each part of a segment in which its threads have one name.
template <class F> void for_each_name(const PathSegment &segment, const Catalog &catalog, F &&f) {
  std::set<uint64_t> ends; // mostly none
  for (const uint32_t thread : {segment.thread, segment.peer.thread})
    if (thread != kNone)
      for (const EarlierName &earlier : catalog.threads[thread].earlier_names)
        if (earlier.until > segment.from && earlier.until < segment.to)
          ends.insert(earlier.until);
  PathSegment part = segment;
  for (const uint64_t end : ends) {
    part.to = end;
    f(part);
    part.from = end;
  }
  part.to = segment.to;
  f(part);
}

/// Returns the sums, largest first. Together their ns are the length of the path. Memory grows with
/// the number of sums.
std::vector<PathSum> sum_up(CriticalPath &path, const Catalog &catalog) {
  const auto kind = [&](const PathSegment &s) {
    const uint32_t name = catalog.threads[s.thread].name_number(s.from);
    return std::tuple(s.thread, name, s.cause, s.call, s.device, s.interrupt, s.peer.tid,
                      s.peer.thread, peer_name(s, catalog));
  };
  std::map<decltype(kind(PathSegment())), PathSum> kinds;
  PathSegment before;
  const auto add = [&](const PathSegment &segment) {
    PathSum &sum = kinds[kind(segment)];
    sum.like = segment;
    sum.ns += segment.length();
    sum.count++;
    sum.stretches += segment.cause != Cause::waiting || before.cause != Cause::waiting ||
                     segment.thread != before.thread;
    before = segment;
  };
  path.for_each([&](const PathSegment &segment) { for_each_name(segment, catalog, add); });
  std::vector<PathSum> sums;
  for (const auto &[key, sum] : kinds)
    sums.push_back(sum);
  std::stable_sort(sums.begin(), sums.end(),
                   [](const PathSum &a, const PathSum &b) { return a.ns > b.ns; });
  return sums;
}

/// Returns the name that the thread of a segment had then.
const std::string &name_of_segment(const PathSegment &segment, const Catalog &catalog) {
  return catalog.threads[segment.thread].name_at(segment.from);
}

std::string label_of(const PathSegment &segment, const Catalog &catalog) {
  return thread_label(catalog.threads[segment.thread], segment.from);
}

constexpr size_t kThread = 24, kCause = 40; // characters

struct Line {
  std::vector<std::string> words;
  uint64_t ns = 0, count = 0;
};
/// Lines by what makes them one; added in the order of time.
using Lines = std::map<std::vector<std::string>, Line>;

void add_line(Lines &lines, std::vector<std::string> words, uint64_t ns, uint64_t count) {
  Line &line = lines[words];
  line.words = std::move(words);
  line.ns += ns;
  line.count += count;
}

/// Returns whether a peer is neither in the trace nor the idle task.
bool is_untraced(const Peer &peer) {
  return peer.thread == kNone && peer.tid != 0 && peer.tid != kNone;
}

/// Groups the threads of a path, and the holders of their CPUs, by name.
class Groups {
public:
  Groups(const Catalog &catalog, const std::vector<PathSum> &sums) : catalog_(catalog) {
    for (const PathSum &sum : sums) {
      threads_[name_of_segment(sum.like, catalog)].insert(sum.like.thread);
      holders_[holder_key(sum.like)].insert(holder_text(sum.like, catalog));
    }
  }
  /// Returns "cc1 (20 threads)", or the thread if no other one has its name.
  std::string thread(const PathSegment &like) const {
    const std::string &name = name_of_segment(like, catalog_);
    return label(name, threads_.at(name).size(), label_of(like, catalog_));
  }

  /// Does the same for a holder; empty if it is not known.
  std::string holder(const PathSegment &like) const {
    const HolderKey key = holder_key(like);
    return label(key.second, holders_.at(key).size(), holder_text(like, catalog_));
  }

private:
  using HolderKey = std::pair<bool, std::string>; ///< not traced, name: what a line has

  HolderKey holder_key(const PathSegment &like) const {
    return {is_untraced(like.peer), peer_name(like, catalog_)};
  }
  static std::string label(const std::string &name, size_t count, const std::string &one) {
    return name.empty() || count == 1 ? one
                                      : fmt::format("{} ({} threads)", short_name(name), count);
  }

  const Catalog &catalog_;
  std::map<std::string, std::set<uint32_t>> threads_;
  std::map<HolderKey, std::set<std::string>> holders_;
};

/// Returns the cause, with the system call of a blocked thread if the cause does not name it.
std::string cause_and_call(const PathSegment &like, const Catalog &catalog) {
  const std::string cause = cause_text(like, catalog);
  const std::string_view call = call_text(like, catalog);
  const bool has_call = like.cause == Cause::blocked || like.cause == Cause::not_woken;
  return call.empty() || has_call ? cause : fmt::format("{}, in {}", cause, call);
}

/// Makes a table. `head` names its columns of words. Lines beyond `top` are summed up in one.
std::string table_of(const Lines &lines, std::vector<std::string> head, uint64_t length, size_t top,
                     size_t columns) {
  std::vector<Line> sorted;
  for (const auto &[words, line] : lines)
    sorted.push_back(line);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Line &a, const Line &b) { return a.ns > b.ns; });
  if (top && sorted.size() > top + 1) {
    Line rest = {.words = std::vector<std::string>(head.size())};
    rest.words[0] = "the rest";
    for (size_t n = top; n < sorted.size(); n++) {
      rest.ns += sorted[n].ns;
      rest.count += sorted[n].count;
    }
    sorted.resize(top);
    sorted.push_back(rest);
  }
  const size_t words = head.size();
  head.insert(head.end(), {"TIME", "SHARE", "TIMES"});
  Table table(std::move(head), words);
  for (const Line &line : sorted) {
    std::vector<std::string> row = line.words;
    row.insert(row.end(),
               {human_duration(line.ns), human_percent(line.ns, length), human_count(line.count)});
    table.add(std::move(row));
  }
  return table.text(columns);
}

} // namespace

std::string path_text(CriticalPath &path, const Catalog &catalog, size_t top, bool by_name,
                      size_t columns) {
  const uint64_t length = path.to - path.from;
  Lines causes, holders;
  const std::vector<PathSum> sums = sum_up(path, catalog);
  const Groups groups(catalog, sums);
  for (const PathSum &sum : sums) {
    const std::string thread = by_name ? groups.thread(sum.like) : label_of(sum.like, catalog);
    const std::string cause = cause_and_call(sum.like, catalog);
    add_line(causes, {short_line(thread, kThread), short_line(cause, kCause)}, sum.ns,
             sum.stretches);
    if (sum.like.cause != Cause::waiting)
      continue;
    std::string holder = by_name ? groups.holder(sum.like) : holder_text(sum.like, catalog);
    if (holder.empty())
      holder = "not known";
    if (is_untraced(sum.like.peer))
      holder += ", not traced";
    add_line(holders, {short_line(holder, kCause)}, sum.ns, sum.count);
  }
  std::string text =
      wrapped(fmt::format("Critical path of {}{}: {}, from {} to {} of the trace",
                          thread_label(catalog.threads[path.thread]),
                          path.last == path.thread ? ""
                                                   : " and, after its end, of " +
                                                         thread_label(catalog.threads[path.last]),
                          human_duration(length), human_duration(path.from - catalog.begin),
                          human_duration(path.to - catalog.begin)),
              columns) +
      "\n\n";
  text += table_of(causes, {"THREAD", "CAUSE"}, length, top, columns);
  if (!holders.empty())
    text +=
        "\nWho held the CPU meanwhile\n\n" + table_of(holders, {"HOLDER"}, length, top, columns);
  return text;
}

void add_path_json(nlohmann::ordered_json &json, CriticalPath &path, const Catalog &catalog) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const PathSum &sum : sum_up(path, catalog)) {
    const PathSegment &like = sum.like;
    Json row = {{"tid", catalog.threads[like.thread].tid},
                {"name", name_of_segment(like, catalog)},
                {"cause", cause_text(like, catalog)},
                {"ns", sum.ns},
                {"count", sum.count}};
    if (const std::string_view call = call_text(like, catalog); !call.empty())
      row["call"] = call;
    if (like.device != kNone)
      row["device"] =
          device_name(catalog.hosts[catalog.threads[like.thread].host].devices, like.device);
    if (!holder_text(like, catalog).empty()) {
      const uint32_t tid = peer_tid(like, catalog);
      row["holder_tid"] = tid == kNone ? Json() : Json(tid);
      row["holder"] = peer_name(like, catalog);
    }
    rows.push_back(std::move(row));
  }
  json["critical_path_of"] = {{"tid", catalog.threads[path.thread].tid},
                              {"name", catalog.threads[path.thread].name},
                              {"from_ns", path.from - catalog.begin},
                              {"to_ns", path.to - catalog.begin}};
  if (path.last != path.thread) {
    json["critical_path_of"]["last_tid"] = catalog.threads[path.last].tid;
    json["critical_path_of"]["last_name"] = catalog.threads[path.last].name;
  }
  json["critical_path"] = std::move(rows);
}

} // namespace ovnitrace
