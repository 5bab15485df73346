// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace export --to folded, pprof and speedscope: writes where threads were off their CPUs.
#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/messages.h"
#include "emulator/cli/export_formats.h"
#include "emulator/cli/progress_bar.h"
#include "emulator/cli/stdout_writer.h"
#include "emulator/cli/trace_inputs.h"
#include "emulator/cli/warnings.h"
#include "emulator/core/program_threads.h"
#include "emulator/off_cpu/folded.h"
#include "emulator/off_cpu/pprof.h"
#include "emulator/off_cpu/speedscope.h"
#include "emulator/open/open_trace.h"
#include "emulator/output/atomic_file.h"
#include "emulator/slices/slicer.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

namespace ovnitrace {

namespace {

/// The trace of a command line, and its sums.
class Profiled {
public:
  Profiled(const ExportArguments &arguments, bool per_thread)
      : arguments_(arguments), about_(about_trace(arguments.inputs.front())),
        source_(open_trace({{arguments.inputs.front()}}, warnings_, arguments.cut.from)),
        stacks_(source_->catalog(), warnings_),
        times_(source_->catalog(), stacks_,
               {.per_thread = per_thread, .programs = started_threads(source_->catalog())}) {
    replay_slices(*source_, arguments.cut, times_);
    warnings_.finish();
  }

  const OffCpuTimes &times() const { return times_; }
  PprofRange range() const {
    const TimeRange range = range_of(arguments_.cut, source_->catalog());
    return {.wall_ns = about_.to_wall_ns ? int64_t(range.from) + about_.to_wall_ns : 0,
            .duration_ns = range.to - range.from};
  }
  int status() const { return warnings_.damage() ? kExitFailure : 0; }
  /// Prints what was written. Returns the exit status.
  int report(const std::string &what) const {
    if (times_.no_stack() && times_.no_stack() == times_.blocked())
      print("no stacks are known: record them with --stacks (docs/stacks.md)");
    if (!arguments_.quiet)
      fmt::print("{}: {}, {} blocked and {} waiting for a CPU\n", arguments_.output, what,
                 human_duration(times_.blocked()), human_duration(times_.waiting()));
    return status();
  }

private:
  const ExportArguments &arguments_;
  const ProgressBar progress_{!arguments_.quiet, arguments_.cut.to};
  Warnings warnings_;
  const TraceInfo about_;
  const std::unique_ptr<EventSource> source_;
  const Stacks stacks_;
  OffCpuTimes times_;
};

} // namespace

int export_folded(const ExportArguments &arguments) {
  const Profiled profiled(arguments, arguments.per_thread);
  if (arguments.output == "-") {
    StdoutWriter out;
    each_folded(profiled.times(), arguments.per_thread, [&](const std::string &stack, uint64_t ns) {
      out.write(fmt::format("{} {}\n", stack, ns));
    });
    out.flush();
    return profiled.status();
  }
  AtomicFile file{OutputPlace(arguments.output)};
  uint64_t lines = 0;
  each_folded(profiled.times(), arguments.per_thread, [&](const std::string &stack, uint64_t ns) {
    file.write(fmt::format("{} {}\n", stack, ns));
    lines++;
  });
  file.commit();
  return profiled.report(human_count(lines, "stack", "stacks"));
}

int export_pprof(const ExportArguments &arguments) {
  const Profiled profiled(arguments, true);
  const uint64_t samples =
      write_pprof(profiled.times(), profiled.range(), OutputPlace(arguments.output));
  return profiled.report(human_count(samples, "sample", "samples"));
}

int export_speedscope(const ExportArguments &arguments) {
  const Profiled profiled(arguments, true);
  AtomicFile file{OutputPlace(arguments.output)};
  const std::string title = std::filesystem::path(nameable(arguments.inputs.front())).filename();
  const uint64_t profiles =
      write_speedscope(profiled.times(), title, [&](std::string_view text) { file.write(text); });
  file.commit();
  return profiled.report(human_count(profiles, "profile", "profiles"));
}

} // namespace ovnitrace
