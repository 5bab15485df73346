// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/read_ahead.h"

#include "emulator/input/read_watcher.h"

namespace ovnitrace {

ReadAhead::ReadAhead(EventSource &source)
    : source_(source), most_(source.catalog().live ? 1 : kEvents),
      threaded_(cores() > 1 && !source.catalog().live),
      batches_(new Batch[threaded_ ? kBatches : 1]), sink_(source.report_to(reports_)) {
  if (threaded_)
    thread_ = std::thread([this] { run(); });
}

ReadAhead::~ReadAhead() {
  if (threaded_) {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  source_.report_to(sink_);
  if (ReadWatcher::current)
    ReadWatcher::current->ends();
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
  if (current_ && current_->count && ReadWatcher::current)
    ReadWatcher::current->reads(source_.catalog(), current_->events[current_->count - 1].time,
                                current_->count);
  if (!threaded_) {
    current_ = &batches_[0];
    return fill(*current_);
  }
  std::unique_lock lock(mutex_);
  emptied_ = taken_;
  if (taken_ % (kBatches / 2) == 0) // rarely, as to wake it costs more than to fill a batch
    changed_.notify_one();
  changed_.wait(lock, [this] { return filled_ != taken_; });
  current_ = &batches_[taken_++ % kBatches];
}

void ReadAhead::run() {
  for (uint32_t number = 0;; number++) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return number - emptied_ < kBatches || stopping_; });
      if (stopping_)
        return;
    }
    Batch &batch = batches_[number % kBatches];
    fill(batch);
    {
      std::lock_guard lock(mutex_);
      filled_ = number + 1;
    }
    changed_.notify_one();
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
    while (batch.count < most_ && !batch.last) {
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
