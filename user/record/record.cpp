// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/record.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "emulator/base/identity.h"
#include "emulator/base/messages.h"
#include "user/launch/call_filter.h"
#include "user/launch/file_limit.h"
#include "user/launch/signals.h"
#include "user/record/capture_start.h"
#include "user/record/closing_report.h"
#include "user/record/make_target.h"
#include "user/record/recording.h"
#include "user/record/traced.h"
#include "user/stacks/code_files.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace ovnitrace {

namespace {

/// Throws Error if a thread of -t is not alive: it would never be recorded.
void require_threads(const std::vector<uint32_t> &tids) {
  for (const uint32_t tid : tids)
    if (syscall(SYS_tkill, tid, 0) != 0 && errno == ESRCH)
      throw Error("--tid {}: there is no such thread", tid);
}

} // namespace

std::vector<listed_thread> list_threads(const RecordOptions &options) {
  require_threads(options.selection.tids);
  watch_processes(options); // throws if there is no such process
  CaptureParameters parameters = capture_parameters(options);
  parameters.only_looks = true;
  Capture capture(parameters);
  choose_cgroups(capture, options, false);
  std::vector<listed_thread> threads = capture.list();
  std::sort(threads.begin(), threads.end(), [](const listed_thread &a, const listed_thread &b) {
    return std::tie(a.pid, a.tid) < std::tie(b.pid, b.tid);
  });
  return threads;
}

/// Makes files and connections as the user they will belong to. Service threads get their priority
/// while we are root. They start to work only when we are no longer root.
RecordResult record(const RecordOptions &options) {
  require_threads(options.selection.tids);
  hold_signals();
  constexpr size_t kFilesOfACpu = 2,
                   kOthers = 64; // ring, chunk file; programs, links, maps, standard streams
  const size_t code = options.stacks ? 2 * CodeFiles::kMost : 0; // with debug data
  raise_file_limit(size_t(sysconf(_SC_NPROCESSORS_CONF)) * kFilesOfACpu + kOthers + code);
  const Identity owner = calling_user();
  const Identity runs_as = options.user.empty() ? owner : user_named(options.user);
  std::optional<SaveSignal> save_signal;
  if (options.buffer.kind == BufferKind::kCyc)
    save_signal.emplace();
  Traced traced(options, owner, runs_as);
  const uint32_t cpus = traced.capture().cpus();
  TraceDescription trace = describe(options, cpus, runs_as);
  log_debug("{} CPUs, {} chunks of {} bytes on their way; owner uid {}, the program's uid {}",
            trace.host.cpus.size(), options.spare_chunks, options.chunk_bytes, owner.uid,
            runs_as.uid);
  std::unique_ptr<TraceTarget> target;
  {
    EffectiveIdentity as_owner(owner);
    target = make_target(options, traced.name(), cpus);
  }
  std::unique_ptr<Recording> recording;
  try {
    traced.attach();
    trace.families = traced.captured_families();
    trace.attached_pids = traced.capture().target_pids();
    trace.begin = monotonic_ns();
    trace.offset_to_wall = offset_to_wall_ns();
    if (options.cmdlines && (options.all || !options.pids.empty()))
      add_living(trace.command_lines);
    traced.start_program();
    trace.program_pid = traced.capture().program_pid();
    recording = std::make_unique<Recording>(options, traced, *target, std::move(trace));
    become(owner, runs_as.uid != owner.uid); // to signal the program
    if (!starts_programs(options))
      deny_unneeded_calls(!options.control.empty());
    recording->start(save_signal ? save_signal->file() : -1);
    if (!traced.is_program() && !options.quiet)
      print_text(start_text(options, traced.description(), target->place()));
  } catch (...) {
    recording.reset();
    become(owner); // files are removed with the rights of their owner
    target->discard();
    traced.give_up();
    throw;
  }
  recording->end(traced.wait());
  if (!options.quiet)
    print_end(recording->trace(), recording->threads(), target->place());
  return {target->place(),
          recording->trace().exit_status,
          !options.control.empty() && recording->regions() == 0,
          recording->trace().events - recording->trace().forgotten,
          recording->trace().how,
          what_is_missing(recording->trace())};
}

} // namespace ovnitrace
