// SPDX-License-Identifier: BSD-2-Clause
// Adds the options that choose a part of a trace, the same for every subcommand.
#pragma once

#include "emulator/cli/app.h"

#include "emulator/cli/trace_time.h"
#include "emulator/core/cut.h"
#include "emulator/open/open_trace.h"

#include <string>
#include <vector>

namespace ovnitrace {

inline constexpr const char *kCutGroup = "Part of the trace"; ///< in --help

/// Adds an option that takes one value, or a list with commas, each time that it is given. Traces
/// that follow are not taken for values. `type`: the value's name in --help. `list` must live until
/// the command line is parsed. `values`: for Option::values().
template <class List>
void add_cut_list(App command, const std::string &name, const char *type, const char *values,
                  List &list, const std::string &what) {
  command.add_option(name, list, what)
      .type_name(type)
      .values(values)
      .delimiter(',')
      .allow_extra_args(false)
      .group(kCutGroup);
}

/// The parsed options. A time by the clock, or at a mark, needs the trace to become part of a Cut.
struct CutArguments {
  Cut cut = {}; ///< without the times
  TraceTime from = {}, to = {};

  /// Returns whether any thread or time is left out.
  bool cuts() const { return cut.cuts() || has_times(); }
  bool has_times() const {
    return from.kind != TraceTime::Kind::not_given || to.kind != TraceTime::Kind::not_given;
  }
};

/// Adds --from, --to, --pid, --tid and --comm, which set `arguments`. `arguments` must live until
/// the command line is parsed. `with_end`: false if --to means something else.
void add_cut_options(App command, CutArguments &arguments, bool with_end = true);

/// Returns the cut of these traces; check_cut() says whether it fits. Opens the traces if a time is
/// by the clock or at a mark. Throws Error if they do not say when they were recorded, or have no
/// such mark.
Cut cut_of(const CutArguments &arguments, const std::vector<TraceInput> &inputs);
/// Returns the command of a shell that explains this part of the trace, for the advice.
std::string why_command(const std::string &trace, const CutArguments &arguments);
/// Returns the cut that the options ask for, for one trace. Throws Error.
Cut cut_of(const CutArguments &arguments, const std::string &trace);

} // namespace ovnitrace
