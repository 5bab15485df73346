// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/udp_session.h"

#include "emulator/base/json_text.h"
#include "emulator/format/chunk_header.h"

#include <ovnitrace/ftrace_codes.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace ovnitrace {

UdpSession::UdpSession(std::string from, MakeTraceSink make_sink)
    : from_(std::move(from)), make_sink_(std::move(make_sink)),
      window_([this](const Datagram &datagram) { deliver(datagram); }) {}

void UdpSession::take(const Datagram &datagram) {
  const ReorderWindow::Verdict verdict = window_.put(datagram);
  counts_.reordered += verdict == ReorderWindow::Verdict::reordered;
  counts_.repeated += verdict == ReorderWindow::Verdict::repeated;
}

UdpCounts UdpSession::counts() const {
  UdpCounts counts = counts_;
  counts.lost = window_.lost();
  for (const auto &[number, cpu] : cpus_) {
    counts.events += cpu.events();
    counts.events_lost += cpu.events_lost();
  }
  return counts;
}

bool UdpSession::whole() const {
  const UdpCounts counts = this->counts();
  return (closing_ || !ours_) && !counts.lost && !counts.wrong && !counts.events_lost &&
         !counts.dropped;
}

void UdpSession::deliver(const Datagram &datagram) {
  const std::span<const ftrace_record> records = datagram.all();
  counts_.taken++;
  if (!datagram.session())
    return plain(records);
  ours_ = true;
  const std::span<const ftrace_record> content = records.subspan(1);
  const DatagramKind kind = DatagramKind(records[0].par1);
  const uint32_t text_size = records[0].par2;
  if (!sink_) {
    make_sink(kind == DatagramKind::name ? text_of(content, text_size) : from_);
    write_description();
  }
  switch (kind) {
  case DatagramKind::name:
    return;
  case DatagramKind::description:
    return describe(content, text_size);
  case DatagramKind::chunk:
    counts_.wrong += !chunk(content);
    return;
  case DatagramKind::end:
    counts_.wrong += !end(content);
    return;
  }
  counts_.wrong++;
}

void UdpSession::make_sink(const std::string &name) {
  sink_ = make_sink_(safe_name(name));
}

ChunkAssembler &UdpSession::cpu(uint16_t number) {
  return cpus_.try_emplace(number, number, *sink_).first->second;
}

bool UdpSession::chunk(std::span<const ftrace_record> records) {
  if (records.size() < 2 || records[0].code != FTrace_EXT_part || records[0].par1 >= kMostCpus)
    return false;
  const ftrace_record &part = records[0];
  records = records.subspan(1);
  if (ChunkHeader::starts(records))
    first_time_ = std::min(first_time_, ChunkHeader::decode(records).time);
  return cpu(part.par1).take(part.par2, ftrace_record_tsc(&part), records, first_time_,
                             window_.lost());
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
  description_ = std::exchange(text_, {});
  if (!closing_)
    write_description();
}

bool UdpSession::end(std::span<const ftrace_record> records) {
  if (records.empty() || records[0].code != FTrace_EVT_trace_stop)
    return false;
  closing_ = true;
  counts_.dropped = records[0].par2;
  const uint64_t time = ftrace_record_tsc(&records[0]);
  for (const ftrace_record &part : records.subspan(1))
    if (part.code == FTrace_EXT_part && part.par1 < kMostCpus)
      cpu(part.par1).end(ftrace_record_tsc(&part), time, first_time_);
  return true;
}

/// Takes the records of a sender that is not ovnitrace as they come. How many events were in what
/// is missing is not known.
void UdpSession::plain(std::span<const ftrace_record> records) {
  if (records.empty())
    return;
  if (!sink_)
    make_sink(from_);
  const auto append = [this](std::span<const ftrace_record> some) {
    sink_->append(TraceSink::kPlainFile, Codec::none,
                  {reinterpret_cast<const char *>(some.data()), some.size_bytes()});
  };
  if (plain_lost_ != window_.lost()) {
    const uint64_t time = ftrace_record_tsc(&records.front()), last = plain_last_.value_or(time);
    ftrace_record blackout[2];
    ftrace_record_set(&blackout[0], FTrace_EVT_blackout_start, 0, std::min(last, time), 0);
    ftrace_record_set(&blackout[1], FTrace_EVT_blackout_end, 0, std::max(last, time), 0);
    append(blackout);
    plain_lost_ = window_.lost();
  }
  append(records);
  plain_last_ = ftrace_record_tsc(&records.back());
}

void UdpSession::write_description() {
  sink_->describe(collected_description(description_, from_, counts(), closing_));
  sink_->end_description();
}

void UdpSession::finish() {
  window_.flush();
  for (auto &[number, cpu] : cpus_)
    cpu.cut();
  if (sink_ && sink_->bytes() == 0)
    sink_->discard();
  else if (sink_ && ours_)
    write_description();
}

std::string collected_description(const std::string &description, const std::string &from,
                                  const UdpCounts &counts, bool closed) {
  using Json = nlohmann::json;
  constexpr size_t kMostValues = 1 << 20; // of a stranger's text
  Json json;
  std::string why;
  if (!parse_json(description, kMostValues, json, why) || !json.is_object() ||
      json.value("format", Json()) != "ovnitrace")
    json = {{"format", "ovnitrace"},
            {"version", 1},
            {"host", from},
            {"ended",
             {{"how", closed ? "not known: the sender's own description did not come"
                             : "the sender has not said that it ended"}}}};
  if (counts.lost || counts.wrong || counts.events_lost)
    json.erase("written"); // it counts what the sender sent
  json["collected"] = {{"from", from},
                       {"datagrams", counts.taken},
                       {"lost", counts.lost},
                       {"repeated", counts.repeated},
                       {"reordered", counts.reordered},
                       {"wrong", counts.wrong},
                       {"events", counts.events},
                       {"events_lost", counts.events_lost},
                       {"dropped", counts.dropped},
                       {"end_came", closed}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace ovnitrace
