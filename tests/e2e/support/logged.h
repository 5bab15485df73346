// SPDX-License-Identifier: BSD-2-Clause
// What the program user_events says that it logged, held against a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace::test {

struct LoggedEvent {
  uint32_t tid = 0, code = 0, par1 = 0, par2 = 0;
  uint64_t before = 0, after = 0; ///< ns, CLOCK_MONOTONIC: read just before and after it was logged
  int cpu = -1;                   ///< -1: not known
};

/// The lines "logged tid=… …" of a program, each thread's in its order.
std::vector<LoggedEvent> read_logged(const std::string &text);

/// Each is in the trace once, between its two times, on its CPU, while its thread runs there, and
/// those of a thread are in its order; none of the trace's is missing in `logged`, but for
/// sections. Their pairs of parameters differ. Fails the test.
void expect_in_trace(const std::vector<LoggedEvent> &logged, const std::string &trace);

} // namespace ovnitrace::test
