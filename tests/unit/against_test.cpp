// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace report A --against B`: how the runs are aligned, and where the page finds each cause.
#include "emulator/base/error.h"
#include "emulator/cli/compare_report.h"
#include "tests/unit/support/diff_rig.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/packed_page.h"
#include "tests/unit/support/run_command.h"
#include "tests/unit/support/why_rig.h"

namespace ovnitrace {
namespace {

using test::kMs;
using test::TraceBuilder;

class AgainstTest : public test::DiffRig {
protected:
  /// A program that starts at `begin` (ns) and is preempted for `held` after 10 ms. Another thread
  /// of a lower tid is there if `with_other`.
  std::string app(uint64_t begin, uint64_t held, bool with_other, uint64_t mark) {
    return trace(
        [&](TraceBuilder &builder) {
          auto &cpu = builder.cpu(0).at(begin).start();
          if (with_other)
            cpu.id(3, 5, 5, "other");
          cpu.id(1, 11, 11, "app").id(2, 99, 99, "hog").dispatch(1).at(begin + 10 * kMs);
          if (held)
            cpu.epilogue(1, 99).dispatch(2).at(begin + 10 * kMs + held).sleep(2, 11).dispatch(1);
          cpu.at(begin + 20 * kMs + held).end(1, 11).at(begin + 21 * kMs + held).stop();
        },
        R"(, "boot_id": "1", "user": ")" + std::string(with_other ? "x" : "y") +
            R"(", "marks": [{"time_ns": )" + std::to_string(mark) + R"(, "text": "go"}])");
  }
  Against compared(const std::string &a, const std::string &b, const std::string &mark = "") {
    return compare_with(a, {b, mark}, query, sink);
  }

  test::CollectingSink sink;
};

TEST_F(AgainstTest, PlacesOfBothRunsAreOnOneTimeline) {
  const std::string a = app(1000 * kMs, 0, true, 1001 * kMs),
                    b = app(5000 * kMs, 7 * kMs, false, 1);
  const Against against = compared(a, b);
  EXPECT_EQ(against.shift, -4000 * int64_t(kMs));
  const auto source = pair_reopener(a, b, against.shift, sink)();
  const Catalog &catalog = source->catalog();
  EXPECT_EQ(catalog.hosts[0].name + catalog.hosts[1].name, "AB");
  EXPECT_EQ(cpu_count(catalog), 2u) << "each run has a CPU";
  const auto header = against_header(against, catalog);
  EXPECT_EQ(header["b"].get<int64_t>() - header["a"].get<int64_t>(), 7 * int64_t(kMs));
  const auto &preempted = header["causes"][0], &running = header["causes"][1];
  EXPECT_EQ(preempted["cause"], "preempted by hog");
  EXPECT_EQ(preempted["thread"], "app");
  EXPECT_TRUE(preempted["places"][0].is_null()) << "nobody preempts it in A";
  const auto &place = preempted["places"][1];
  const ThreadInfo &thread = catalog.threads.at(place["thread"]);
  EXPECT_EQ(thread.tid, 11u);
  EXPECT_EQ(thread.host, 1u);
  EXPECT_EQ(place["from"], 10 * kMs);
  EXPECT_EQ(place["to"], 17 * kMs);
  EXPECT_EQ(catalog.threads.at(running["places"][0]["thread"]).host, 0u);
  EXPECT_EQ(running["places"][0]["to"], 20 * kMs);
}

TEST_F(AgainstTest, AMarkAlignsThem) {
  const std::string a = app(1000 * kMs, 0, false, 1004 * kMs),
                    b = app(500 * kMs, 0, false, 501 * kMs);
  EXPECT_EQ(compared(a, b).shift, 500 * int64_t(kMs));
  EXPECT_EQ(compared(a, b, "go").shift, 503 * int64_t(kMs));
  EXPECT_THROW(compared(a, b, "stop"), Error);
}

TEST_F(AgainstTest, TheLongestSectionAlignsThem) {
  const auto with_sections = [&](uint64_t longest) {
    return trace([=](TraceBuilder &builder) {
      auto &cpu = builder.cpu(0).at(1000 * kMs).start().id(1, 11, 11, "app").dispatch(1);
      for (const uint64_t begin : {1010 * kMs, longest, 1090 * kMs}) {
        cpu.at(begin).record(FTrace_EVT_user_event_13, 1, 7);
        cpu.at(begin + (begin == longest ? 5 : 2) * kMs).record(FTrace_EVT_user_event_14, 1, 7);
      }
      cpu.at(1100 * kMs).end(1, 11).stop();
    });
  };
  query.section = 7;
  const std::string a = with_sections(1050 * kMs), b = with_sections(1030 * kMs);
  EXPECT_EQ(compared(a, b).shift, 20 * int64_t(kMs));
  EXPECT_EQ(compared(b, a).shift, -20 * int64_t(kMs));
}

TEST_F(AgainstTest, ThePageHasThePathOfEachProgramAndWhatChanged) {
  const std::string a = app(1000 * kMs, 0, true, 1001 * kMs),
                    b = app(5000 * kMs, 7 * kMs, false, 5004 * kMs), file = dir / "page.html";
  const auto page = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"report", a, "--against", b, "-q", "-f", "-o", file});
    const test::Said said = test::run(options);
    EXPECT_EQ(said.status, 0) << said.err;
    return test::PackedPage(test::text_of(file));
  };
  const test::PackedPage at_start = page({});
  const auto &header = at_start.header, &paths = header["critical_path"]["paths"];
  EXPECT_EQ(paths, nlohmann::json::parse(R"([
      {"thread": 1, "from": 0, "to": 20000000, "segments": 1},
      {"thread": 3, "from": 0, "to": 27000000, "segments": 3}])"));
  EXPECT_EQ(header["threads"][3]["node"], 1);
  EXPECT_EQ(header["threads"][3]["tid"], 11);
  EXPECT_EQ(header["against"]["traces"], nlohmann::json::array({a, b}));
  EXPECT_EQ(header["against"]["conditions"], nlohmann::json::array({"user: x in A, y in B"}));
  EXPECT_EQ(at_start.summary["answer"]["sentences"],
            "B is 7.000 ms slower (+35.0 %): +7.000 ms preempted by hog.");
  const test::PackedPage at_mark = page({"--align", "go"});
  EXPECT_EQ(at_mark.header["critical_path"]["paths"][0]["to"], 23 * kMs) << "B began 3 ms earlier";
}

} // namespace
} // namespace ovnitrace
