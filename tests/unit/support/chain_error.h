// SPDX-License-Identifier: BSD-2-Clause
// Why --control refuses chains.
#pragma once

#include "emulator/base/error.h"
#include "tests/unit/support/error_from.h"
#include "user/control/plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace::test {

/// The text of the usage error that the chains make; empty: none.
inline std::string chain_error(const std::vector<std::string> &chains) {
  return usage_error_from([&] { control::make_plan(chains); });
}

} // namespace ovnitrace::test
