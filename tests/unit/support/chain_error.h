// SPDX-License-Identifier: BSD-2-Clause
// Why --control refuses chains.
#pragma once

#include "emulator/base/error.h"
#include "user/control/plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace::test {

/// The text of the usage error that the chains make; empty: none.
inline std::string chain_error(const std::vector<std::string> &chains) {
  try {
    control::make_plan(chains);
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), kExitUsage);
    return error.what();
  }
  return "";
}

} // namespace ovnitrace::test
