// SPDX-License-Identifier: BSD-2-Clause
#include "user/chunk/rotating_target.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "emulator/format/chunk_header.h"
#include "emulator/format/trace_part.h"
#include "user/chunk/event_count.h"
#include "user/chunk/gap_chunk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace ovnitrace {

namespace {

std::string part_name(unsigned number) {
  return fmt::format("{:04}", number);
}

} // namespace

RotatingTarget::RotatingTarget(const std::string &path, IfExists exists, uint32_t cpus, int level,
                               const Rotation &rotation)
    : cpus_(cpus), level_(level), rotation_(rotation), whole_(path, exists, cpus, 0), states_(cpus),
      by_cpu_(cpus) {}

void RotatingTarget::prepare(const Description &description) {
  whole_.prepare(description);
  description_ = ended_part_ = last_part_ = description;
}

void RotatingTarget::begin() {
  whole_.begin();
  open_part(0);
}

/// A part without events goes on: the whole would lack its time at the start.
bool RotatingTarget::wants_rotation(uint64_t now) const {
  if (!part_bytes_)
    return false;
  {
    const std::lock_guard lock(mutex_);
    if (cut_)
      return false;
  }
  return (rotation_.bytes && part_bytes_ >= rotation_.bytes) ||
         (rotation_.time && now >= part_begin_ + rotation_.time);
}

void RotatingTarget::rotate_soon(uint64_t before, uint64_t after) {
  const std::lock_guard lock(mutex_);
  cut_ = {before, after};
}

/// If a new part is to begin, an event after its earliest beginning can be in either of both.
std::string RotatingTarget::keep_part(uint64_t time) {
  const std::lock_guard lock(mutex_);
  const bool is_next = cut_ && time >= cut_->after;
  to_keep_ = std::max(to_keep_, cut_ && time >= cut_->before ? 2u : 1u);
  return whole_.place() + "/" + part_name(number_ + is_next);
}

/// Opens the next part. All events before `known_until` (ns) were written. Throws; then nothing of
/// the new part is left.
void RotatingTarget::open_part(uint64_t known_until) {
  const unsigned number = parts_.empty() ? 1 : parts_.back() + 1;
  auto part =
      std::make_unique<DirectoryTarget>(whole_.directory(), part_name(number), cpus_, level_);
  const std::vector<Cpu> before = by_cpu_;
  try {
    fill_part(*part, known_until);
  } catch (const std::exception &) {
    part->discard();
    by_cpu_ = before;
    throw;
  }
  part_ = std::move(part);
  parts_.push_back(number);
  number_ = number;
  part_bytes_ = 0;
  part_begin_ = monotonic_ns();
  while (rotation_.keep && parts_.size() - kept_.size() > rotation_.keep)
    drop_oldest();
}

/// Writes what each part begins with. All but the first begin with the states of the threads.
void RotatingTarget::fill_part(DirectoryTarget &part, uint64_t known_until) {
  part.prepare(description_);
  part.begin();
  uint64_t begin = std::numeric_limits<uint64_t>::max();
  for (Cpu &cpu : by_cpu_) {
    cpu.has_file = false;
    if (cpu.next_number)
      begin = std::min(begin, std::max(cpu.last, known_until));
  }
  const ForgottenStates::Remembered known = states_.remembered(begin, {});
  for (uint32_t n = 0; n < cpus_; n++) {
    Cpu &cpu = by_cpu_[n];
    if (!cpu.next_number) // as in the first part
      continue;
    uint64_t end = std::max({cpu.last, known_until, begin});
    if (!known.states[n].empty())
      end = std::max(end, known.states[n].back().time);
    const Gap gap = {n, cpu.next_number - 1, begin, end, cpu.events};
    if (part.output().write(gap_chunk(gap, known.states[n], known.unfinished[n])))
      throw Error(part.output().error());
    cpu.last = end;
    cpu.from = cpu.to = part.file_bytes(n);
    cpu.has_file = true;
  }
  put_part_file(part, true);
}

/// Writes which bytes of the files belong to the whole; `to` is 0 while the part grows.
void RotatingTarget::put_part_file(DirectoryTarget &part, bool grows) {
  part.put_file(kPartFile, [this, grows](const Put &put) {
    std::string text = "{\"version\": 1, \"streams\": [";
    for (uint32_t n = 0; n < cpus_; n++)
      if (by_cpu_[n].has_file)
        text += fmt::format("{}{{\"cpu\": {}, \"from\": {}, \"to\": {}}}",
                            text.back() == '[' ? "" : ", ", n, by_cpu_[n].from,
                            grows ? 0 : by_cpu_[n].to);
    put(text + "]}\n");
  });
}

/// Ends the part as a trace of its own. Older parts make room for its description.
void RotatingTarget::close_part(const Description &description) {
  ChunkDestination &files = part_->output();
  for (uint32_t n = 0; n < cpus_; n++)
    if (Cpu &cpu = by_cpu_[n]; cpu.has_file)
      (void)files.write(small_chunk(n, cpu.next_number, {{cpu.last, FTrace_EVT_trace_stop}}));
  files.finish();
  for (;;) {
    try {
      put_part_file(*part_, false);
      part_->end(description, 0);
      return;
    } catch (const Error &error) {
      if (!make_room(error.what())) {
        print("{}", error.what());
        return;
      }
    }
  }
}

/// Ends the part and begins the next. Older parts make room for it.
void RotatingTarget::next_part(uint64_t known_until) {
  bool keeps = false;
  {
    const std::lock_guard lock(mutex_);
    cut_.reset();
    number_ = parts_.back() + 1;
    keeps = to_keep_ > 0;
    to_keep_ -= keeps;
  }
  close_part(ended_part_);
  if (keeps)
    keep_last();
  for (;;) {
    try {
      open_part(known_until);
      return;
    } catch (const std::exception &error) {
      if (!make_room(error.what())) {
        error_ = error.what();
        return;
      }
    }
  }
}

/// Keeps the newest part, which has ended, and the one before it, where the cause can have begun.
void RotatingTarget::keep_last() {
  kept_.insert(parts_.end() - std::min<ptrdiff_t>(2, std::ssize(parts_)), parts_.end());
  while (rotation_.keep && kept_.size() > rotation_.keep)
    kept_.erase(kept_.begin());
}

size_t RotatingTarget::write(const Chunk &chunk) {
  std::optional<Cut> cut;
  {
    const std::lock_guard lock(mutex_);
    if (cut_ && ftrace_record_tsc(&chunk.records.front()) >= cut_->after)
      cut = cut_;
  }
  if (cut && error_.empty()) {
    next_part(cut->before);
    part_begin_ =
        cut->after; // not now: each part would be longer by the time until its first chunk
  }
  const size_t missing = write_on(chunk);
  if (missing)
    return missing;
  Cpu &cpu = by_cpu_[chunk.cpu];
  states_.fold(chunk);
  EventLoss events;
  events.add(chunk.records);
  cpu.events += events.counted;
  cpu.last = ftrace_record_tsc(&chunk.records.back());
  cpu.next_number = ChunkHeader::decode(chunk.records).number + 1;
  cpu.has_file = true;
  part_bytes_ += part_->file_bytes(chunk.cpu) - cpu.to;
  cpu.to = part_->file_bytes(chunk.cpu);
  return 0;
}

/// Writes a chunk whole, into a new part if there is no room in this one. Each try removes the
/// oldest part. It gives up when all parts are gone that were there: then new parts alone fill the
/// disk.
size_t RotatingTarget::write_on(const Chunk &chunk) {
  for (size_t tries = parts_.size();; tries--) {
    if (!error_.empty())
      return chunk.records.size();
    std::optional<Chunk> late; // the first one of its CPU, in a later part
    if (!by_cpu_[chunk.cpu].next_number && parts_.back() > 1)
      late = without_start(chunk);
    const size_t missing = part_->output().write(late ? *late : chunk);
    if (!missing)
      return 0;
    const std::string why = part_->output().error();
    if (tries == 0 || !make_room(why)) {
      error_ = why;
      return missing;
    }
    next_part(0);
  }
}

/// Returns the part to be removed next: the oldest that no trigger keeps, but not the newest part.
/// If triggers keep all others, returns the oldest.
std::deque<unsigned>::iterator RotatingTarget::oldest() {
  const auto newest = std::prev(parts_.end());
  const auto found = std::find_if(parts_.begin(), newest,
                                  [this](unsigned number) { return !kept_.contains(number); });
  return found == newest ? parts_.begin() : found;
}

/// Removes the oldest part. Returns false if only the newest is left.
bool RotatingTarget::make_room(const std::string &why) {
  if (parts_.size() <= 1)
    return false;
  print("no room for the trace ({}): part {}/{} is removed", why, whole_.place(),
        part_name(*oldest()));
  drop_oldest();
  return true;
}

void RotatingTarget::drop_oldest() {
  const auto at = oldest();
  const std::string name = part_name(*at);
  if (const int error = whole_.directory().remove_part(name))
    print("cannot remove {}/{}: {}", whole_.place(), name, std::strerror(error));
  kept_.erase(*at);
  parts_.erase(at);
}

void RotatingTarget::finish() {
  close_part(last_part_);
}

/// Writes the description of the whole. If the disk is full, removes older parts.
void RotatingTarget::end(const Description &description, uint64_t missing) {
  for (;;) {
    try {
      whole_.end(description, missing);
      return;
    } catch (const Error &error) {
      if (!make_room(error.what()))
        throw;
    }
  }
}

std::string RotatingTarget::error() const {
  return error_;
}

} // namespace ovnitrace
