// SPDX-License-Identifier: BSD-2-Clause
// Converts a trace to Paraver: replays it once and writes thread.prv and cpu.prv, with the .pcf and
// .row of each, and cfg/ with a timeline for each channel.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/input/source.h"
#include "emulator/output/output_place.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ovnitrace {

struct CriticalPath;

struct ConvertOptions {
  std::string directory; ///< for the output; made if it is missing
  /// Whether the directory itself may be a link. Links inside it are not followed.
  OutputDirectory::Link link = OutputDirectory::Link::follow;
  bool gzip = false; ///< thread.prv.gz and cpu.prv.gz
  bool lint = false; ///< report every fault, and what must not be at the end of the trace
  std::vector<std::string> model_files; ///< JSON models, besides those that are built in
  Cut cut = {};
  CriticalPath *path = nullptr; ///< borrowed: thread.prv has a row of it, within the cut
};

struct ConvertResult {
  uint64_t events = 0;                  ///< in the cut; those without a thread count for their CPU
  uint64_t faults = 0;                  ///< impossible events, and with lint those of the end
  std::map<uint32_t, uint64_t> untaken; ///< by kind: events that no model handles
  uint64_t length = 0;                  ///< ns that the timelines last
  size_t thread_rows = 0, cpu_rows = 0; ///< of thread.prv and cpu.prv
};

/// The most faults that are reported without lint.
inline constexpr uint64_t kFaultsReported = 20;

/// Reads the models of a conversion, so that a wrong file is reported early. Throws Error.
void check_models(const std::vector<std::string> &model_files);

/// Converts a trace. It must not be live, because a .prv starts with the list of all its rows.
/// Memory grows with threads and CPUs only. Reports impossible events to `sink`, sets the thread to
/// the state that the event implies, and goes on. A new .prv gets its final name after its .pcf and
/// .row are written. Throws Error.
ConvertResult convert(EventSource &source, const ConvertOptions &options, DiagnosticSink &sink);

} // namespace ovnitrace
