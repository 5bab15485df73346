// SPDX-License-Identifier: BSD-2-Clause
// Spells the options that several subcommands have, each in one way. A test compares them with the
// help of every subcommand.
#pragma once

#include "emulator/cli/app.h"

#include <functional>
#include <string>
#include <vector>

namespace ovnitrace {

/// Names as App::add_option() takes them, older names last. docs/usage.md says what they mean.
inline constexpr const char *kOutput = "-o,--output", *kForce = "-f,--force",
                            *kQuiet = "-q,--quiet", *kFrom = "--from", *kTo = "--to,--until",
                            *kTop = "--top", *kJson = "--json", *kPid = "-p,--pid",
                            *kTid = "-t,--tid", *kComm = "-n,--comm", *kCpu = "-C,--cpu",
                            *kKey = "-k,--key";

inline constexpr const char *kSharedOptions[] = {kOutput, kForce, kQuiet, kFrom, kTo,  kTop,
                                                 kJson,   kPid,   kTid,   kComm, kCpu, kKey};

/// What --help says of TRACE.
inline constexpr const char
    *kOneTrace = "The directory of the trace, or a file of the S.Ha.R.K. tracer",
    *kSeveralTraces =
        "Directories of traces, or files of the S.Ha.R.K. tracer. Several become one timeline. "
        "Or the directory of one ovni trace";

/// Adds -f, which sets `force`.
Option add_force(App command, bool &force);

/// Returns what is wrong with a number of lines, for Option::check(); empty: nothing.
std::string wrong_number_of_lines(const std::string &text);

/// Returns a condition for Option::default_if(): the default is one of `words`. For an option with
/// other words in another subcommand.
std::function<bool(const std::string &)> is_among(std::vector<std::string> words);

/// Throws Error if something is at `path` that -f would replace: a file, a link, or a directory
/// that is not empty. A device or a pipe is written to, and `in_place`, the trace itself, is where
/// its outputs belong.
void require_free(const std::string &path, bool force, const std::string &in_place = "");

} // namespace ovnitrace
