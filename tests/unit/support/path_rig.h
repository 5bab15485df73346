// SPDX-License-Identifier: BSD-2-Clause
// A trace, and a critical path of it as text.
#pragma once

#include "tests/unit/support/path_texts.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace::test {

using Texts = std::vector<std::string>;

class PathRig : public ::testing::Test {
protected:
  PathRig() : trace(dir.path()) { trace.json(kHolders); }

  Texts path(const PathQuery &query, const Cut &cut = {}) {
    trace.write();
    return path_of(dir.path(), query, cut, info);
  }
  void set_program(uint32_t pid) {
    info.program_pid = pid;
    info.command = {"app"};
    trace.json(fmt::format(R"({{"version": 1, "command": ["app"], "program_pid": {}}})", pid));
  }

  TempDir dir;
  TraceBuilder trace;
  TraceInfo info;
};

} // namespace ovnitrace::test
