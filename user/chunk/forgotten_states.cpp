// SPDX-License-Identifier: BSD-2-Clause
#include "user/chunk/forgotten_states.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ovnitrace {

namespace {

constexpr uint8_t kTransitionsLost =
    1 << FTRACE_BLACKOUT_TRANSITIONS | 1 << FTRACE_BLACKOUT_SOMEWHERE;

} // namespace

void ForgottenStates::Thread::place(const Moment &at, ThreadState to, uint16_t on, uint32_t why,
                                    uint16_t in) {
  if (!snapshot && at < placed)
    return;
  placed = at;
  state = to;
  cpu = on;
  reason = uint8_t(why);
  call = in;
  snapshot = false;
}

bool ForgottenStates::is_lit(uint32_t cpu, const Moment &since) const {
  const Cpu &at = cpus_[cpu];
  return !blind_ && !(at.blackouts & kTransitionsLost) &&
         (since.time > at.dark_until || (since.cpu() == cpu && since.time == at.dark_until));
}

bool ForgottenStates::is_known(const Moment &since) const {
  for (uint32_t cpu = 0; cpu < cpus_.size(); cpu++)
    if (!is_lit(cpu, since))
      return false;
  return true;
}

std::optional<ForgottenStates::Last> ForgottenStates::last_of(const Thread &thread,
                                                              uint64_t begin) const {
  const bool runs = thread.state == ThreadState::Running && thread.cpu < cpus_.size();
  const bool placed = runs ? is_lit(thread.cpu, thread.placed) : is_known(thread.placed);
  const Moment newest = thread.newest();
  if (newest == Moment{} || thread.state == ThreadState::Dead ||
      !(newest == thread.placed ? placed : is_known(newest)))
    return std::nullopt;
  Last last{.at = newest};
  if (newest.time > begin && newest != thread.placed)
    return last; // between the two there may be events that are kept
  if (placed)
    last = {newest, thread.state, thread.cpu, thread.reason, thread.call};
  Moment since = thread.snapshot ? Moment{} : thread.placed;
  if (last.state != ThreadState::Running && thread.moved > since && is_known(thread.moved))
    last.cpu = thread.moved_to;
  if (is_legal(last.state, ThreadAction::warm) && thread.woken > since && is_known(thread.woken)) {
    last.state = thread.held_back ? ThreadState::Cooling : ThreadState::Warming;
    last.reason = thread.held_back;
    last.call = FTRACE_CALL_UNKNOWN;
    since = thread.woken;
  }
  if (ftrace_offcpu_is_throttled(last.reason) && thread.refilled > since)
    last.reason = FTRACE_OFFCPU_REFILLED;
  return last;
}

/// Returns threads that are kept and have lost no event, with only their identity.
std::vector<ForgottenStates::Thread> ForgottenStates::never_forgotten(const Chunks &kept) const {
  std::set<std::pair<uint32_t, uint64_t>> found; // tid, birth
  std::vector<Thread> threads;
  for (const std::shared_ptr<const Chunk> &chunk : kept)
    for (size_t n = 1; n < chunk->records.size(); n++) {
      const ftrace_record &id = chunk->records[n - 1], &process = chunk->records[n];
      if (id.code != FTrace_EVT_id || process.code != FTrace_EXT_process)
        continue;
      Thread thread;
      thread.take(id);
      thread.take(process);
      const auto forgotten = threads_.find(thread.tid);
      const bool none =
          forgotten == threads_.end() || forgotten->second.birth < thread.birth ||
          (forgotten->second.birth == thread.birth && forgotten->second.newest() == Moment{});
      if (none && found.emplace(thread.tid, thread.birth).second)
        threads.push_back(thread);
    }
  return threads;
}

ForgottenStates::Remembered ForgottenStates::remembered(uint64_t begin, const Chunks &kept) const {
  struct Item {
    uint64_t time;
    uint16_t context;
    const Thread *thread;
    std::optional<uint32_t> state; ///< parameter 2 of EXT_state; nothing: its identity
    uint16_t code = FTrace_EXT_state;
  };
  std::vector<std::vector<Item>> items(cpus_.size());
  const auto add = [&](const Thread &thread, const Last &last) {
    std::vector<Item> &of_cpu = items[last.at.cpu()];
    if (of_cpu.size() / 2 == UINT16_MAX)
      return; // there is no context left
    const uint16_t context = uint16_t(of_cpu.size() / 2 + 1);
    const uint64_t time = std::max(begin, last.at.time);
    of_cpu.push_back({std::clamp(thread.name_time, begin, time), context, &thread, std::nullopt});
    of_cpu.push_back({time, context, &thread,
                      uint32_t(last.state) | uint32_t(last.cpu) << FTRACE_SNAPSHOT_CPU_SHIFT |
                          uint32_t(last.reason) << FTRACE_REASON_SHIFT |
                          FTRACE_CALL_PAR2(last.call),
                      uint16_t(FTrace_EXT_state | FTRACE_CALL_CODE(last.call))});
  };
  for (const auto &[tid, thread] : threads_)
    if (const std::optional<Last> last = last_of(thread, begin))
      add(thread, *last);
  const std::vector<Thread> others = never_forgotten(kept);
  const auto any =
      std::find_if(cpus_.begin(), cpus_.end(), [](const Cpu &cpu) { return cpu.forgot; });
  const Moment from_begin = {begin, uint64_t(any - cpus_.begin()) << kPlaceShift};
  if (is_known(from_begin))
    for (const Thread &thread : others)
      add(thread, {.at = from_begin});

  Remembered result{.states = std::vector<std::vector<SmallEvent>>(cpus_.size()),
                    .unfinished = std::vector<std::vector<ftrace_blackout>>(cpus_.size())};
  for (size_t cpu = 0; cpu < cpus_.size(); cpu++) {
    std::stable_sort(items[cpu].begin(), items[cpu].end(),
                     [](const Item &a, const Item &b) { return a.time < b.time; });
    for (const auto &[time, context, thread, state, code] : items[cpu])
      if (state)
        result.states[cpu].push_back({time, code, context, *state});
      else
        thread->encode(context, time,
                       [&](uint16_t code, uint16_t par1, uint64_t at, uint32_t par2) {
                         result.states[cpu].push_back({at, code, par1, par2});
                       });
    for (ftrace_blackout what : {FTRACE_BLACKOUT_TRANSITIONS, FTRACE_BLACKOUT_SOMEWHERE,
                                 FTRACE_BLACKOUT_FAMILIES, FTRACE_BLACKOUT_PAUSED})
      if (cpus_[cpu].blackouts >> what & 1)
        result.unfinished[cpu].push_back(what);
  }
  return result;
}

} // namespace ovnitrace
