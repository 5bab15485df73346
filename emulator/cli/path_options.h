// SPDX-License-Identifier: BSD-2-Clause
// The options that ask for a critical path, the same of every subcommand.
#pragma once

#include "emulator/cli/app.h"

#include "emulator/critical/path.h"
#include "emulator/input/trace_dir.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace ovnitrace {

struct PathArguments {
  bool wanted = false;
  PathQuery query = {};
  std::string text = {}; ///< as it was given
};

/// Adds --critical-path[=TID] and --section, which set `arguments`; it must live until the command
/// line is parsed. `what` says what becomes of the path.
void add_path_options(App command, PathArguments &arguments, const std::string &what);

/// Since when events are needed, for open_trace(). A path says who had a CPU, which may be a thread
/// that has run elsewhere since: it needs all.
inline uint64_t needed_from(const PathArguments &path, const Cut &cut) {
  return path.wanted ? 0 : cut.from;
}

/// The path that is asked for, none if none is; then `source` is read to its end. Without a TID it
/// is that of the only thread of cut.tids. Throws Error.
std::optional<CriticalPath> wanted_path(const PathArguments &arguments, const TraceInfo &info,
                                        const Cut &cut, EventSource &source);

/// The same of a source of its own: `open` is called where a path is asked for.
std::optional<CriticalPath> wanted_path(const PathArguments &arguments, const TraceInfo &info,
                                        const Cut &cut,
                                        const std::function<std::unique_ptr<EventSource>()> &open);

} // namespace ovnitrace
