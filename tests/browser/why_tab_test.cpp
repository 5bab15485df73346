// SPDX-License-Identifier: BSD-2-Clause
// The tab "Why" of the page in a real browser: its sums are those of `ovnitrace why`.
#include "emulator/open/open_trace.h"
#include "emulator/report/write_report.h"
#include "emulator/why/cause_names.h"
#include "emulator/why/explainer.h"
#include "tests/browser/support/browser.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/random_schedule.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

namespace ovnitrace {
namespace {

using nlohmann::json;
using test::Browser;
using test::CollectingSink;
using test::TempDir;
using test::TraceBuilder;

/// ns by kind of wait, or block, and culprit.
using Sums = std::map<std::pair<std::string, std::string>, uint64_t>;

class WhyTab : public ::testing::Test {
protected:
  void SetUp() override {
    if (!Browser::installed())
      GTEST_SKIP() << "there is no chromium: scripts/setup.sh installs it";
    browser.emplace();
  }
  void open(const std::string &trace) {
    const std::string file = out / "page.html";
    write_report(trace, {}, [&] { return open_trace({{trace}}, sink); }, {.place = file});
    browser->open(file);
  }
  static Sums sums_of(const json &list, const char *what, const char *who) {
    Sums sums;
    for (const json &one : list)
      sums[{one[what], one[who]}] += one["ns"].get<uint64_t>();
    return sums;
  }

  TempDir out;
  CollectingSink sink;
  std::optional<Browser> browser;
};

TEST_F(WhyTab, SumsOfRandomSelectionsEqualWhy) {
  std::mt19937 random(26);
  for (int n = 0; n < 12; n++) {
    TempDir dir;
    TraceBuilder trace(dir.path());
    const int events = n % 3 ? 80 : 10000; // the page keeps sums of 512 slices of a thread
    const uint64_t end = test::random_schedule(trace, random, 300, events) - 100;
    trace.write();
    open(dir.path());
    for (int m = 0; m < 25; m++) {
      Cut cut;
      cut.from = random() % end;
      cut.to = cut.from + 1 + random() % (end - cut.from);
      cut.tids = {uint32_t(1 + random() % 5)};
      const std::string about =
          fmt::format("trace {}: thread {}, {} to {}", n, cut.tids[0], cut.from, cut.to);
      const json page = browser->evaluate(
          fmt::format("ovnitrace.why({}, {}, {})", cut.from, cut.to, cut.tids[0]));
      const auto source = open_trace({{dir.path()}}, sink);
      const Catalog &catalog = source->catalog();
      const Explanation why = explain(*source, cut);
      const TraceInfo info;
      const Stacks stacks(catalog, sink);
      const WhyInput input{dir.path(), info, catalog, stacks, why};
      Sums waiting, blocked;
      uint64_t running = 0;
      for (const ThreadTime &time : why.threads)
        running += time.running;
      for (const WaitSum &sum : why.waits)
        waiting[{wait_word(sum.kind), culprit_text(input, sum.holder, sum.thread)}] += sum.ns;
      for (const BlockSum &sum : why.blocks)
        if (sum.ns)
          blocked[{block_name(input.info.machine, sum.block),
                   culprit_text(input, sum.waker, sum.thread)}] += sum.ns;
      EXPECT_EQ(page["running_ns"], running) << about;
      EXPECT_EQ(sums_of(page["waiting"], "kind", "holder"), waiting) << about;
      EXPECT_EQ(sums_of(page["blocked"], "block", "waker"), blocked) << about;
    }
  }
  EXPECT_TRUE(browser->complaints().empty()) << browser->complaints().front();
}

TEST_F(WhyTab, FollowsTheRangeAndTheSelectedThread) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "left").id(2, 22, 22, "right");
  cpu.dispatch(1).at(200000).activate(2, 11).at(600000).epilogue(1, 22).dispatch(2);
  cpu.at(1000000).stop();
  trace.write();
  open(dir.path());
  const auto text = [&]() -> std::string {
    browser->wait_for("!document.querySelector('#pages progress')");
    return browser->evaluate("document.getElementById('pages').innerText.replace(/\\s+/g, ' ')");
  };
  browser->evaluate("document.getElementById('tab-6').click()");
  EXPECT_NE(text().find("Of 2 threads, in the whole run"), std::string::npos) << text();
  browser->evaluate("ovnitrace.select(22, 300000)");
  browser->evaluate("document.getElementById('tab-6').click()");
  EXPECT_NE(text().find("Of right (22)"), std::string::npos) << text();
  EXPECT_NE(text().find("after a wakeup 400.0 µs"), std::string::npos) << text();
  EXPECT_NE(text().find("held by: left (11) 400.0 µs"), std::string::npos) << text();
  browser->evaluate("document.querySelector('#pages .link').click()"); // shows the holder
  EXPECT_NE(text().find("Of left (11)"), std::string::npos) << text();
}

} // namespace
} // namespace ovnitrace
