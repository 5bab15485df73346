// SPDX-License-Identifier: BSD-2-Clause
// The options that choose a part of a trace, the same of every subcommand.
#pragma once

#include "emulator/cli/app.h"

#include "emulator/cli/trace_time.h"
#include "emulator/core/cut.h"
#include "emulator/open/open_trace.h"

#include <string>
#include <vector>

namespace ovnitrace {

inline constexpr const char *kCutGroup = "Part of the trace"; ///< in --help

/// Adds an option that takes one value a time, or a list with commas: the traces that follow are
/// not taken for values. `type` is what --help calls a value. `list` must live until the command
/// line is parsed.
template <class List>
void add_cut_list(App command, const std::string &name, const char *type, List &list,
                  const std::string &what) {
  command.add_option(name, list, what)
      .type_name(type)
      .delimiter(',')
      .allow_extra_args(false)
      .group(kCutGroup);
}

/// What the options say. A time by the clock needs the trace to become one of the cut.
struct CutArguments {
  Cut cut = {}; ///< without the times
  TraceTime from = {}, to = {};

  /// Whether it leaves out any thread or time.
  bool cuts() const { return cut.cuts() || has_times(); }
  bool has_times() const {
    return from.kind != TraceTime::Kind::not_given || to.kind != TraceTime::Kind::not_given;
  }
};

/// Adds --from, --to, --pid, --tid and --comm, which set `arguments`; it must live until the
/// command line is parsed. `with_end`: false where the name --to is taken.
void add_cut_options(App command, CutArguments &arguments, bool with_end = true);

/// Returns the cut of these traces. Whether it fits the trace, check_cut() says. Opens the traces
/// where a time is by the clock. Throws Error (usage) where they do not say when they were
/// recorded.
Cut cut_of(const CutArguments &arguments, const std::vector<TraceInput> &inputs);
/// The same for one trace.
Cut cut_of(const CutArguments &arguments, const std::string &trace);

} // namespace ovnitrace
