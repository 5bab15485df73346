// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/udp_session.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <utility>

namespace ovnitrace {

UdpSession::UdpSession(std::string from, MakeTraceSink make_sink)
    : from_(std::move(from)), make_sink_(std::move(make_sink)),
      window_([this](const Datagram &datagram) { deliver(datagram); }) {}

void UdpSession::take(const Datagram &datagram) {
  const ReorderWindow::Verdict verdict = window_.put(datagram);
  reordered_ += verdict == ReorderWindow::Verdict::reordered;
  repeated_ += verdict == ReorderWindow::Verdict::repeated;
}

UdpCounts UdpSession::counts() const {
  return {.taken = taken_, .lost = window_.lost(), .reordered = reordered_, .repeated = repeated_};
}

void UdpSession::deliver(const Datagram &datagram) {
  const std::span<const ftrace_record> records = datagram.all();
  taken_++;
  if (records.empty())
    return;
  if (!sink_)
    sink_ = make_sink_(safe_name(from_));
  if (lost_before_ != window_.lost()) {
    const uint64_t time = ftrace_record_tsc(&records.front()), last = last_time_.value_or(time);
    ftrace_record blackout[2];
    ftrace_record_set(&blackout[0], FTrace_EVT_blackout_start, 0, std::min(last, time), 0);
    ftrace_record_set(&blackout[1], FTrace_EVT_blackout_end, 0, std::max(last, time), 0);
    append(blackout);
    lost_before_ = window_.lost();
  }
  append(records);
  last_time_ = ftrace_record_tsc(&records.back());
}

void UdpSession::append(std::span<const ftrace_record> records) {
  sink_->append(TraceSink::kPlainFile, Codec::none,
                {reinterpret_cast<const char *>(records.data()), records.size_bytes()});
}

void UdpSession::finish() {
  window_.flush();
  if (sink_ && sink_->bytes() == 0)
    sink_->discard();
}

} // namespace ovnitrace
