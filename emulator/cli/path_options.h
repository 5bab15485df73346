// SPDX-License-Identifier: BSD-2-Clause
// Adds the options that ask for a critical path, the same for every subcommand.
#pragma once

#include "emulator/cli/app.h"

#include "emulator/critical/path.h"
#include "emulator/input/trace_info.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace ovnitrace {

struct PathArguments {
  bool wanted = false;
  PathQuery query = {};
  std::string text = {}; ///< as given
};

/// Adds --critical-path[=TID] and --section, which set `arguments`. `arguments` must live until the
/// command line is parsed. `what`: says what the path is used for.
void add_path_options(App command, PathArguments &arguments, const std::string &what);

/// Throws Error if there is a --section without a --critical-path, which the configuration may
/// have.
void check_section(const PathArguments &arguments);

/// Returns from when on events are needed, for open_trace(). A path needs all of them: it says who
/// had a CPU, and that thread may have run elsewhere since.
inline uint64_t needed_from(const PathArguments &path, const Cut &cut) {
  return path.wanted ? 0 : cut.from;
}

/// Returns the path that is asked for, if any, after reading `source` to its end. Without a TID, it
/// is that of the only thread of cut.tids. Throws Error.
std::optional<CriticalPath> wanted_path(const PathArguments &arguments, const TraceInfo &info,
                                        const Cut &cut, EventSource &source);

/// Does the same with a source of its own. `open` is called only if a path is asked for.
std::optional<CriticalPath> wanted_path(const PathArguments &arguments, const TraceInfo &info,
                                        const Cut &cut,
                                        const std::function<std::unique_ptr<EventSource>()> &open);

} // namespace ovnitrace
