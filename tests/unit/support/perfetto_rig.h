// SPDX-License-Identifier: BSD-2-Clause
// A trace that a test builds, as Perfetto sees it.
#pragma once

#include "emulator/open/open_trace.h"
#include "emulator/perfetto/write_perfetto.h"
#include "tests/support/perfetto_trace.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace::test {

class PerfettoRig : public testing::Test {
protected:
  using Texts = std::vector<std::string>;

  PerfettoRig() : trace(dir.path()) {}

  PerfettoTrace exported(const Cut &cut = {}, const TraceInfo &info = {}) {
    trace.write();
    return exported_from(*open_trace({{dir.path()}}, sink), cut, info);
  }
  /// With the stacks of the trace.
  PerfettoTrace exported_with_stacks() {
    trace.write();
    const auto source = open_trace({{dir.path()}}, sink);
    const Stacks stacks(source->catalog(), sink);
    const std::string file = out / "trace.pftrace";
    result = perfetto::write_perfetto(*source, {}, {}, file, nullptr, &stacks);
    return PerfettoTrace(text_of(file));
  }
  PerfettoTrace exported_from(EventSource &source, const Cut &cut = {}, const TraceInfo &info = {},
                              CriticalPath *path = nullptr) {
    const std::string file = out / "trace.pftrace";
    result = perfetto::write_perfetto(source, info, cut, file, path);
    EXPECT_EQ(text_of(file).size(), result.bytes);
    return PerfettoTrace(text_of(file));
  }

  /// "100-200 cpu 0 tid 11 then 1"
  static Texts texts(const std::vector<PerfettoTrace::Run> &runs) {
    Texts all;
    for (const auto &run : runs)
      all.push_back(fmt::format("{}-{} cpu {} tid {} then {}", run.start,
                                run.end == UINT64_MAX ? "" : std::to_string(run.end), run.cpu,
                                run.tid, run.state));
    return all;
  }
  /// "100-200 thread 11: section 5 (value=7)" of the tracks whose name starts with `of`.
  static Texts texts(const std::vector<PerfettoTrace::Slice> &slices, const std::string &of = "") {
    Texts all;
    for (const auto &slice : slices) {
      if (slice.track == "ovnitrace" || slice.track.rfind(of, 0) != 0)
        continue;
      std::string notes;
      for (const auto &[name, value] : slice.notes)
        notes += (notes.empty() ? "" : ", ") + name + "=" + value;
      all.push_back(fmt::format("{}{} {}: {}{}", slice.start,
                                slice.instant             ? std::string()
                                : slice.end == UINT64_MAX ? std::string("-")
                                                          : fmt::format("-{}", slice.end),
                                slice.track, slice.name, notes.empty() ? "" : " (" + notes + ")"));
    }
    return all;
  }

  TempDir dir, out;
  TraceBuilder trace;
  CollectingSink sink;
  perfetto::WriteResult result;
};

} // namespace ovnitrace::test
