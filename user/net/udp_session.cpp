// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/udp_session.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kMostWaiting = 128; ///< datagrams after a missing one: it is given up then

} // namespace

UdpSession::~UdpSession() {
  if (sink_ && sink_->bytes() == 0)
    sink_->discard();
}

void UdpSession::take(const Datagram &datagram) {
  if (datagram.number >= next_)
    waiting_.emplace(datagram.number, datagram);
  while (!waiting_.empty() && (waiting_.begin()->first == next_ || waiting_.size() >= kMostWaiting))
    write_first();
}

void UdpSession::flush() {
  while (!waiting_.empty())
    write_first();
}

void UdpSession::write_first() {
  const auto first = waiting_.extract(waiting_.begin());
  const std::span<const ftrace_record> records = first.mapped().all();
  lost_ += first.key() - next_;
  gap_ |= first.key() != next_;
  next_ = uint64_t(first.key()) + 1; // after the last number comes none
  if (!records.empty())
    write(records);
  taken_++;
}

void UdpSession::write(std::span<const ftrace_record> records) {
  if (!sink_)
    sink_ = make_sink_(safe_name(from_));
  const uint64_t time = ftrace_record_tsc(&records.front());
  if (std::exchange(gap_, false)) {
    const uint64_t last = last_time_.value_or(time);
    ftrace_record blackout[2];
    ftrace_record_set(&blackout[0], FTrace_EVT_blackout_start, 0, std::min(last, time), 0);
    ftrace_record_set(&blackout[1], FTrace_EVT_blackout_end, 0, std::max(last, time), 0);
    append(blackout);
  }
  append(records);
  last_time_ = ftrace_record_tsc(&records.back());
}

void UdpSession::append(std::span<const ftrace_record> records) {
  sink_->append(TraceSink::kPlainFile, Codec::none,
                {reinterpret_cast<const char *>(records.data()), records.size_bytes()});
}

} // namespace ovnitrace
