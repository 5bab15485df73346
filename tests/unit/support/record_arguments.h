// SPDX-License-Identifier: BSD-2-Clause
// Arguments of `ovnitrace record`, and what is wrong with them.
#pragma once

#include "emulator/base/error.h"
#include "tests/unit/support/error_from.h"
#include "user/cli/checked_options.h"

#include <gtest/gtest.h>

#include <string>

namespace ovnitrace::test {

/// An alarm chain for --control.
inline constexpr const char *kChain = "start:enter_func:f";

/// Returns the arguments of `ovnitrace record -- app`.
inline RecordArguments app() {
  RecordArguments arguments;
  arguments.options.command = {"app"};
  arguments.options.quiet = true;
  return arguments;
}

/// Returns the error, which must be one of usage; empty if the arguments are right.
inline std::string error_of(const RecordArguments &arguments) {
  return usage_error_from([&] { checked(arguments); });
}

} // namespace ovnitrace::test
