// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/time_tree.h"

#include "emulator/base/human.h"
#include "emulator/summary/names.h"
#include "emulator/summary/table.h"
#include "emulator/why/blocked_at.h"
#include "emulator/why/cause_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace ovnitrace {

namespace {

void sort(std::vector<TimeNode> &nodes) {
  std::stable_sort(nodes.begin(), nodes.end(), [](const TimeNode &a, const TimeNode &b) {
    return std::pair(a.known, a.ns) > std::pair(b.known, b.ns);
  });
}

uint64_t sum_of(const std::vector<TimeNode> &nodes) {
  uint64_t sum = 0;
  for (const TimeNode &node : nodes)
    sum += node.ns;
  return sum;
}

/// Sums by culprit; threads of one name share a sum.
class ByWho {
public:
  explicit ByWho(const WhyInput &input) : input_(input) {}

  void add(Culprit culprit, uint32_t thread, uint64_t ns, uint64_t count) {
    const uint32_t host = input_.catalog.threads[thread].host;
    Sum &sum = sums_[{culprit.kind(), name_of(input_.catalog, culprit, host)}];
    sum.culprits.emplace(host, culprit.code());
    sum.thread = thread;
    sum.ns += ns;
    sum.count += count;
  }
  std::vector<TimeNode> nodes(const std::string &before) const {
    std::vector<TimeNode> nodes;
    for (const auto &[key, sum] : sums_)
      nodes.push_back(node(before, culprit_text(input_, sum.first(), sum.thread), key, sum));
    return nodes;
  }

private:
  struct Sum {
    std::set<std::pair<uint32_t, uint64_t>> culprits; ///< host, code
    uint32_t thread = 0;                              ///< a thread whose wait or block it was
    uint64_t ns = 0, count = 0;

    Culprit first() const { return Culprit::from_code(culprits.begin()->second); }
  };
  using Key = std::pair<Culprit::Kind, std::string>; ///< by name
  /// Returns a node. `one`: the culprit, if there is only one.
  static TimeNode node(const std::string &before, const std::string &one, const Key &key,
                       const Sum &sum) {
    const size_t threads = sum.culprits.size();
    return {.label = before + (threads == 1 ? one : culprits_text(key.first, key.second, threads)),
            .ns = sum.ns,
            .count = sum.count,
            .known = key.first != Culprit::Kind::not_known && key.first != Culprit::Kind::unseen};
  }

  const WhyInput &input_;
  std::map<Key, Sum> sums_;
};

TimeNode waiting(const WhyInput &input) {
  std::vector<ByWho> by_kind(kWaitKinds, ByWho(input));
  for (const WaitSum &sum : input.why.held)
    by_kind[size_t(sum.kind)].add(sum.holder, sum.thread, sum.ns, 0);
  const bool real_time = input.why.priorities.throttled_real_time > 0;
  TimeNode node{.label = "waiting for a CPU"};
  for (size_t kind = 0; kind < kWaitKinds; kind++) {
    TimeNode part{.label = wait_name(input.catalog, WaitKind(kind), real_time),
                  .count = input.why.wait_lengths[kind].count(),
                  .lengths = &input.why.wait_lengths[kind],
                  .parts = by_kind[kind].nodes("held by: ")};
    part.ns = sum_of(part.parts);
    if (!part.ns)
      continue;
    if (is_throttled(WaitKind(kind)))
      part.parts.clear(); // it would not have run on an idle CPU either
    sort(part.parts);
    node.parts.push_back(std::move(part));
  }
  return node;
}

/// The blocks in one call or for one reason: by place in the program if there are stacks, then by
/// waker.
class Blocked {
public:
  Blocked(const WhyInput &input, size_t depth) : input_(input), depth_(depth), everywhere_(input) {}

  void add(const BlockSum &sum) {
    const uint32_t host = input_.catalog.threads[sum.thread].host;
    Place *place = &everywhere_;
    for (std::string &function : blocked_at(input_.stacks.of_host(host), sum.stack, depth_))
      place = &place->callers.try_emplace(std::move(function), input_).first->second;
    place->wakers.add(sum.waker, sum.thread, sum.ns, sum.count);
    count_ += sum.count;
  }
  TimeNode node(Block block) const {
    TimeNode node{.label = block_name(input_.info.machine, block), .count = count_};
    node.parts = parts_of(everywhere_, "at: ");
    node.ns = sum_of(node.parts);
    for (const auto &[of, lengths] : input_.why.block_lengths)
      if (of == block)
        node.lengths = &lengths;
    return node;
  }

private:
  /// A function with a block in it, or on the way there.
  struct Place {
    explicit Place(const WhyInput &input) : wakers(input) {}
    ByWho wakers; ///< of stacks that are shown up to here
    std::map<std::string, Place> callers;
  };

  static TimeNode summed(std::string label, std::vector<TimeNode> parts) {
    TimeNode node{.label = std::move(label), .parts = std::move(parts)};
    node.ns = sum_of(node.parts);
    for (const TimeNode &part : node.parts)
      node.count += part.count;
    return node;
  }
  static std::vector<TimeNode> parts_of(const Place &place, const std::string &before) {
    std::vector<TimeNode> parts = place.wakers.nodes("woken by: ");
    sort(parts);
    if (place.callers.empty())
      return parts;
    if (!parts.empty())
      parts = {summed(before == "at: " ? "no stack" : "called by: nobody", std::move(parts))};
    for (const auto &[name, caller] : place.callers)
      parts.push_back(summed(before + name, parts_of(caller, "called by: ")));
    sort(parts);
    return parts;
  }

  const WhyInput &input_;
  const size_t depth_;
  Place everywhere_;
  uint64_t count_ = 0;
};

TimeNode blocked(const WhyInput &input, size_t depth) {
  std::map<Block, Blocked> by_block;
  for (const BlockSum &sum : input.why.blocks)
    by_block.try_emplace(sum.block, input, depth).first->second.add(sum);
  TimeNode node{.label = "blocked"};
  for (const auto &[block, of] : by_block)
    node.parts.push_back(of.node(block));
  return node;
}

TimeNode unknown(const WhyInput &input) {
  constexpr std::array<const char *, kUnknownWhys> labels = {
      "before its first event",
      "events were lost",
      "older than what the flight recorder keeps",
      "records are missing in the files",
      "since a pause of the capture",
      "after the end of its trace",
      "another reason"};
  TimeNode node{.label = "not known"};
  for (size_t why = 0; why < kUnknownWhys; why++)
    if (input.why.unknown[why])
      node.parts.push_back({.label = labels[why], .ns = input.why.unknown[why]});
  return node;
}

/// Adds the lines of a node. Unknown parts are last, and never in the rest.
void put(Table &table, const TimeNode &node, size_t depth, uint64_t whole, size_t most) {
  Table::Row row{std::string(2 * depth, ' ') + node.label, human_duration(node.ns),
                 human_percent(node.ns, whole), node.count ? human_count(node.count) : ""};
  table.add(std::move(row));
  const auto known = size_t(std::count_if(node.parts.begin(), node.parts.end(),
                                          [](const TimeNode &part) { return part.known; }));
  const size_t shown = known <= most + 1 ? known : most;
  TimeNode rest{.label = human_count(known - shown) + " others"};
  for (size_t n = 0; n < node.parts.size(); n++) {
    if (n >= shown && n < known) {
      rest.ns += node.parts[n].ns;
      rest.count += node.parts[n].count;
    } else {
      put(table, node.parts[n], depth + 1, whole, most);
    }
    if (n + 1 == known && known > shown)
      put(table, rest, depth + 1, whole, most);
  }
}

} // namespace

TimeNode time_tree(const WhyInput &input, size_t depth) {
  TimeNode tree;
  ThreadTime sum;
  for (size_t t = 0; t < input.why.threads.size(); t++) {
    sum.running += input.why.threads[t].running;
    sum.unknown += input.why.threads[t].unknown;
  }
  tree.parts.push_back({.label = "running", .ns = sum.running});
  tree.parts.push_back(waiting(input));
  tree.parts.push_back(blocked(input, depth));
  if (sum.unknown)
    tree.parts.push_back(unknown(input));
  for (TimeNode &part : tree.parts) {
    if (!part.parts.empty())
      part.ns = sum_of(part.parts);
    sort(part.parts);
  }
  tree.ns = sum_of(tree.parts);
  return tree;
}

std::string tree_text(const TimeNode &tree, size_t most, size_t columns) {
  Table table({"WHERE THE TIME WENT", "TIME", "%", "TIMES"});
  for (const TimeNode &part : tree.parts)
    put(table, part, 0, tree.ns, most);
  return table.text(columns);
}

std::string lengths_text(const TimeNode &tree, size_t most, size_t columns) {
  Table table({"HOW LONG EACH TIME WAS", "p50", "p90", "p99", "MAX"});
  std::vector<const TimeNode *> timed;
  for (const TimeNode &part : tree.parts)
    for (const TimeNode &cause : part.parts)
      if (cause.lengths && cause.lengths->count())
        timed.push_back(&cause);
  std::stable_sort(timed.begin(), timed.end(),
                   [](const TimeNode *a, const TimeNode *b) { return a->ns > b->ns; });
  for (size_t n = 0; n < timed.size() && n < most; n++) {
    const LatencyHistogram &lengths = *timed[n]->lengths;
    Table::Row row{timed[n]->label};
    for (const double percent : {50.0, 90.0, 99.0})
      row.push_back(human_duration(lengths.percentile(percent)));
    row.push_back(human_duration(lengths.max()));
    table.add(std::move(row));
  }
  return table.empty() ? "" : table.text(columns);
}

} // namespace ovnitrace
