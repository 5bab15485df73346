// SPDX-License-Identifier: BSD-2-Clause
// A trace of all threads of a machine, and what `why` says of it.
#pragma once

#include "emulator/open/open_trace.h"
#include "emulator/why/explainer.h"
#include "emulator/why/why_report.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace ovnitrace::test {

inline constexpr uint64_t kMs = 1000000;
/// x86-64's
inline constexpr uint32_t kEpollWait = FTRACE_CALL_NATIVE + 232, kFutex = FTRACE_CALL_NATIVE + 202,
                          kNanosleep = FTRACE_CALL_NATIVE + 35, kRead = FTRACE_CALL_NATIVE,
                          kPread = FTRACE_CALL_NATIVE + 17, kPwritev = FTRACE_CALL_NATIVE + 296;

class WhyRig : public ::testing::Test {
protected:
  WhyRig() : trace(dir.path()) {
    trace.json(R"({"version": 1, "machine": "x86_64", "all_threads": true})");
  }

  /// Blocks in a system call.
  static ChunkBuilder &block(ChunkBuilder &cpu, uint16_t context, uint32_t call, uint32_t next = 0,
                             uint32_t reason = FTRACE_OFFCPU_SLEEP) {
    return cpu.record(uint16_t(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(call)), context,
                      next | reason << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(call));
  }
  static ChunkBuilder &affinity(ChunkBuilder &cpu, uint16_t context, uint32_t cpus) {
    return cpu.record(FTrace_EXT_affinity, context, cpus);
  }
  void explain_all(const Cut &cut = {}) {
    trace.write();
    source = open_trace({{dir.path()}}, sink);
    stacks.emplace(source->catalog(), sink);
    why = explain(*source, cut, {}, &*stacks);
    info = read_trace_info(dir.path(), sink);
  }
  WhyInput input() { return {path, info, source->catalog(), *stacks, why}; }
  nlohmann::json report() {
    std::string text;
    write_why_json(input(), [&](std::string_view part) { text += part; });
    return nlohmann::json::parse(text);
  }
  /// Returns the thread of this tid in the JSON.
  static nlohmann::json thread(const nlohmann::json &report, uint32_t tid) {
    for (const nlohmann::json &thread : report["threads"])
      if (thread["tid"] == tid)
        return thread;
    throw std::runtime_error("no such thread");
  }

  TempDir dir;
  const std::string path = dir.path();
  TraceBuilder trace;
  CollectingSink sink;
  std::unique_ptr<EventSource> source;
  Explanation why;
  TraceInfo info;
  std::optional<Stacks> stacks;
};

} // namespace ovnitrace::test
