// SPDX-License-Identifier: BSD-2-Clause
// Spells the options that several subcommands have, each in one way. A test compares them with the
// help of every subcommand.
#pragma once

#include "emulator/cli/app.h"

#include <string>

namespace ovnitrace {

struct SharedOption {
  const char *names; ///< as App::add_option() takes them, older names last
  const char *means; ///< for docs/usage.md
};

inline constexpr SharedOption kOutput = {"-o,--output", "where the output goes"},
                              kForce = {"-f,--force", "replace an output that exists"},
                              kQuiet = {"-q,--quiet", "print no progress and no summary"},
                              kFrom = {"--from", "start of the part"},
                              kTo = {"--to,--until", "end of the part"},
                              kTop = {"--top", "at most so many lines, the largest first"},
                              kJson = {"--json", "print JSON"},
                              kPid = {"-p,--pid", "only these processes"},
                              kTid = {"-t,--tid", "only these threads"},
                              kComm = {"-n,--comm", "only threads of these names"},
                              kCpu = {"-C,--cpu", "only these CPUs"},
                              kKey = {"-k,--key", "encrypt with the secret in this file"};

inline constexpr SharedOption kSharedOptions[] = {kOutput, kForce, kQuiet, kFrom, kTo,  kTop,
                                                  kJson,   kPid,   kTid,   kComm, kCpu, kKey};

/// Adds -f, which sets `force`.
void add_force(App command, bool &force);

/// Returns what is wrong with a number of lines, for Option::check(); empty: nothing.
std::string wrong_number_of_lines(const std::string &text);

/// Throws Error if something is at `path` that -f would replace: a file, a link, or a directory
/// that is not empty. A device or a pipe is written to, and `in_place`, the trace itself, is where
/// its outputs belong.
void require_free(const std::string &path, bool force, const std::string &in_place = "");

} // namespace ovnitrace
