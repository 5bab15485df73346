// SPDX-License-Identifier: BSD-2-Clause
// What is said of plain FTrace files that are damaged or no such files: the whole text.
#include "emulator/shark/context_table.h"
#include "emulator/shark/shark_file.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/shark_rig.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

namespace ovnitrace::test {
namespace {

class SharkReports : public Shark {
protected:
  /// Returns "offset: what" of each report.
  Texts reports(size_t cut = 0) {
    Texts texts;
    for (const Diagnostic &found : read(cut).sink.reported)
      texts.push_back(std::to_string(found.offset) + ": " + found.what);
    return texts;
  }
};

TEST_F(SharkReports, UnknownCodesAreCountedFromTheFirst) {
  file.rate(kNsRate).at(5).id(1, 7).record(0xee).context_switch(1);
  EXPECT_EQ(reports(), Texts{"32: 1 record of unknown codes, of which this is the first (0x00ee): "
                             "left out"});
  file.record(0xed);
  EXPECT_EQ(reports(), Texts{"32: 2 records of unknown codes, of which this is the first "
                             "(0x00ee): left out"});
}

TEST_F(SharkReports, AFileMayEndInARecord) {
  file.rate(kNsRate).at(5).id(1, 7).context_switch(1).context_switch(1);
  EXPECT_EQ(reports(6), Texts{"48: the file was cut: its last 10 bytes are not a whole record"});
}

TEST_F(SharkReports, AFileMayHaveNoRate) {
  file.at(5).id(1, 7).context_switch(1);
  EXPECT_EQ(reports(), Texts{"0: nothing gives the rate of the clock (cycles_per_msec, or "
                             "parameter 2 of trace_start): times are shown as if its ticks were "
                             "ns"});
}

TEST_F(SharkReports, AFileMayHaveTwoRates) {
  file.rate(kNsRate).at(5).id(1, 7).rate(2000000).context_switch(1);
  EXPECT_EQ(reports(), Texts{"32: cycles_per_msec says 2000000 ticks per ms, but 1000000 before: "
                             "the first one is used"});
}

TEST_F(SharkReports, AFileWithoutAnEventIsRefused) {
  for (int n = 0; n < 3; n++)
    file.empty();
  EXPECT_EQ(error(), "cannot read " + path +
                         " as an FTrace file: it has no event: nothing was "
                         "logged, or its chunks were not sent");
}

TEST_F(SharkReports, AnotherFileIsRefused) {
  file.at(5).record(0xee).record(0xed);
  EXPECT_EQ(error(), path + " is no trace: name the directory that ovnitrace wrote");
  file.context_switch(1);
  EXPECT_EQ(error(), "cannot read " + path +
                         " as an FTrace file: 2 of its 3 records have a code "
                         "that FTrace does not have");
  file.context_switch(1);
  EXPECT_EQ(error(), "") << "as many known ones";
}

TEST_F(SharkReports, AFileIsNamedOnce) {
  file.rate(kNsRate).at(5).id(1, 7).context_switch(1);
  file.write(path);
  CollectingSink sink;
  try {
    open_trace({{path}, {path}}, sink);
    ADD_FAILURE() << "not refused";
  } catch (const Error &error) {
    EXPECT_EQ(error.what(), "cannot read " + path + " as an FTrace file: it was named before");
  }
}

TEST_F(SharkReports, AnEventMayBeOfNobody) {
  file.rate(kNsRate).at(5).id(1, 7).record(FTrace_EVT_task_epilogue);
  EXPECT_EQ(reports(), Texts{"32: task_epilogue names no context, and it is not known which task "
                             "runs: it is shown of none"});
}

TEST_F(SharkReports, AFileHasATaskForEachPidUpToALimit) {
  file.rate(kNsRate).at(5);
  for (uint32_t pid = 1; pid <= shark::ContextTable::kMaxTasks; pid++)
    file.id(1, pid);
  EXPECT_EQ(reports(), Texts{});
  file.id(1, 900'001);
  EXPECT_EQ(reports(), Texts{"0: the trace has more than 262144 tasks: the others are left out"});
}

TEST_F(SharkReports, AFileOfATraceDirectoryIsReadAloneOnly) {
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(100).start().id(1, 11, 11, "a").dispatch(1).at(200).stop();
  trace.write();
  file.rate(kNsRate).at(5).id(1, 7).context_switch(1).write(path);
  CollectingSink sink;
  EXPECT_NO_THROW(shark::open_shark_files({trace.file(0)}, sink));
  EXPECT_EQ(error_from([&] {
              shark::open_shark_files({path, trace.file(0)}, sink);
            }),
            "cannot read " + trace.file(0) +
                " as an FTrace file: it is of a trace directory; name that, or the file alone");
}

TEST_F(SharkReports, AnEventNamesItsFileByANumberOfSixteenBits) {
  CollectingSink sink;
  EXPECT_EQ(
      error_from([&] { shark::open_shark_files(std::vector<std::string>(65'536, "none"), sink); }),
      "cannot read 65536 FTrace files at once: at most 65535");
  EXPECT_NE(error_from([&] {
              shark::open_shark_files(std::vector<std::string>(65'535, "none"), sink);
            }).find("cannot read none as an FTrace file: "),
            std::string::npos);
}

} // namespace
} // namespace ovnitrace::test
