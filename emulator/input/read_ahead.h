// SPDX-License-Identifier: BSD-2-Clause
// Reads a source some batches ahead of the caller, in a thread of its own.
#pragma once

#include "emulator/base/cores.h"
#include "emulator/input/source.h"

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace ovnitrace {

/// The events of a source, in batches. On a single CPU, the caller's thread reads them. It also
/// reads a live source, one event at a time: the catalog never knows more than the events say.
/// Diagnostics of the source are passed to its sink in the caller's thread, just before the events
/// that follow them. While this exists, nobody else may use the source, except for its catalog.
class ReadAhead {
public:
  /// Borrows `source`.
  explicit ReadAhead(EventSource &source);
  ~ReadAhead();

  /// Returns the next events and their payloads, valid until the next call; empty at the end.
  /// Throws what the source threw.
  std::span<Event> next();
  /// Throws what the source throws before its first event. To be called before next().
  void begin() { at_ -= next().size(); }

  EventSource &source() { return source_; }

private:
  static constexpr size_t kEvents = 512;  ///< in a batch
  static constexpr uint32_t kBatches = 8; ///< together they fit the second-level cache

  struct Batch {
    std::array<Event, kEvents> events;
    size_t count = 0;                                   ///< used events
    std::vector<uint8_t> payloads;                      ///< of the events that have one
    std::vector<std::pair<size_t, Diagnostic>> reports; ///< each before the event of this index
    bool last = false;
    std::exception_ptr error; ///< why it is the last one
  };
  struct Reports final : DiagnosticSink {
    void report(const Diagnostic &diagnostic) override {
      batch->reports.emplace_back(batch->count, diagnostic);
    }
    Batch *batch = nullptr; ///< the one that is being filled
  };

  /// Returns the current batch and waits for the next one.
  void advance();
  void run();
  void fill(Batch &batch);

  // Used by the thread that reads the source:
  EventSource &source_;
  const size_t most_; ///< events in a batch
  const bool threaded_;
  const std::unique_ptr<Batch[]> batches_;
  Reports reports_;

  // Used by the caller:
  alignas(kApart) DiagnosticSink &sink_; ///< the sink that the source reported to before
  Batch *current_ = nullptr;
  size_t at_ = 0;      ///< next event of the current batch
  size_t report_ = 0;  ///< next report of the current batch
  uint32_t taken_ = 0; ///< batches, with the current one

  // Shared by both threads:
  alignas(kApart) std::mutex mutex_; // guards what follows
  std::condition_variable changed_;
  uint32_t filled_ = 0;  ///< batches
  uint32_t emptied_ = 0; ///< batches
  bool stopping_ = false;
  std::thread thread_;
};

} // namespace ovnitrace
