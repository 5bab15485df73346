// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/report/why_part.h"

#include "emulator/report/varint.h"
#include "emulator/why/cause_names.h"
#include "emulator/why/wait_kind.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace ovnitrace {

using Json = nlohmann::ordered_json;

WhyPart::WhyPart(const Catalog &catalog, const TraceInfo &info, const Cut &cut,
                 Explainer &explainer, uint64_t most_bytes)
    : catalog_(catalog), info_(info), range_(range_of(cut, catalog)), explainer_(explainer),
      most_bytes_(most_bytes), turns_(catalog.cpus.size()),
      turned_(catalog.cpus.size(), range_.from), threads_(catalog.threads.size()),
      moves_(catalog.threads.size()) {
  explainer.take_turns(*this);
}

uint32_t WhyPart::number_of(Culprit culprit, uint32_t host) {
  const auto [at, is_new] =
      culprit_numbers_.try_emplace({host, culprit.code()}, uint32_t(culprits_.size()));
  if (is_new)
    culprits_.emplace_back(host, culprit);
  return at->second;
}

uint32_t WhyPart::number_of(Block block) {
  const auto [at, is_new] = block_numbers_.try_emplace(block, uint32_t(blocks_.size()));
  if (is_new)
    blocks_.push_back(block);
  return at->second;
}

void WhyPart::turn(uint32_t cpu, Culprit holder, uint64_t, uint64_t end) {
  end = std::min(end, range_.to);
  if (overflown() || cpu >= turns_.size() || end <= turned_[cpu])
    return;
  Entries &to = turns_[cpu];
  const size_t before = to.bytes.size();
  put_varint(to.bytes, end - turned_[cpu]);
  put_varint(to.bytes, number_of(holder, catalog_.cpus[cpu].host));
  to.count++;
  turned_[cpu] = end;
  used_ += to.bytes.size() - before;
}

/// Notes where a wait is when it begins, and where it goes. A wait outside the cut has no slice
/// that takes its moves: they end where the next one begins.
void WhyPart::on_change(uint32_t thread, const StateChange &change, uint64_t time) {
  if (!is_waiting(change.from))
    moves_[thread].clear();
  if (!is_waiting(change.to))
    return;
  const auto cpu = change.cpu < catalog_.cpus.size() ? change.cpu + 1 : 0;
  moves_[thread].push_back({time, cpu});
}

void WhyPart::on_slice(const Slice &slice) {
  std::vector<Move> moves = std::exchange(moves_[slice.thread], {});
  // The change that ends a slice comes before it: what it says of the next wait stays.
  if (is_waiting(slice.then) && !moves.empty() && moves.back().time == slice.end) {
    moves_[slice.thread].push_back(moves.back());
    moves.pop_back();
  }
  if (overflown())
    return;
  Entries &to = threads_[slice.thread];
  const size_t before = to.bytes.size();
  if (is_blocked(slice.state) && explainer_.leaves_out(slice)) {
    put_varint(to.bytes, 1);
    to.count++;
  } else if (is_blocked(slice.state)) {
    const auto [block, waker] = explainer_.last_block(slice.thread);
    put_varint(to.bytes, 2 + uint64_t(number_of(block)));
    put_varint(to.bytes, number_of(waker, catalog_.threads[slice.thread].host));
    to.count++;
  } else if (is_waiting(slice.state)) {
    put_varint(to.bytes, 0);
    const auto &[kind, idle] = explainer_.last_wait(slice.thread);
    put_varint(to.bytes, uint64_t(kind));
    if (slice.then != ThreadState::Running && !moves.empty() && moves.back().cpu == 0)
      moves.push_back({slice.end, 0}); // not on the CPU of the slice that follows
    put_varint(to.bytes, moves.size());
    for (const Move &move : moves) {
      put_varint(to.bytes, std::max(move.time, slice.start) - slice.start);
      put_varint(to.bytes, move.cpu);
    }
    for (const uint64_t ns : idle.ns)
      put_varint(to.bytes, ns);
    to.count++;
  }
  used_ += to.bytes.size() - before;
}

Json WhyPart::header(bool throttles_real_time) const {
  if (overflown())
    return {};
  Json culprits = Json::array(), blocks = Json::array(), kinds = Json::array(),
       idle = Json::array();
  for (const auto &[host, culprit] : culprits_)
    culprits.push_back(
        {{"text", culprit_text(catalog_, culprit, host)},
         {"name", name_of(catalog_, culprit, host)},
         {"kind", int(culprit.kind())},
         {"untraced", culprit.kind() == Culprit::Kind::untraced},
         {"thread", culprit.kind() == Culprit::Kind::thread ? Json(culprit.number()) : Json()},
         {"known", culprit.is_known()}});
  for (const Block block : blocks_)
    blocks.push_back(block_name(info_.machine, block));
  for (size_t kind = 0; kind < kWaitKinds; kind++)
    kinds.push_back({{"word", wait_word(WaitKind(kind))},
                     {"name", wait_name(catalog_, WaitKind(kind), throttles_real_time)}});
  for (const IdleCauseInfo &cause : kIdleCauses)
    idle.push_back({{"word", cause.word}, {"name", cause.name}, {"meaning", cause.meaning}});
  return {{"culprits", culprits}, {"blocks", blocks}, {"kinds", kinds}, {"idle", idle}};
}

std::string WhyPart::bytes() const {
  if (overflown())
    return {};
  std::string all;
  for (const std::vector<Entries> *lists : {&turns_, &threads_})
    for (const Entries &one : *lists) {
      put_varint(all, one.count);
      all += one.bytes;
    }
  return all;
}

namespace {

constexpr size_t kMostSums = 1000;

/// Returns what the page says about a holder.
Json holder_json(const Catalog &catalog, Culprit holder, uint32_t thread) {
  return {{"name", culprit_text(catalog, holder, catalog.threads[thread].host)},
          {"thread", holder.kind() == Culprit::Kind::thread ? Json(holder.number()) : Json()},
          {"known", holder.is_known()}};
}

/// Returns one sum for each thread and holder, over all kinds of waits.
std::vector<WaitSum> sums_of(const Explanation &why) {
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> all;
  for (const WaitSum &sum : why.waits)
    if (wants_cpu(sum.kind))
      all[{sum.thread, sum.holder.code()}] += sum.ns;
  std::vector<WaitSum> sums;
  for (const auto &[key, ns] : all)
    sums.push_back({.thread = key.first, .holder = Culprit::from_code(key.second), .ns = ns});
  std::sort(sums.begin(), sums.end(), [](const WaitSum &a, const WaitSum &b) {
    return std::tuple(b.ns, a.thread, a.holder.code()) <
           std::tuple(a.ns, b.thread, b.holder.code());
  });
  return sums;
}

} // namespace

Json waits_header(const Catalog &catalog, const Explanation &why) {
  Json sums = Json::array();
  uint64_t left_out = 0;
  for (const WaitSum &sum : sums_of(why)) {
    if (sums.size() == kMostSums) {
      left_out += sum.ns;
      continue;
    }
    Json one = holder_json(catalog, sum.holder, sum.thread);
    one["waiter"] = sum.thread;
    one["ns"] = sum.ns;
    sums.push_back(std::move(one));
  }
  return {{"sums", std::move(sums)}, {"left_out", left_out}};
}

} // namespace ovnitrace
