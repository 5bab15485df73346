// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/format/call_names.h"
#include "emulator/why/blocked_at.h"
#include "emulator/why/locks.h"
#include "emulator/why/path_report.h"
#include "emulator/why/why_report.h"
#include "emulator/why/words.h"

#include <nlohmann/json.hpp>

#include <map>
#include <tuple>
#include <utility>

namespace ovnitrace {

namespace {

using Json = nlohmann::ordered_json;

class JsonWhy {
public:
  explicit JsonWhy(const WhyInput &input)
      : input_(input), catalog_(input.catalog), why_(input.why) {}

  Json all() const {
    Json all = {{"trace", input_.path},
                {"from_ns", why_.range.from - catalog_.begin},
                {"duration_ns", why_.range.to - why_.range.from},
                {"threads", threads()},
                {"causes", causes()},
                {"waits", stories(why_.longest_waits, true)},
                {"blocks", stories(why_.longest_blocks, false)},
                {"wakeups", wakeups()},
                {"locks", locks()}};
    if (input_.critical_path)
      add_path_json(all, *input_.critical_path, catalog_);
    return all;
  }

private:
  Json tid(Who who) const {
    const uint32_t tid = tid_of(catalog_, who);
    return tid == kNone ? Json() : Json(tid);
  }
  std::string name(Who who, uint32_t thread) const {
    return name_of(catalog_, who, catalog_.threads[thread].node);
  }
  Json call(Block block) const {
    return block.call == FTRACE_CALL_UNKNOWN ? Json()
                                             : Json(call_name(input_.info.machine, block.call));
  }

  Json threads() const {
    std::vector<Json> waiting(why_.threads.size(), Json::array()),
        blocked(why_.threads.size(), Json::array());
    put_waits(waiting);
    put_blocks(blocked);
    Json all = Json::array();
    for (size_t t = 0; t < why_.threads.size(); t++) {
      if (!why_.shown[t])
        continue;
      const ThreadInfo &thread = catalog_.threads[t];
      const ThreadTime &time = why_.threads[t];
      all.push_back({{"tid", thread.tid},
                     {"pid", thread.pid},
                     {"name", thread.name},
                     {"life_ns", time.life()},
                     {"running_ns", time.running},
                     {"waiting_ns", time.waiting},
                     {"blocked_ns", time.blocked},
                     {"unknown_ns", time.unknown},
                     {"idle_elsewhere_ns", time.idle_known ? Json(time.idle_elsewhere) : Json()},
                     {"idle_forbidden_ns", time.idle_known ? Json(time.idle_forbidden) : Json()},
                     {"waiting", std::move(waiting[t])},
                     {"blocked", std::move(blocked[t])}});
    }
    return all;
  }

  /// Of threads that are not traced, only the first is known that gets a CPU.
  static bool has_others(Who holder) { return holder.kind() == Who::Kind::untraced; }

  /// One for each holder of each thread.
  void put_waits(std::vector<Json> &waiting) const {
    std::map<std::pair<uint32_t, uint32_t>, size_t> place;
    for (const WaitSum &sum : why_.waits) {
      Json &all = waiting[sum.thread];
      const auto [at, is_new] = place.try_emplace({sum.thread, sum.holder.code()}, all.size());
      if (is_new)
        all.push_back({{"holder_tid", tid(sum.holder)},
                       {"holder", name(sum.holder, sum.thread)},
                       {"and_others", has_others(sum.holder)},
                       {"ns", 0},
                       {"after_ns", Json::object()}});
      Json &one = all[at->second];
      one["ns"] = one["ns"].get<uint64_t>() + sum.ns;
      one["after_ns"][wait_word(sum.kind)] = sum.ns;
    }
  }

  /// One for each call and waker of each thread, with its stacks.
  void put_blocks(std::vector<Json> &blocked) const {
    std::map<std::tuple<uint32_t, Block, uint32_t>, size_t> place;
    for (const BlockSum &sum : why_.blocks) {
      Json &all = blocked[sum.thread];
      const auto [at, is_new] =
          place.try_emplace({sum.thread, sum.block, sum.waker.code()}, all.size());
      if (is_new)
        all.push_back({{"call", call(sum.block)},
                       {"waker_tid", tid(sum.waker)},
                       {"waker", name(sum.waker, sum.thread)},
                       {"ns", 0},
                       {"count", 0},
                       {"cause", block_name(input_, sum.block)},
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
      all.push_back(lengths("blocked", block_name(input_, block), of));
    return all;
  }

  Json stories(const std::vector<Story> &stories, bool waits) const {
    Json all = Json::array();
    for (const Story &story : stories) {
      const ThreadInfo &thread = catalog_.threads[story.thread];
      Json one = {{"tid", thread.tid},
                  {"name", thread.name},
                  {"start_ns", story.start - catalog_.begin},
                  {"ns", story.length()}};
      if (waits) {
        const bool known = story.cpu < catalog_.cpus.size();
        one["cpu"] = known ? Json(catalog_.cpus[story.cpu].index) : Json();
        one["after"] = wait_word(story.kind);
        one["holders"] = Json::array();
        for (const Story::Part &part : story.holders)
          one["holders"].push_back({{"holder_tid", tid(part.who)},
                                    {"holder", name(part.who, story.thread)},
                                    {"and_others", has_others(part.who)},
                                    {"ns", part.ns}});
        const bool idle = story.idle.cpu < catalog_.cpus.size();
        one["idle_elsewhere_ns"] = story.idle.known ? Json(story.idle.ns) : Json();
        one["idle_forbidden_ns"] = story.idle.known ? Json(story.idle.forbidden_ns) : Json();
        one["idle_cpu"] = idle ? Json(catalog_.cpus[story.idle.cpu].index) : Json();
        one["idle_cpu_ns"] = idle ? Json(story.idle.cpu_ns) : Json();
      }
      const bool blocked = !waits || story.kind == WaitKind::wakeup;
      one["call"] = blocked ? call(story.block) : Json();
      one["by_tid"] = tid(story.by);
      one["by"] = name(story.by, story.thread);
      all.push_back(std::move(one));
    }
    return all;
  }

  Json wakeups() const {
    Json all = Json::array();
    for (const WakeSum &sum : why_.wakes)
      all.push_back({{"waker_tid", tid(sum.waker)},
                     {"waker", name(sum.waker, sum.thread)},
                     {"tid", catalog_.threads[sum.thread].tid},
                     {"name", catalog_.threads[sum.thread].name},
                     {"count", sum.count},
                     {"late_ns", sum.late},
                     {"late_max_ns", sum.late_max}});
    return all;
  }

  Json locks() const {
    Json all = Json::array();
    for (const Lock &lock : locks_of(catalog_, why_)) {
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

std::string why_json(const WhyInput &input) {
  constexpr int kIndent = 2;
  // Names are bytes that programs chose: what is no UTF-8 is replaced.
  return JsonWhy(input).all().dump(kIndent, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace ovnitrace
