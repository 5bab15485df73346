// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/read_ahead.h"

namespace ovnitrace {

ReadAhead::ReadAhead(EventSource &source)
    : source_(source), threaded_(cores() > 1), batches_(new Batch[threaded_ ? kBatches : 1]),
      sink_(source.report_to(reports_)) {
  if (threaded_)
    thread_ = std::thread([this] { run(); });
}

ReadAhead::~ReadAhead() {
  if (threaded_) {
    stopping_ = true;
    emptied_++;
    emptied_.notify_one();
    thread_.join();
  }
  source_.report_to(sink_);
}

std::span<Event> ReadAhead::next() {
  if (!current_)
    advance();
  for (;;) {
    const auto &reports = current_->reports;
    for (; report_ < reports.size() && reports[report_].first == at_; report_++)
      sink_.report(reports[report_].second);
    const size_t from = at_;
    at_ = report_ < reports.size() ? reports[report_].first : current_->count;
    if (from < at_)
      return {&current_->events[from], at_ - from};
    if (!current_->last)
      advance();
    else if (current_->error)
      std::rethrow_exception(current_->error);
    else
      return {};
  }
}

void ReadAhead::advance() {
  at_ = report_ = 0;
  if (!threaded_) {
    current_ = &batches_[0];
    return fill(*current_);
  }
  if (current_) {
    emptied_ = taken_;
    if (taken_ % (kBatches / 2) == 0) // rarely, as to wake it costs more than to fill a batch
      emptied_.notify_one();
  }
  for (uint32_t filled; (filled = filled_) == taken_;)
    filled_.wait(filled);
  current_ = &batches_[taken_++ % kBatches];
}

void ReadAhead::run() {
  for (uint32_t number = 0; !stopping_; number++) {
    for (uint32_t emptied; number - (emptied = emptied_) >= kBatches;)
      emptied_.wait(emptied);
    Batch &batch = batches_[number % kBatches];
    fill(batch);
    filled_ = number + 1;
    filled_.notify_one();
    if (batch.last)
      return;
  }
}

void ReadAhead::fill(Batch &batch) {
  batch.count = 0;
  batch.payloads.clear();
  batch.reports.clear();
  reports_.batch = &batch;
  try {
    while (batch.count < kEvents && !batch.last) {
      Event &event = batch.events[batch.count];
      batch.last = !source_.next(event);
      if (!batch.last && event.payload)
        batch.payloads.insert(batch.payloads.end(), event.payload,
                              event.payload + event.payload_size);
      batch.count += !batch.last;
    }
  } catch (...) {
    batch.last = true;
    batch.error = std::current_exception();
  }
  const uint8_t *payload = batch.payloads.data();
  for (size_t n = 0; n < batch.count && !batch.payloads.empty(); n++)
    if (Event &event = batch.events[n]; event.payload)
      event.payload = std::exchange(payload, payload + event.payload_size);
}

} // namespace ovnitrace
