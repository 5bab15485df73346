// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/report/slice_packer.h"

#include "emulator/input/call_name.h"
#include "emulator/models/user_thread.h"
#include "emulator/report/varint.h"
#include "emulator/why/blocked_at.h"

#include <fmt/ranges.h>
#include <ovnitrace/ftrace_codes.h>

#include <algorithm>

namespace ovnitrace {

namespace {

constexpr uint64_t kSliceBytes = 7; ///< of a slice in all columns, about

} // namespace

SlicePacker::SlicePacker(const Catalog &catalog, const Cut &cut, PackPlan plan,
                         const Stacks *stacks)
    : catalog_(catalog), range_(range_of(cut, catalog)), plan_(std::move(plan)), peers_(catalog),
      stacks_(stacks), before_(catalog.threads.size()),
      step_((range_.to - range_.from) / PackedTrace::kLoadSteps + 1), last_event_(range_.from) {
  trace_.threads.resize(catalog.threads.size());
  trace_.load.assign(catalog.cpus.size() + 1, std::vector<uint64_t>(PackedTrace::kLoadSteps));
  trace_.grain = plan_.grain;
}

void SlicePacker::on_event(const Event &event, const System &system) {
  if (!is_users(event) || event.time < range_.from || overflown())
    return;
  const uint32_t thread = event.thread != kNone ? event.thread : running_thread(system, event.cpu);
  put_varint(trace_.events, event.time - last_event_);
  put_varint(trace_.events, thread == kNone ? 0 : uint64_t(thread) + 1);
  put_varint(trace_.events, event.kind | (event.by_manual ? PackedTrace::kByManual : 0));
  put_varint(trace_.events, event.par1);
  put_varint(trace_.events, event.par2);
  last_event_ = event.time;
  bytes_ += kSliceBytes;
}

void SlicePacker::on_slice(const Slice &slice) {
  if (is_waiting(slice.state) && shown_state(slice) != ShownState::throttled)
    add_load(catalog_.cpus.size(), slice.start, slice.end);
  if (overflown())
    return;
  Before &before = before_[slice.thread];
  const bool coarse = !plan_.coarse.empty() && plan_.coarse[slice.thread];
  if (coarse && (slice.length() < plan_.grain)) {
    mix(before, slice);
    if (before.mixed_ns >= plan_.grain)
      put_mix(slice.thread);
    before.slice = slice;
    return;
  }
  put_mix(slice.thread);
  put(slice);
  before.slice = slice;
}

void SlicePacker::put(const Slice &slice) {
  PackedThread &to = trace_.threads[slice.thread];
  Before &before = before_[slice.thread];
  if (to.slices++ == 0)
    to.start = slice.start - catalog_.begin;
  to.kind += char(uint8_t(shown_state(slice)) | (slice.starts ? PackedTrace::kStarts : 0) |
                  (slice.ends ? PackedTrace::kEnds : 0));
  put_varint(to.length, slice.length());
  put_cpu(to, before, slice.cpu == kNone ? 0 : slice.cpu + 1);
  put_start(to, slice, before.slice);
  if (slice.state == ThreadState::Running)
    put_varint(trace_.order, slice.thread);
  bytes_ += kSliceBytes;
}

/// Packs why a slice started, which is why the last one ended.
void SlicePacker::put_start(PackedThread &to, const Slice &slice, const Slice &before) {
  const uint32_t host = catalog_.threads[slice.thread].host;
  const auto put = [&](uint64_t why, const Peer &peer) {
    put_varint(to.why, why);
    put_varint(to.peer, peers_.number(peer, host, slice.start));
  };
  const bool ran = before.thread != kNone && before.state == ThreadState::Running;
  const auto put_departure = [&](const Slice &from) {
    const uint64_t call = is_blocked(slice.state) ? call_number(slice) : 0;
    put(1 + 2 * (from.reason + PackedTrace::kReasons * call), from.next);
  };
  if (ran && before.reason != kNotKnown)
    put_departure(before);
  else if (is_waiting(slice.state) && slice.context != kNotKnown)
    put(2 + 2 * uint64_t(slice.context), slice.waker);
  else if (slice.state != ThreadState::Running && slice.reason != kNotKnown)
    put_departure(slice);
  else
    put(0, {});
}

/// Returns the number of the system call and the place in which the thread is blocked, 0 if neither
/// is known.
uint64_t SlicePacker::call_number(const Slice &slice) {
  const uint32_t host = catalog_.threads[slice.thread].host;
  const auto [it, added] = known_calls_.try_emplace({host, slice.stack, slice.call}, 0);
  if (added)
    it->second = number_of(is_page_fault(stacks_, catalog_.threads[slice.thread], slice)
                               ? kPageFault
                               : call_name(catalog_, slice.thread, slice.call),
                           place_of(slice));
  return it->second;
}

/// Returns the number of a call with a place. There are 2047 numbers; the last ones are for calls
/// alone.
uint64_t SlicePacker::number_of(std::string_view call, std::string place) {
  constexpr size_t kMostPlaces = 1500;
  if (calls_.size() >= kMostPlaces && !place.empty() && !calls_.contains({call, place})) {
    trace_.places_left_out++;
    place.clear();
  }
  if (call.empty() && place.empty())
    return 0;
  const auto [it, added] = calls_.try_emplace({call, place}, calls_.size() + 1);
  if (added) {
    trace_.calls.push_back(call);
    trace_.places.push_back(std::move(place));
  }
  return it->second;
}

/// Returns the functions of a stack from the innermost one of the program outward.
std::string SlicePacker::place_of(const Slice &slice) const {
  constexpr size_t kMostFunctions = 16;
  if (!stacks_)
    return {};
  const StackTable &table = stacks_->of_thread(catalog_.threads[slice.thread]);
  return fmt::format("{}", fmt::join(blocked_at(table, slice.stack, kMostFunctions), " < "));
}

void SlicePacker::put_cpu(PackedThread &to, Before &before, uint32_t cpu) {
  put_varint(to.cpu, zigzag(int64_t(cpu) - int64_t(before.cpu)));
  before.cpu = cpu;
}

void SlicePacker::mix(Before &before, const Slice &slice) {
  PackedThread &to = trace_.threads[slice.thread];
  if (to.slices == 0 && before.mixed_ns == 0)
    to.start = slice.start - catalog_.begin;
  before.mixed_ns += slice.length();
  before.mix[size_t(shown_state(slice))] += slice.length();
}

void SlicePacker::put_mix(uint32_t thread) {
  Before &before = before_[thread];
  if (before.mixed_ns == 0)
    return;
  PackedThread &to = trace_.threads[thread];
  to.slices++;
  to.kind += char(PackedTrace::kMixed);
  put_varint(to.length, before.mixed_ns);
  put_cpu(to, before, 0);
  put_varint(to.why, 0);
  put_varint(to.peer, 0);
  for (uint64_t &ns : before.mix) {
    put_varint(to.mix, ns);
    ns = 0;
  }
  before.mixed_ns = 0;
  bytes_ += 2 * kSliceBytes;
}

void SlicePacker::add_load(size_t row, uint64_t start, uint64_t end) {
  std::vector<uint64_t> &steps = trace_.load[row];
  for (uint64_t at = start; at < end;) {
    const uint64_t step = (at - range_.from) / step_;
    const uint64_t until = std::min(end, range_.from + (step + 1) * step_);
    steps[step] += until - at;
    at = until;
  }
}

void SlicePacker::on_cpu(const CpuSpan &span) {
  if (span.cpu >= catalog_.cpus.size())
    return; // of threads that are on no CPU of the machine
  if (span.what == CpuSpan::What::busy) {
    add_load(span.cpu, span.start, span.end);
    return;
  }
  put_varint(trace_.dark, span.cpu);
  put_varint(trace_.dark, span.start - catalog_.begin);
  put_varint(trace_.dark, span.end - span.start);
  bytes_ += kSliceBytes;
}

PackedTrace SlicePacker::finish() {
  for (uint32_t thread = 0; thread < trace_.threads.size(); thread++) {
    put_mix(thread);
    trace_.slices += trace_.threads[thread].slices;
    trace_.coarse_threads += !trace_.threads[thread].mix.empty();
  }
  trace_.untraced = peers_.untraced();
  return std::move(trace_);
}

} // namespace ovnitrace
