// SPDX-License-Identifier: BSD-2-Clause
// Runs commands on a trace of their own.
#pragma once

#include "tests/unit/support/run_command.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace::test {

/// Two threads of two processes, which run from 1000 to 2000 ns in DIR/app.
class TraceCommand : public testing::Test {
protected:
  TraceCommand() {
    std::filesystem::create_directory(trace);
    TraceBuilder builder(trace);
    builder.json(R"({"version": 1, "command": ["/bin/app", "-x"], "host": "box", "kernel": "6.1",
                     "machine": "x86_64", "program_pid": 11})");
    auto &cpu = builder.cpu(0).at(1000).start().id(1, 11, 11, "app").id(2, 22, 22, "b");
    cpu.dispatch(1).at(1400).sleep(1, 22).dispatch(2).at(1700).activate(1, 22);
    cpu.at(1800).epilogue(2, 11).dispatch(1).at(2000).stop();
    builder.write();
  }

  /// Returns what a command prints to standard output, then to standard error, behind its exit
  /// status. The directory is DIR in it.
  std::string run(std::vector<std::string> arguments) const {
    const Said all = test::run(std::move(arguments));
    std::string said = fmt::format("{} {}{}", all.status, all.out, all.err);
    for (size_t at; (at = said.find(dir.path())) != said.npos;)
      said.replace(at, dir.path().size(), "DIR");
    return std::regex_replace(said, std::regex("written in [0-9.]+ s"), "written in TIME");
  }
  /// Cuts the last record off the trace.
  void damage() const {
    const std::string file = trace + "/cpu0000.ftr";
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 8);
  }
  bool exists(const std::string &name) const { return std::filesystem::exists(dir / name); }

  TempDir dir;
  const std::string trace = dir / "app";
};

} // namespace ovnitrace::test
