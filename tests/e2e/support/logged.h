// SPDX-License-Identifier: BSD-2-Clause
// Compares a trace with what the program user_events prints about its events.
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

/// Fails the test unless each event is in the trace once, between its two times, on its CPU, while
/// its thread runs there. The events of a thread must be in order. The trace must have no other
/// user events, except sections. Requires that the pairs of parameters differ.
void expect_in_trace(const std::vector<LoggedEvent> &logged, const std::string &trace);

} // namespace ovnitrace::test
