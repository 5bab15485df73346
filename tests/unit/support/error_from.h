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

/// The same. What the call throws must be an Error with this exit status.
template <class Call> std::string error_with(int status, const Call &call) {
  return error_from([&] {
    try {
      call();
    } catch (const Error &error) {
      EXPECT_EQ(error.status(), status) << error.what();
      throw;
    }
  });
}
template <class Call> std::string usage_error_from(const Call &call) {
  return error_with(kExitUsage, call);
}
template <class Call> std::string failure_from(const Call &call) {
  return error_with(kExitFailure, call);
}

} // namespace ovnitrace::test
