// SPDX-License-Identifier: BSD-2-Clause
// Adds the options of recording, for every command that records.
#pragma once

#include "emulator/cli/app.h"

#include "user/record/record.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// Values of options that are interpreted only when all options are known.
struct RecordArguments {
  RecordOptions options;
  bool dry_run = false; ///< only list the threads
  bool json = false;    ///< lists are printed as JSON
  std::string buffer = "disk";
  std::string rotate; ///< size or time; empty: not given
  std::vector<std::string> triggers;
  std::string region;             ///< of --control: global or thread; empty: not given
  uint64_t skip = 0;              ///< instructions before the region; 0: not given
  uint64_t length = 0;            ///< instructions of the region; 0: not given
  std::string compress;           ///< level; empty: the default
  std::string stacks;             ///< list; empty: none
  uint32_t stack_depth = 0;       ///< 0: not given
  std::vector<std::string> notes; ///< what the user should know of the options, a line each
};

/// Adds --user, for a command that runs a program. `options` outlives `app`.
void add_user_option(App app, RecordOptions &options);

/// Adds the options that say what is traced, for how long, which events (without stacks), and how
/// much room they have in the kernel. `arguments` outlives `app`.
void add_capture_options(App app, RecordArguments &arguments);

/// Adds the options of the stacks of threads that block. `arguments` outlives `app`.
void add_stack_options(App app, RecordArguments &arguments);

/// Adds these options and all others. `arguments` outlives `app`.
void add_record_options(App app, RecordArguments &arguments);

} // namespace ovnitrace
