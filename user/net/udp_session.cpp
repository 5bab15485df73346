// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/udp_session.h"

#include "emulator/base/error.h"
#include "emulator/format/switch_record.h"
#include "emulator/format/thread_identity.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <utility>

namespace ovnitrace {

namespace {

constexpr uint16_t kMostCpus = 4096;

bool is_ours(const Datagram &datagram) {
  return datagram.count && datagram.records[0].code == FTrace_EXT_session;
}

} // namespace

UdpSession::UdpSession(std::string from, MakeTraceSink make_sink)
    : from_(std::move(from)), make_sink_(std::move(make_sink)),
      window_([this](const Datagram &datagram) { deliver(datagram); }) {}

void UdpSession::take(const Datagram &datagram) {
  using Verdict = ReorderWindow::Verdict;
  switch (finished_ ? Verdict::late : window_.put(datagram)) {
  case Verdict::reordered:
    counts_.reordered++;
    break;
  case Verdict::repeated:
    counts_.repeated++;
    break;
  case Verdict::late:
    counts_.late++;
    break;
  case Verdict::taken:
    break;
  }
}

void UdpSession::settle() {
  window_.flush();
}

UdpCounts UdpSession::counts() const {
  UdpCounts counts = counts_;
  counts.lost = window_.lost();
  counts.wrong += strays_;
  for (const auto &[number, cpu] : cpus_) {
    counts.events += cpu.events();
    counts.events_lost += cpu.events_lost();
  }
  return counts;
}

bool UdpSession::whole() const {
  const UdpCounts counts = this->counts();
  return (closing_ || !ours_) && !counts.lost && !counts_.wrong && !counts.events_lost &&
         !counts.dropped;
}

void UdpSession::deliver(const Datagram &datagram) {
  counts_.taken++;
  if (!is_ours(datagram))
    return plain(datagram);
  ours_ = true;
  const ftrace_record &session = datagram.records[0];
  const std::span<const ftrace_record> records = datagram.all().subspan(1);
  const DatagramKind kind = DatagramKind(session.par1);
  if (!sink_)
    make_sink(kind == DatagramKind::name ? safe_name(text_of(records, session.par2)) : "");
  switch (kind) {
  case DatagramKind::name:
    return;
  case DatagramKind::chunk:
    return chunk(records);
  case DatagramKind::description:
    return describe(records, session.par2);
  case DatagramKind::end:
    return end(records);
  }
  counts_.wrong++;
}

void UdpSession::make_sink(const std::string &name) {
  sink_ = make_sink_(name.empty() ? safe_name(from_) : name);
  if (ours_)
    write_description();
}

ChunkAssembler &UdpSession::cpu(uint16_t number) {
  return cpus_.try_emplace(number, number, *sink_).first->second;
}

void UdpSession::chunk(std::span<const ftrace_record> records) {
  if (records.size() < 2 || records[0].code != FTrace_EXT_part || records[0].par1 >= kMostCpus) {
    counts_.wrong++;
    return;
  }
  const ftrace_record &part = records[0];
  for (const ftrace_record &record : records.subspan(1))
    if (!ThreadIdentity::has_birth(code_of(record.code)))
      first_time_ = std::min(first_time_, first_tsc(record));
  if (!cpu(part.par1).take(part.par2, ftrace_record_tsc(&part), records.subspan(1), first_time_,
                           window_.lost()))
    counts_.wrong++;
}

/// Pieces come in their order; one that is missing spoils the whole.
void UdpSession::describe(std::span<const ftrace_record> records, uint32_t size) {
  if (records.empty() || records[0].code != FTrace_EXT_part)
    return;
  const uint64_t whole = ftrace_record_tsc(&records[0]);
  const uint32_t offset = records[0].par2;
  if (offset == 0) {
    text_.clear();
    text_size_ = whole;
  }
  if (offset != text_.size() || whole != text_size_ || whole > kMostDescription)
    return;
  text_ += text_of(records.subspan(1), std::min<size_t>(size, whole - offset));
  if (text_.size() != whole)
    return;
  if (!is_description(text_)) {
    counts_.wrong++;
    return;
  }
  description_ = std::exchange(text_, {});
  if (!closing_)
    write_description();
}

void UdpSession::end(std::span<const ftrace_record> records) {
  if (records.empty() || records[0].code != FTrace_EVT_trace_stop)
    return;
  closing_ = true;
  counts_.dropped = records[0].par2;
  const uint64_t time = ftrace_record_tsc(&records[0]);
  for (const ftrace_record &part : records.subspan(1))
    if (part.code == FTrace_EXT_part && part.par1 < kMostCpus)
      cpu(part.par1).end(ftrace_record_tsc(&part), time, std::min(first_time_, time));
}

/// Takes the datagram of a sender that is not ovnitrace: records as they come. How many events were
/// in what is missing is not known.
void UdpSession::plain(const Datagram &datagram) {
  if (ours_ || datagram.count == 0) {
    counts_.wrong += ours_;
    return;
  }
  if (!sink_)
    make_sink("");
  std::string bytes;
  const auto put = [&bytes](const ftrace_record &record) {
    bytes.append(reinterpret_cast<const char *>(&record), sizeof record);
  };
  if (plain_lost_ != window_.lost()) {
    const uint64_t time = ftrace_record_tsc(&datagram.records[0]),
                   last = plain_last_.value_or(time);
    ftrace_record blackout[2];
    ftrace_record_set(&blackout[0], FTrace_EVT_blackout_start, 0, std::min(last, time), 0);
    ftrace_record_set(&blackout[1], FTrace_EVT_blackout_end, 0, std::max(last, time), 0);
    put(blackout[0]);
    put(blackout[1]);
    plain_lost_ = window_.lost();
  }
  for (const ftrace_record &record : datagram.all())
    put(record);
  plain_last_ = ftrace_record_tsc(&datagram.records[datagram.count - 1]);
  sink_->append(TraceSink::kPlainFile, false, bytes);
}

void UdpSession::write_description() {
  sink_->describe(collected_description(description_, from_, counts(), closing_));
  sink_->end_description();
}

void UdpSession::finish() {
  if (std::exchange(finished_, true))
    return;
  window_.flush();
  for (auto &[number, cpu] : cpus_)
    cpu.cut();
  if (sink_ && sink_->bytes() == 0)
    sink_->discard();
  else if (sink_ && ours_)
    write_description();
}

} // namespace ovnitrace
