// SPDX-License-Identifier: BSD-2-Clause
// The error that a call throws, as text.
#pragma once

#include "emulator/base/error.h"

#include <gtest/gtest.h>

#include <exception>
#include <string>

namespace ovnitrace::test {

/// Returns the text of what a call throws, and "" if it throws nothing.
template <class Call> std::string error_from(const Call &call) {
  try {
    call();
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

/// The same. What the call throws must be a usage error.
template <class Call> std::string usage_error_from(const Call &call) {
  return error_from([&] {
    try {
      call();
    } catch (const Error &error) {
      EXPECT_EQ(error.status(), kExitUsage) << error.what();
      throw;
    }
  });
}

} // namespace ovnitrace::test
