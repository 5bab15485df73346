// SPDX-License-Identifier: BSD-2-Clause
// Reads a source some batches ahead of whoever takes its events, by a thread of its own.
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

/// The events of a source, batch by batch. Where there is one CPU, the caller reads them. What the
/// source reports meanwhile comes to its sink in the caller's thread, just before the events that
/// follow it. Nobody else may use the source until this is destroyed, but for its catalog.
class ReadAhead {
public:
  /// Borrows `source`.
  explicit ReadAhead(EventSource &source);
  ~ReadAhead();
  ReadAhead(const ReadAhead &) = delete;
  ReadAhead &operator=(const ReadAhead &) = delete;

  /// The next events, with their payloads, until the next call; empty at the end. Throws what the
  /// source threw.
  std::span<Event> next();

private:
  static constexpr size_t kEvents = 512;  ///< of a batch
  static constexpr uint32_t kBatches = 8; ///< all of them fit the second-level cache

  struct Batch {
    std::array<Event, kEvents> events;
    size_t count = 0;                                   ///< of them
    std::vector<uint8_t> payloads;                      ///< of those that have one
    std::vector<std::pair<size_t, Diagnostic>> reports; ///< what was found before which event
    bool last = false;
    std::exception_ptr error; ///< why it is the last
  };
  struct Reports final : DiagnosticSink {
    void report(const Diagnostic &diagnostic) override {
      batch->reports.emplace_back(batch->count, diagnostic);
    }
    Batch *batch = nullptr; ///< that is being filled
  };

  /// Gives the current batch back and waits for the one after it.
  void advance();
  void run();
  void fill(Batch &batch);

  // Of whoever reads the source:
  EventSource &source_;
  const bool threaded_;
  const std::unique_ptr<Batch[]> batches_;
  Reports reports_;

  // Of the caller:
  alignas(kApart) DiagnosticSink &sink_; ///< where the source reported to before
  Batch *current_ = nullptr;
  size_t at_ = 0;      ///< of the current batch: its next event
  size_t report_ = 0;  ///< and its next report
  uint32_t taken_ = 0; ///< batches, the current one included

  // Between the two:
  alignas(kApart) std::mutex mutex_; // guards what follows
  std::condition_variable changed_;
  uint32_t filled_ = 0;  ///< batches
  uint32_t emptied_ = 0; ///< batches
  bool stopping_ = false;
  std::thread thread_;
};

} // namespace ovnitrace
