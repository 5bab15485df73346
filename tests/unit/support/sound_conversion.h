// SPDX-License-Identifier: BSD-2-Clause
// A conversion of a trace that must be sound.
#pragma once

#include "emulator/convert/convert.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace ovnitrace::test {

/// Converts a trace without damage into a directory. Returns both timelines.
inline std::string converted(const std::string &trace, const std::string &to) {
  CollectingSink sink;
  const std::unique_ptr<EventSource> source = open_trace({{trace, 0}}, sink);
  ConvertOptions options;
  options.directory = to;
  convert(*source, options, sink);
  EXPECT_EQ(sink.damage(), 0u) << trace << ": "
                               << (sink.reported.empty() ? "" : sink.reported[0].what);
  return text_of(to + "/thread.prv") + text_of(to + "/cpu.prv");
}

} // namespace ovnitrace::test
