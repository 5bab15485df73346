// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/merge.h"

#include "emulator/input/catalog.h"
#include "emulator/input/missing_records.h"

#include <algorithm>
#include <utility>

namespace ovnitrace {

namespace {

/// All buffers together stay within some MiB, however many CPUs there are.
constexpr size_t kBufferBytes = 8 << 20;
constexpr size_t kMinBlockRecords = 512;
constexpr size_t kMaxBlockRecords = 16384; // 256 KiB

size_t block_records(size_t files) {
  return std::clamp(kBufferBytes / sizeof(ftrace_record) / std::max<size_t>(files, 1),
                    kMinBlockRecords, kMaxBlockRecords);
}

/// Returns when a cut starts on the clock of the trace. Returns 0 if that is not known before the
/// files are scanned, or if everything must be read.
uint64_t start_of_cut(const std::vector<HostInput> &hosts, uint64_t from) {
  uint64_t begin = UINT64_MAX;
  for (const HostInput &host : hosts) {
    if (!host.info.began_ns ||
        !host.info.chains.empty()) // regions start with any event of a thread
      return 0;
    begin = std::min(begin, TickClock(host.clock_offset_ns).ns(host.info.began_ns));
  }
  return from ? begin + from : 0;
}

} // namespace

MergedTrace::MergedTrace(std::vector<HostInput> hosts, DiagnosticSink &sink, uint64_t from)
    : EventSource(sink), hosts_(std::move(hosts)), from_(start_of_cut(hosts_, from)),
      planner_(from_), catalog_(make_catalog(hosts_, planner_)) {
  if (catalog_.begin + from != from_)
    planner_.give_up();
  plan();
  tables_.reserve(hosts_.size()); // the files point at them
  struct Place {
    const ChunkInput *input;
    uint32_t host;
    uint16_t file;
  };
  std::vector<Place> places;
  for (uint32_t host = 0; host < hosts_.size(); host++) {
    tables_.emplace_back(catalog_, host);
    report_missing_records(hosts_[host], sink);
    for (const ChunkInput &chunk : hosts_[host].chunks)
      places.push_back({&chunk, host, uint16_t(places.size())});
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const Place &a, const Place &b) { return a.input->cpu < b.input->cpu; });
  heads_.resize(places.size()); // the files report to them
  for (const Place &place : places)
    files_.push_back(std::make_unique<ChunkFile>(
        *place.input, place.file, hosts_[place.host].clock_offset_ns, tables_[place.host],
        block_records(places.size()), heads_[files_.size()]));
  losers_.resize(std::max<size_t>(files_.size(), 1), kDone);
  if (!files_.empty())
    winner_ = play(1);
}

void MergedTrace::plan() {
  if (!planner_.wanted()) {
    from_ = 0;
    return;
  }
  std::vector<ChunkInput *> files;
  for (HostInput &host : hosts_)
    for (ChunkInput &chunk : host.chunks)
      files.push_back(&chunk);
  planner_.set_parts(files);
  for (const ThreadInfo &thread : catalog_.threads)
    since_.push_back(planner_.since({thread.host, thread.tid, thread.birth}));
}

void MergedTrace::report_found(Head &head) {
  for (const Diagnostic &diagnostic : head.found)
    diagnostics().report(diagnostic);
  head.found.clear();
  head.found_at = kNone;
}

MergedTrace::Key MergedTrace::advance(uint32_t rank) {
  Head &head = heads_[rank];
  if (++head.at == head.found_at) [[unlikely]]
    report_found(head);
  if (head.at >= head.count) {
    head.at = head.count = 0;
    while (head.count < head.events.size() && (head.found_at == kNone || !head.count) &&
           files_[rank]->next(head.events[head.count]))
      head.count += !is_left_out(head.events[head.count]);
    if (head.found_at == 0)
      report_found(head);
    if (!head.count)
      return kDone;
  }
  return Key(head.events[head.at].time) << 32 | rank;
}

MergedTrace::Key MergedTrace::play(uint32_t node) {
  const uint32_t leaves = uint32_t(files_.size());
  if (node >= leaves)
    return advance(node - leaves);
  const Key left = play(2 * node);
  const Key right = play(2 * node + 1);
  losers_[node] = std::max(left, right);
  return std::min(left, right);
}

bool MergedTrace::next(Event &event) {
  if (winner_ == kDone)
    return false;
  const uint32_t rank = uint32_t(winner_);
  event = heads_[rank].events[heads_[rank].at];
  Key key = advance(rank);
  for (uint32_t node = (uint32_t(files_.size()) + rank) / 2; node; node /= 2) {
    const Key loser = losers_[node];
    losers_[node] = std::max(key, loser);
    key = std::min(key, loser);
  }
  winner_ = key;
  return true;
}

} // namespace ovnitrace
