// SPDX-License-Identifier: BSD-2-Clause
// A trace, and the page that `ovnitrace report` makes of it.
#pragma once

#include "emulator/input/stacks.h"
#include "emulator/open/open_trace.h"
#include "emulator/report/write_report.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/packed_page.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace::test {

using Texts = std::vector<std::string>;

inline constexpr uint16_t kRead = FTRACE_CALL_NATIVE + 0;

class ReportRig : public ::testing::Test {
protected:
  ReportRig() : trace(dir.path()) {}

  std::string html(uint64_t most = kDefaultPageBytes, const Cut &cut = {}) {
    trace.write();
    const std::string file = out / "page.html";
    result = write_report(dir.path(), {}, [this] { return open_trace({{dir.path()}}, sink); },
                          {file, most, cut});
    return text_of(file);
  }
  PackedPage page(uint64_t most = kDefaultPageBytes, const Cut &cut = {}) {
    return PackedPage(html(most, cut));
  }
  /// "100-200 running why=3 peer=2"
  static Texts texts(const PackedPage &page, uint32_t thread) {
    Texts all;
    for (const PackedSlice &slice : page.slices)
      if (slice.thread == thread)
        all.push_back(fmt::format("{}-{} {} cpu={} why={} peer={}", slice.start, slice.end,
                                  page.header["states"][slice.state]["name"].get<std::string>(),
                                  slice.cpu, slice.why, slice.peer));
    return all;
  }

  /// Context 1 blocks in read, called from a stack, until it is woken and runs again.
  /// Returns the page of the trace with the names of its stacks.
  PackedPage with_stacks() {
    const Stacks stacks(open_trace({{dir.path()}}, sink)->catalog(), sink);
    const std::string file = out / "page.html";
    write_report(dir.path(), {}, [this] { return open_trace({{dir.path()}}, sink); },
                 {.place = file, .stacks = &stacks});
    return PackedPage(text_of(file));
  }
  static void block_in(uint16_t call, ChunkBuilder &cpu, uint64_t from, uint64_t to,
                       uint32_t stack) {
    cpu.at(from).record(FTrace_EXT_stack, 1, stack);
    cpu.record(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(call), 1,
               FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(call));
    cpu.at(to).activate(1, 0).dispatch(1);
  }

  TempDir dir, out;
  TraceBuilder trace;
  CollectingSink sink;
  WriteReportResult result;
};

} // namespace ovnitrace::test
