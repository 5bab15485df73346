// SPDX-License-Identifier: BSD-2-Clause
// How many random cases a property test runs.
#pragma once

#include <cstdlib>

namespace ovnitrace::test {

/// Returns `few`, times OVNITRACE_CASES if that is set. `make test-long` sets it. Seeds that a test
/// counts from 0 or 1 include those of a shorter run.
inline unsigned cases(unsigned few) {
  const char *times = std::getenv("OVNITRACE_CASES");
  return times ? few * unsigned(std::strtoul(times, nullptr, 10)) : few;
}

} // namespace ovnitrace::test
