// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/ovni/ovni_source.h"

#include "emulator/ovni/stream_dir.h"
#include "emulator/ovni/stream_scan.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

namespace ovnitrace::ovni {

namespace {

/// A stream during the replay: its next event, and the time it has reached.
struct Cursor {
  Stream stream;
  StreamEvent event;
  uint64_t time = 0;      ///< of event, on the clock of the trace; never less than before
  bool unordered = false; ///< inside OU[ … OU]
};

class OvniSource final : public EventSource {
public:
  OvniSource(StreamDir dir, DiagnosticSink &sink);

  const Catalog &catalog() const override { return catalog_; }
  bool next(Event &event) override;

private:
  bool advance(Cursor &cursor);
  void check_time(Cursor &cursor, uint64_t time);
  void sift_down(size_t at);
  bool before(uint32_t a, uint32_t b) const {
    return std::tie(cursors_[a].time, a) < std::tie(cursors_[b].time, b);
  }
  void rewrite_payload(Event &event, const Cursor &cursor, int32_t cpu);
  uint32_t find_peer(uint32_t thread, int32_t tid) const;

  Catalog catalog_;
  std::vector<CpuIndices> cpu_indices_;
  std::vector<Cursor> cursors_;
  std::vector<uint32_t> heap_; ///< cursors with an event, the earliest one first
  bool delivered_ = false;     ///< the event of heap_[0] was returned
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> by_tid_; ///< (host, tid): threads
  uint8_t payload_[kPayloadMax] = {};
};

OvniSource::OvniSource(StreamDir dir, DiagnosticSink &sink)
    : EventSource(sink), catalog_(std::move(dir.catalog)),
      cpu_indices_(std::move(dir.cpu_indices)) {
  for (uint32_t i = 0; i < catalog_.threads.size(); ++i)
    by_tid_[{catalog_.threads[i].host, catalog_.threads[i].tid}].push_back(i);
  for (Stream &stream : dir.streams)
    cursors_.push_back({std::move(stream), {}});
  for (uint32_t i = 0; i < cursors_.size(); ++i) {
    Cursor &cursor = cursors_[i];
    if (const std::string problem = cursor.stream.file.start(); !problem.empty())
      diagnostics().report({catalog_.files[cursor.stream.name], 0, {}, problem});
    else if (advance(cursor))
      heap_.push_back(i);
  }
  for (size_t i = heap_.size(); i-- > 0;)
    sift_down(i);
}

/// Loads the next event of a stream. Returns false if there are no more.
bool OvniSource::advance(Cursor &cursor) {
  const uint64_t from = cursor.stream.file.position();
  const auto status = cursor.stream.file.read(cursor.event);
  if (status != StreamFile::Status::event) {
    if (status != StreamFile::Status::end)
      diagnostics().report({catalog_.files[cursor.stream.name],
                            from,
                            {},
                            "the stream changed while it was read: its rest is left out"});
    cursor.stream.file.release();
    return false;
  }
  check_time(cursor, shift_time(cursor.event.time, cursor.stream.offset));
  if (cursor.event.mcv == mcv('O', 'U', '['))
    cursor.unordered = true;
  else if (cursor.event.mcv == mcv('O', 'U', ']'))
    cursor.unordered = false;
  return true;
}

/// Returns the time of an event. In ovni, times never go back within a stream, except in regions
/// that ovnisort has yet to sort.
void OvniSource::check_time(Cursor &cursor, uint64_t time) {
  if (time < cursor.time) {
    diagnostics().report(
        {catalog_.files[cursor.stream.name],
         cursor.event.offset,
         {},
         "the time goes back by " + std::to_string(cursor.time - time) + " ns" +
             (cursor.unordered ? " in an unordered region: run ovnisort first" : "")});
    return;
  }
  cursor.time = time;
}

void OvniSource::sift_down(size_t at) {
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= heap_.size())
      return;
    if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child]))
      ++child;
    if (!before(heap_[child], heap_[at]))
      return;
    std::swap(heap_[child], heap_[at]);
    at = child;
  }
}

bool OvniSource::next(Event &event) {
  // The payload of the last event is in its stream's buffer: step only now.
  if (delivered_) {
    if (!advance(cursors_[heap_[0]])) {
      heap_[0] = heap_.back();
      heap_.pop_back();
    }
    sift_down(0);
    delivered_ = false;
  }
  if (heap_.empty())
    return false;

  const Cursor &cursor = cursors_[heap_[0]];
  const StreamEvent &from = cursor.event;
  event = Event{};
  event.time = cursor.time;
  event.kind = from.mcv;
  event.thread = cursor.stream.thread;
  event.file = cursor.stream.name;
  event.offset = from.offset;
  event.payload = from.payload;
  event.payload_size = from.payload_size;
  if (const auto cpu = payload_cpu(from))
    rewrite_payload(event, cursor, *cpu);
  if (const auto tid = payload_tid(from))
    event.peer = find_peer(event.thread, *tid);
  delivered_ = true;
  return true;
}

void OvniSource::rewrite_payload(Event &event, const Cursor &cursor, int32_t cpu) {
  const CpuIndices &indices = cpu_indices_[catalog_.threads[cursor.stream.thread].host];
  int32_t phyid = kBadCpu;
  if (cpu == kVirtualCpu)
    phyid = kVirtualCpu;
  else if (cpu >= 0 && size_t(cpu) < indices.size() && indices[size_t(cpu)] != kNone)
    phyid = int32_t(indices[size_t(cpu)]);
  else
    diagnostics().report(
        {catalog_.files[event.file],
         event.offset,
         {},
         "names CPU index " + std::to_string(cpu) + ", which its loom does not have"});
  std::memcpy(payload_, event.payload, event.payload_size);
  std::memcpy(payload_, &phyid, sizeof phyid);
  event.payload = payload_;
}

/// Finds the thread with this tid as ovni does: first in the process of the event's thread, then in
/// the rest of its loom.
uint32_t OvniSource::find_peer(uint32_t thread, int32_t tid) const {
  const ThreadInfo &own = catalog_.threads[thread];
  const auto found = by_tid_.find({own.host, uint32_t(tid)});
  if (found == by_tid_.end())
    return kNone;
  for (const uint32_t candidate : found->second)
    if (catalog_.threads[candidate].pid == own.pid)
      return candidate;
  return found->second.front();
}

} // namespace

std::unique_ptr<EventSource>
open_ovni_trace(const std::string &path, const std::string &clock_offsets, DiagnosticSink &sink) {
  return std::make_unique<OvniSource>(open_stream_dir(path, clock_offsets, sink), sink);
}

} // namespace ovnitrace::ovni
