// SPDX-License-Identifier: BSD-2-Clause
// What a conversion prints, and its exit status.
#include "emulator/base/error.h"
#include "emulator/cli/run_conversion.h"
#include "emulator/cli/trace_inputs.h"
#include "emulator/format/code_table.h"
#include "tests/support/convert_directory.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/count_in.h"
#include "tests/unit/support/ovni_streams.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

namespace ovnitrace::test {
namespace {

class RunConversion : public testing::Test {
protected:
  /// What it says.
  std::string run(bool lint) {
    ConvertOptions options;
    options.directory = dir / "out";
    options.lint = lint;
    testing::internal::CaptureStderr();
    status = run_conversion({{dir.path()}}, options, ConversionOutput::nothing);
    return testing::internal::GetCapturedStderr();
  }
  /// A thread that is on two CPUs at once: `times` times.
  void impossible(int times) {
    trace.json(R"({"version": 1})");
    trace.cpu(0).at(1000).start().id(1, 10, 10, "app").dispatch(1).at(9000).stop();
    auto &other = trace.cpu(1).at(1000).start().id(1, 10, 10, "app");
    for (int i = 0; i < times; i++)
      other.at(uint64_t(2000 + i)).sleep(1);
    other.at(9000).stop();
    trace.write();
  }
  TempDir dir;
  TraceBuilder trace{dir.path()};
  int status = -1;
};

TEST_F(RunConversion, AnImpossibleEventIsReportedWithItsFilePlaceTimeThreadAndReason) {
  impossible(1);
  const std::string reported = run(false);
  EXPECT_EQ(status, 0) << reported;
  EXPECT_NE(reported.find("cpu0001.ftr, byte "), std::string::npos) << reported;
  EXPECT_NE(reported.find(", at 0.000001000s: app (10) leaves CPU 1 (to pause), but is "),
            std::string::npos)
      << reported;
}

TEST_F(RunConversion, LintFailsForAnImpossibleEventAndListsAll) {
  const int many = int(kFaultsReported) + 5;
  impossible(many);
  std::string reported = run(true);
  EXPECT_EQ(status, kExitFailure) << reported;
  EXPECT_EQ(test::count_in(reported, "app (10) leaves CPU 1"), size_t(many));
  reported = run(false);
  EXPECT_EQ(status, 0);
  EXPECT_NE(reported.find(std::to_string(many) + " impossible events in all"), std::string::npos)
      << reported;
}

TEST_F(RunConversion, LintOfATraceWithoutFaultsSucceeds) {
  trace.json(R"({"version": 1})");
  trace.cpu(0).at(1000).start().id(1, 10, 10, "app").dispatch(1).at(9000).sleep(1).stop();
  trace.write();
  EXPECT_EQ(run(true), "");
  EXPECT_EQ(status, 0);
}

TEST_F(RunConversion, EventsOfOtherModelsAreCountedByModel) {
  write_stream(dir, "n", 1, 1,
               execute(1, 0) + stream_event("VTx", 2) + stream_event("VTx", 3) +
                   stream_event("VTe", 4) + stream_event("OHe", 5));
  const std::string said = run(false);
  EXPECT_NE(said.find("3 events of model V (nosv) are not converted"), said.npos) << said;
}

TEST_F(RunConversion, LintThatDoesNotCheckAllEventsExitsWith3) {
  std::string json = stream_json("n", 1, 1);
  const std::string require = R"({"ovni": "1.1.0"})";
  json.replace(json.find(require), require.size(), R"({"ovni": "1.1.0", "nosv": "2.7.0"})");
  const std::string place = dir / stream_place("n", 1, 1);
  write_file(place + "/stream.json", json);
  write_file(place + "/stream.obs",
             stream_header() + execute(1, 0) + stream_event("VTx", 2) + stream_event("OHe", 5));
  EXPECT_NE(run(true).find("1 event of model V (nosv) is not checked"), std::string::npos);
  EXPECT_EQ(status, 3);
  run(false);
  EXPECT_EQ(status, 0);
}

// Events that are reported as not taken can therefore only be of an ovni stream.
TEST(Conversion, TakesEveryEventOfFTrace) {
  size_t events = 0;
  for (const CodeInfo &info : fields::code_rows::kRows) {
    if (info.record != Record::event || info.code == FTrace_EVT_trace_stop)
      continue;
    TempDir dir;
    TraceBuilder trace(dir.path());
    trace.json(R"({"version": 1})");
    trace.cpu(0).at(1000).start().id(1, 10, 10, "app").dispatch(1);
    trace.cpu(0).at(2000).record(uint16_t(info.code), 1, 1).at(9000).stop();
    trace.write();
    ConvertOptions options;
    options.directory = dir / "out";
    CollectingSink sink;
    EXPECT_TRUE(convert_directory(dir.path(), options, sink).untaken.empty()) << info.name;
    events++;
  }
  EXPECT_GT(events, 50u);
}

TEST(ConversionCommand, CanBePastedIntoAShell) {
  ConvertOptions options;
  options.directory = "out 1";
  options.cut.comms = {"worker", "it's*", "=x", "^y", "a=b"};
  options.model_files = {"my model"};
  EXPECT_EQ(conversion_command(" --lint", {{"run$1"}}, options),
            "ovnitrace convert --lint --model 'my model' --comm worker --comm 'it'\\''s*' "
            "--comm '=x' --comm '^y' --comm a=b -o 'out 1' 'run$1'");
}

} // namespace
} // namespace ovnitrace::test
