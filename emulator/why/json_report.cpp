// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/json_stream.h"
#include "emulator/format/call_names.h"
#include "emulator/input/thread_group.h"
#include "emulator/summary/idle_text.h"
#include "emulator/why/blocked_at.h"
#include "emulator/why/cause_names.h"
#include "emulator/why/group_waits.h"
#include "emulator/why/locks.h"
#include "emulator/why/path_report.h"
#include "emulator/why/sentences.h"
#include "emulator/why/why_report.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace ovnitrace {

namespace {

using Json = nlohmann::ordered_json;

class JsonWhy {
public:
  explicit JsonWhy(const WhyInput &input)
      : input_(input), catalog_(input.catalog), why_(input.why) {}

  void write(JsonStream &out) const {
    out.member("schema", kJsonSchema);
    out.member("trace", input_.path);
    out.member("from_ns", why_.range.from - catalog_.begin);
    out.member("duration_ns", why_.range.to - why_.range.from);
    const Answer answer = answer_of(input_.info, catalog_, why_, input_.command);
    out.member("answer", Json{{"sentences", answer.sentences}, {"advice", answer.advice}});
    const Json hit = long_waits(why_.hit, !why_.hit_is_block);
    out.member("hit", hit.empty() ? Json() : hit[0]);
    out.member("covered_ns", why_.covered);
    put_threads(out);
    out.member("cgroups", cgroups());
    out.member("causes", causes());
    out.member("slowest_waits", slowest());
    out.member("waits", long_waits(why_.longest_waits, true));
    out.member("idle_waits", long_waits(why_.idle_waits, true));
    out.member("blocks", long_waits(why_.longest_blocks, false));
    put_wakeups(out);
    out.member("locks", locks());
    if (input_.critical_path) {
      Json path = Json::object();
      add_path_json(path, *input_.critical_path, catalog_);
      for (const auto &[key, value] : path.items())
        out.member(key, value);
    }
    out.end();
  }

private:
  Json tid(Culprit culprit) const {
    const uint32_t tid = tid_of(catalog_, culprit);
    return tid == kNone ? Json() : Json(tid);
  }
  std::string name(Culprit culprit, uint32_t thread) const {
    return name_of(catalog_, culprit, catalog_.threads[thread].host);
  }
  Json call(Block block) const {
    return block.call == FTRACE_CALL_UNKNOWN ? Json()
                                             : Json(call_name(input_.info.machine, block.call));
  }

  Json cpu(uint32_t cpu) const {
    return cpu < catalog_.cpus.size() ? Json(catalog_.cpus[cpu].index) : Json();
  }

  Json cgroup(const ThreadInfo &thread) const {
    const Cgroup *cgroup = cgroup_of(catalog_, thread, why_.range.to);
    return cgroup ? Json(cgroup->path) : Json();
  }

  static Json behind(const GroupWaits &one) {
    Json groups = Json::array();
    for (const auto &[group, ns] : one.behind)
      groups.push_back({{"group", group}, {"ns", ns}});
    return groups;
  }

  Json cgroups() const {
    Json all = Json::array();
    for (const GroupWaits &one : group_waits(catalog_, why_))
      all.push_back({{"group", one.group.empty() ? Json() : Json(one.group)},
                     {"threads", one.threads},
                     {"running_ns", one.time.running},
                     {"blocked_ns", one.time.blocked},
                     {"unknown_ns", one.time.unknown},
                     {"waiting_ns", one.time.waiting},
                     {"throttled_ns", one.throttled},
                     {"same_group_ns", one.same_group},
                     {"other_groups_ns", one.other_groups},
                     {"behind", behind(one)},
                     {"system_ns", one.system},
                     {"rest_ns", one.rest}});
    return all;
  }

  void put_threads(JsonStream &out) const {
    out.start_array("threads");
    auto wait = why_.waits.begin();
    auto block = why_.blocks.begin();
    for (uint32_t t = 0; t < why_.threads.size(); t++) {
      const auto waits = wait;
      const auto blocks = block;
      while (wait != why_.waits.end() && wait->thread == t)
        ++wait;
      while (block != why_.blocks.end() && block->thread == t)
        ++block;
      if (!why_.shown[t])
        continue;
      const ThreadInfo &thread = catalog_.threads[t];
      const ThreadTime &time = why_.threads[t];
      out.element({{"tid", thread.tid},
                   {"pid", thread.pid},
                   {"name", thread.name},
                   {"cgroup", cgroup(thread)},
                   {"life_ns", time.life()},
                   {"running_ns", time.running},
                   {"latency_share_ns", time.latency_share},
                   {"waiting_ns", time.waiting},
                   {"blocked_ns", time.blocked},
                   {"unknown_ns", time.unknown},
                   {"outside_regions_ns", time.outside},
                   {"idle_elsewhere_ns", time.idle_known ? Json(time.idle_elsewhere) : Json()},
                   {"idle_forbidden_ns", time.idle_known ? Json(time.idle_forbidden) : Json()},
                   {"idle_while_waiting", idle_json(time.idle_known, time.idle)},
                   {"waiting", waiting({waits, wait})},
                   {"blocked", blocked({blocks, block})}});
    }
    out.end_array();
  }

  /// Returns whether it is not known who held the CPU, nor how many did.
  static bool has_others(Culprit holder) { return holder.kind() == Culprit::Kind::unseen; }

  /// Returns the waits of a thread, one entry for each holder. A throttled thread waits for quota
  /// and not for a CPU: a thread that runs there meanwhile is not its holder.
  Json waiting(std::span<const WaitSum> sums) const {
    Json all = Json::array();
    std::map<std::pair<bool, uint64_t>, size_t> place;
    for (const WaitSum &sum : sums) {
      const bool throttled = is_throttled(sum.kind);
      const auto [at, is_new] =
          place.try_emplace({throttled, throttled ? 0 : sum.holder.code()}, all.size());
      if (is_new)
        all.push_back({{"holder_tid", throttled ? Json() : tid(sum.holder)},
                       {"holder", throttled ? Json() : Json(name(sum.holder, sum.thread))},
                       {"and_others", has_others(sum.holder)},
                       {"ns", 0},
                       {"after_ns", Json::object()}});
      Json &one = all[at->second];
      one["ns"] = one["ns"].get<uint64_t>() + sum.ns;
      Json &after = one["after_ns"][wait_word(sum.kind)];
      after = (after.is_null() ? 0 : after.get<uint64_t>()) + sum.ns;
    }
    return all;
  }

  /// Returns the blocks of a thread, one for each call and waker, with their stacks.
  Json blocked(std::span<const BlockSum> sums) const {
    Json all = Json::array();
    std::map<std::pair<Block, uint64_t>, size_t> place;
    for (const BlockSum &sum : sums) {
      const auto [at, is_new] = place.try_emplace({sum.block, sum.waker.code()}, all.size());
      if (is_new)
        all.push_back({{"call", call(sum.block)},
                       {"waker_tid", tid(sum.waker)},
                       {"waker", name(sum.waker, sum.thread)},
                       {"ns", 0},
                       {"count", 0},
                       {"cause", block_name(input_.info.machine, sum.block)},
                       {"stacks", Json::array()}});
      Json &one = all[at->second];
      one["ns"] = one["ns"].get<uint64_t>() + sum.ns;
      one["count"] = one["count"].get<uint64_t>() + sum.count;
      if (sum.stack == kNone)
        continue;
      const StackTable &stacks = input_.stacks.of_thread(catalog_.threads[sum.thread]);
      one["stacks"].push_back(
          {{"functions", functions_of(stacks, sum.stack)}, {"ns", sum.ns}, {"count", sum.count}});
    }
    return all;
  }

  static Json lengths(const char *kind, std::string cause, const LatencyHistogram &of) {
    return {{"kind", kind},
            {"cause", std::move(cause)},
            {"count", of.count()},
            {"p50_ns", of.percentile(50)},
            {"p90_ns", of.percentile(90)},
            {"p99_ns", of.percentile(99)},
            {"max_ns", of.max()}};
  }

  Json causes() const {
    Json all = Json::array();
    for (size_t kind = 0; kind < kWaitKinds; kind++)
      if (why_.wait_lengths[kind].count())
        all.push_back(lengths("waiting", wait_word(WaitKind(kind)), why_.wait_lengths[kind]));
    for (const auto &[block, of] : why_.block_lengths)
      all.push_back(lengths("blocked", block_name(input_.info.machine, block), of));
    return all;
  }

  Json slowest() const {
    const TailSums &tail = why_.tail;
    if (!tail.count)
      return Json();
    Json holders = Json::array();
    for (const auto &[holder, host, ns] : tail.holders)
      holders.push_back(
          {{"holder_tid", tid(holder)}, {"holder", name_of(catalog_, holder, host)}, {"ns", ns}});
    return {{"count", tail.count},
            {"of", tail.all},
            {"shortest_ns", tail.shortest},
            {"holders", std::move(holders)}};
  }

  Json long_waits(const std::vector<LongWait> &longest, bool waits) const {
    const std::span long_waits =
        std::span(longest).first(std::min(longest.size(), Explanation::kMostLines));
    Json all = Json::array();
    for (const LongWait &wait : long_waits) {
      const ThreadInfo &thread = catalog_.threads[wait.thread];
      Json one = {{"tid", thread.tid},
                  {"name", thread.name_at(wait.start)},
                  {"start_ns", wait.start - catalog_.begin},
                  {"ns", wait.length()},
                  {"starts", wait.starts},
                  {"ends", wait.ends}};
      if (waits) {
        one["cpu"] = cpu(wait.cpu);
        one["cpu_ns"] = wait.cpu_ns;
        one["after"] = wait_word(wait.kind);
        if (wait.throttled)
          one["throttled_ns"] = wait.throttled;
        one["holders"] = Json::array();
        const bool throttled = is_throttled(wait.kind);
        for (const LongWait::Part &part : throttled ? std::vector<LongWait::Part>() : wait.holders)
          one["holders"].push_back({{"holder_tid", tid(part.holder)},
                                    {"holder", name(part.holder, wait.thread)},
                                    {"and_others", has_others(part.holder)},
                                    {"cpu", cpu(part.cpu)},
                                    {"ns", part.ns}});
        one["idle_while_waiting"] =
            idle_json(wait.idle.known ? wait.length() : 0, wait.idle.causes);
        const bool idle = wait.idle.cpu < catalog_.cpus.size();
        one["idle_elsewhere_ns"] = wait.idle.known ? Json(wait.idle.ns) : Json();
        one["idle_forbidden_ns"] = wait.idle.known ? Json(wait.idle.forbidden_ns) : Json();
        one["idle_cpu"] = cpu(wait.idle.cpu);
        one["idle_cpu_ns"] = idle ? Json(wait.idle.cpu_ns) : Json();
      }
      const bool blocked = !waits || wait.kind == WaitKind::wakeup;
      one["call"] = blocked ? call(wait.block) : Json();
      one["by_tid"] = tid(wait.by);
      one["by"] = name(wait.by, wait.thread);
      all.push_back(std::move(one));
    }
    return all;
  }

  void put_wakeups(JsonStream &out) const {
    out.start_array("wakeups");
    for (const WakeSum &sum : why_.wakes)
      out.element({{"waker_tid", tid(sum.waker)},
                   {"waker", name(sum.waker, sum.thread)},
                   {"tid", catalog_.threads[sum.thread].tid},
                   {"name", catalog_.threads[sum.thread].name},
                   {"count", sum.count},
                   {"measured", sum.measured},
                   {"late_ns", sum.late},
                   {"late_max_ns", sum.late_max}});
    out.end_array();
  }

  Json locks() const {
    Json all = Json::array();
    for (const Lock &lock : locks_of(catalog_, why_)) {
      const std::string at = longest_wait_at(lock, input_.stacks);
      Json waits = Json::array();
      for (const LockSum *sum : lock.parts)
        waits.push_back({{"tid", catalog_.threads[sum->thread].tid},
                         {"name", catalog_.threads[sum->thread].name},
                         {"waker_tid", tid(sum->waker)},
                         {"waker", name(sum->waker, sum->thread)},
                         {"count", sum->count},
                         {"gave_up", sum->gave_up},
                         {"ns", sum->ns},
                         {"max_ns", sum->max}});
      all.push_back({{"futex", lock.futex},
                     {"pid", lock.pid},
                     {"pi", lock.inherits},
                     {"max_at", at.empty() ? Json() : Json(at)},
                     {"count", lock.count},
                     {"gave_up", lock.gave_up},
                     {"ns", lock.ns},
                     {"max_ns", lock.max},
                     {"waits", std::move(waits)}});
    }
    return all;
  }

  const WhyInput &input_;
  const Catalog &catalog_;
  const Explanation &why_;
};

} // namespace

void write_why_json(const WhyInput &input, const JsonStream::Write &write) {
  JsonStream out(write);
  JsonWhy(input).write(out);
}

} // namespace ovnitrace
