// SPDX-License-Identifier: BSD-2-Clause
// The options of recording, for every command that records.
#pragma once

#include "user/record/record.h"

#include <string>

namespace CLI {
class App;
}

namespace ovnitrace {

/// What the options say that is made into something else when all of them are known.
struct RecordArguments {
  RecordOptions options;
  std::string buffer = "jtn";
  std::string trigger;  ///< name of an event
  std::string region;   ///< of --control: global or thread; empty: not given
  std::string compress; ///< level; empty: the default
  std::string stacks;   ///< list; empty: none
};

/// What is traced, as whom, for how long, and the room that it has in the kernel. `options`
/// outlives `app`.
void add_capture_options(CLI::App &app, RecordOptions &options);

/// These and all others. `arguments` outlives `app`.
void add_record_options(CLI::App &app, RecordArguments &arguments);

/// What they ask for, with the defaults. Throws Error (kExitUsage) where they are out of range or
/// do not go together.
RecordOptions checked(const RecordArguments &arguments);

} // namespace ovnitrace
