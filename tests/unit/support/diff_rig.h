// SPDX-License-Identifier: BSD-2-Clause
// Runs that were written for a test, and what `diff` says of them.
#pragma once

#include "emulator/diff/diff_report.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ovnitrace::test {

/// Measures a trace directory as the command does.
inline RunTimes measured(const std::string &path, Names &names, const RunQuery &query = {},
                         const Renames &renames = {}) {
  static CollectingSink sink; // outlives what `open` returns
  const auto open = [path] { return open_trace({{path}}, sink); };
  return measure(path, read_trace_info(path, sink), query, open, names, renames);
}

class DiffRig : public ::testing::Test {
protected:
  /// Makes a trace of a program (tid 11), which `write` fills. Returns its path.
  std::string trace(const std::function<void(TraceBuilder &)> &write, const std::string &more = "",
                    const std::string &command = R"(["app"])") {
    const std::string path = dir / std::to_string(++traces_);
    std::filesystem::create_directory(path);
    TraceBuilder builder(path);
    builder.json(R"({"version": 1, "machine": "x86_64", "all_threads": true,
                     "program_pid": 11, "command": )" +
                 command + more + "}");
    write(builder);
    builder.write();
    return path;
  }
  void add_a(const std::string &path) {
    runs.a.push_back(measured(path, runs.names, query, match));
  }
  void add_b(const std::string &path) { runs.b.push_back(measured(path, runs.names, query)); }

  nlohmann::json json(const std::vector<GateResult> &gates = {}) {
    std::string text;
    const Comparison comparison = compare(runs);
    write_diff_json({runs, comparison, gates}, [&](std::string_view part) { text += part; });
    return nlohmann::json::parse(text);
  }
  std::string text(const std::vector<GateResult> &gates = {}) {
    const Comparison comparison = compare(runs);
    return diff_text({runs, comparison, gates}, 10, 100);
  }

  TempDir dir;
  ComparedRuns runs;
  RunQuery query;
  Renames match;

private:
  int traces_ = 0;
};

} // namespace ovnitrace::test
