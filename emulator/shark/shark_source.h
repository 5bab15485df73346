// SPDX-License-Identifier: BSD-2-Clause
// Reads the events of one S.Ha.R.K. trace: a file, or several of one tracer.
#pragma once

#include "emulator/base/unique_fd.h"
#include "emulator/input/source.h"
#include "emulator/input/tick_clock.h"
#include "emulator/shark/context_table.h"
#include "emulator/shark/run_index.h"
#include "emulator/shark/run_merge.h"
#include "emulator/shark/scheduling.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace::shark {

/// A scanned file.
struct SharkFile {
  std::string name; ///< for messages
  UniqueFd fd;
  RunIndex index;
};

class SharkSource final : public EventSource {
public:
  /// Scans the files, at least one, for tasks. All must be of one tracer. `sink` must outlive it.
  SharkSource(std::vector<SharkFile> files, DiagnosticSink &sink);

  const Catalog &catalog() const override { return catalog_; }
  bool next(Event &event) override;

private:
  std::vector<ThreadFacts> learn_tasks();
  void set_clock();
  void report_damage();
  std::vector<int> descriptors() const;
  void interpret(const RunMerge::Item &item);
  uint32_t thread_of(uint32_t task) const;
  uint64_t time_of(const RunMerge::Item &item);
  void warn(uint32_t file, uint64_t offset, std::string what);

  std::vector<SharkFile> files_;
  RunIndex index_; ///< of all files
  Catalog catalog_;
  TickClock clock_;
  std::vector<uint32_t> thread_of_task_;
  /// False: the file names no contexts, so everything is about its one thread.
  bool contexts_ = true;
  ContextTable table_;
  std::optional<Scheduling> scheduling_;
  RunMerge merge_;
  uint64_t time_ = 0;      ///< ns, of the last record
  bool unordered_ = false; ///< a time that goes back was reported
};

} // namespace ovnitrace::shark
