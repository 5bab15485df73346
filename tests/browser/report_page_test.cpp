// SPDX-License-Identifier: BSD-2-Clause
// The page of `ovnitrace report` in a real browser, driven as a person does.
#include "emulator/cli/compare_report.h"
#include "emulator/critical/path.h"
#include "emulator/open/open_trace.h"
#include "emulator/report/write_report.h"
#include "emulator/summary/summarizer.h"
#include "tests/browser/support/browser.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <ovnitrace/control.h>

namespace ovnitrace {
namespace {

constexpr uint16_t kCall = FTRACE_CALL_NATIVE + 74; ///< in which a thread blocks

using nlohmann::json;
using test::Browser;
using test::CollectingSink;
using test::TempDir;
using test::TraceBuilder;

constexpr double kNames = 210, kRow = 22, kHead = 24; // CSS pixels, of page/layout.js

class ReportPage : public ::testing::Test {
protected:
  ReportPage() : trace(dir.path()) {}
  void SetUp() override {
    if (!Browser::installed())
      GTEST_SKIP() << "there is no chromium: scripts/setup.sh installs it";
    browser.emplace();
  }

  /// Two threads on a CPU for 1 ms: "left" (11) wakes "right" (22), which is woken again by an
  /// interrupt while another process runs, and gets its CPU late.
  void build() {
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "left").id(2, 22, 11, "right");
    cpu.id(3, 33, 33, "other").dispatch(1).at(100000).activate(2, 11);
    cpu.at(200000).sleep(1, 22).dispatch(2).at(300000);
    cpu.record(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(kCall), 2,
               33u | FTRACE_OFFCPU_DISK << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(kCall));
    cpu.dispatch(3);
    cpu.at(400000).activate(2, 33, FTRACE_WAKER_HARDIRQ).at(700000).epilogue(3, 22).dispatch(2);
    cpu.at(900000).end(2, 22).dispatch(3).at(1000000).stop();
  }
  void open(std::span<CriticalPath> paths = {}, const Cut &cut = {}) {
    trace.write();
    const std::string file = out / "page.html";
    WriteReportOptions options = {.place = file};
    options.cut = cut;
    options.paths = paths;
    write_report(
        dir.path(), info, [this] { return open_trace({{dir.path()}}, sink); }, options);
    browser->open(file);
    const json box = evaluate("(b => [b.left, b.top, b.width])"
                              "(document.getElementById('rows').getBoundingClientRect())");
    left = box[0], top = box[1], width = box[2];
  }
  json evaluate(const std::string &expression) { return browser->evaluate(expression); }
  /// The text of an element; of those it has, white space is one blank.
  std::string text(const std::string &selector) {
    return evaluate(fmt::format(
        "document.querySelector('{}')?.innerText.replace(/\\s+/g, ' ') ?? ''", selector));
  }
  void choose_tab(int n) { evaluate(fmt::format("document.getElementById('tab-{}').click()", n)); }
  double x_of(double ns) const { return left + kNames + ns / 1e6 * (width - kNames); }
  /// The middle of the n-th thread of the first process, under the CPU and both heads.
  double y_of(int thread) const { return top + 2 * kHead + kRow + kRow * (thread + 0.5); }

  TempDir dir, out;
  TraceBuilder trace;
  TraceInfo info;
  CollectingSink sink;
  std::optional<Browser> browser;
  double left = 0, top = 0, width = 0;
};

TEST_F(ReportPage, LoadsWithoutErrorsAndShowsTheNumbersOfInfo) {
  build();
  open();
  const auto source = open_trace({{dir.path()}}, sink);
  const Summary summary = summarize(*source);
  const json expected = json::parse(json_report({dir.path(), {}, source->catalog(), summary}));
  EXPECT_EQ(evaluate("ovnitrace.summary()"), expected);

  // 11 runs for 200 us, 22 for 100 and 200, 33 for 400 and 100.
  const std::string sums = text("#range-states");
  EXPECT_NE(sums.find("Running 1.000 ms"), sums.npos) << sums;
  EXPECT_NE(sums.find("Warming 400.0 µs"), sums.npos) << sums;
  EXPECT_NE(sums.find("Cooling 200.0 µs"), sums.npos) << sums;
  choose_tab(1);
  EXPECT_EQ(text("#pages tbody tr").find("other (33) 500.0 µs 200.0 µs 0 0 300.0 µs"), 0u)
      << "most first";
  choose_tab(2);
  EXPECT_NE(text("#pages").find("All 2 99.33 µs 300.0 µs 300.0 µs"), std::string::npos)
      << text("#pages");
  choose_tab(3);
  EXPECT_NE(text("#pages").find("other (33) right (22) 1"), std::string::npos) << text("#pages");
  choose_tab(4);
  EXPECT_NE(text("#pages").find("CPU 0 1.000 ms 100.0 %"), std::string::npos) << text("#pages");
  choose_tab(5);
  EXPECT_NE(text("#pages").find("right (22) Warming 300.0 µs 0.000400 s other (33)"),
            std::string::npos)
      << text("#pages");
  EXPECT_TRUE(browser->complaints().empty()) << browser->complaints().front();
}

TEST_F(ReportPage, ShowsOneThreadOfATraceWithOthersBeforeIt) {
  build();
  Cut cut;
  cut.tids = {22};
  open({}, cut);
  const std::string sums = text("#range-states");
  EXPECT_NE(sums.find("Running 300.0 µs"), sums.npos) << sums;
  browser->click(x_of(550000), top + kHead + kRow * 1.5);
  EXPECT_NE(text("#pages dl").find("Thread right (22)"), std::string::npos) << text("#pages");
  browser->press("ArrowLeft");
  browser->press("e"); // its waker is hidden
  for (int tab = 0; tab < 9; tab++)
    choose_tab(tab);
  EXPECT_TRUE(browser->complaints().empty()) << browser->complaints().front();
}

TEST_F(ReportPage, ShowsThrottledThreadsAsThrottled) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "left").id(2, 22, 11, "right").dispatch(1);
  cpu.at(200000).epilogue(1, 22, FTRACE_OFFCPU_THROTTLED).dispatch(2).at(600000);
  cpu.record(FTrace_EXT_refill, 1).at(700000).epilogue(2, 11).dispatch(1).at(1000000).stop();
  open();
  const std::string sums = text("#range-states");
  EXPECT_NE(sums.find("Throttled 400.0 µs"), sums.npos) << sums;
  EXPECT_NE(sums.find("Cooling 400.0 µs"), sums.npos) << sums << ": 100 µs of left, 300 of right";
  const json slice = evaluate("ovnitrace.select(11, 300000)");
  EXPECT_EQ(slice["state"], "cooling");
  EXPECT_EQ(slice["reason"], "throttled");
  EXPECT_EQ(slice["end_ns"], 600000);
  EXPECT_EQ(evaluate("ovnitrace.select(11, 650000)")["reason"], "refilled");
  EXPECT_NE(text("#legend").find("Throttled no CPU quota, or no budget until its next period"),
            std::string::npos)
      << text("#legend");
  choose_tab(5);
  evaluate("(waits => { waits.value = 'throttled'; waits.onchange(); })"
           "(document.querySelector('#pages select'))");
  EXPECT_NE(text("#pages").find("left (11) Throttled 400.0 µs"), std::string::npos)
      << text("#pages");
  EXPECT_TRUE(browser->complaints().empty()) << browser->complaints().front();
}

TEST_F(ReportPage, TheWaitsTabDividesAWaitAmongAllThatHadTheCpu) {
  trace.json(R"({"version": 1, "cpu_holders": true,
                 "peers": [{"tid": 77, "pid": 77, "name": "server"},
                           {"tid": 88, "pid": 88, "name": "hog"}]})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1);
  cpu.at(100000).epilogue(1, 77).at(102000).record(FTrace_EXT_holder, 0, 88);
  cpu.at(186000).dispatch(1).at(300000).stop();
  open();
  choose_tab(5);
  const std::string page = text("#pages");
  EXPECT_NE(
      page.find("hog (88), not traced 84.00 µs; server (77), not traced 2.000 µs server (77)"),
      page.npos)
      << page;
  EXPECT_NE(page.find("app (11) hog (88), not traced 84.00 µs app (11) server (77), not traced "
                      "2.000 µs"),
            page.npos)
      << page;
  EXPECT_TRUE(browser->complaints().empty()) << browser->complaints().front();
}

TEST_F(ReportPage, ZoomsAndPansByWheelKeysAndDrag) {
  build();
  open();
  const auto view = [&](const char *end) {
    return evaluate(fmt::format("ovnitrace.view().{}_ns", end)).get<double>();
  };
  browser->wheel(x_of(500000), y_of(0), -400);
  browser->wait_for("ovnitrace.view().to_ns - ovnitrace.view().from_ns < 600000");
  EXPECT_LT(view("from"), 500000);
  EXPECT_GT(view("to"), 500000);
  const double from = view("from"), span = view("to") - from;
  browser->press("d");
  EXPECT_NEAR(view("from"), from + 0.2 * span, 1);
  browser->press("a");
  EXPECT_NEAR(view("from"), from, 1);
  browser->drag(x_of(500000), y_of(0), x_of(600000), y_of(0));
  EXPECT_NEAR(view("from"), from - 0.1 * span, span / 100);
  browser->press("w");
  EXPECT_LT(view("to") - view("from"), span * 0.8);
  EXPECT_EQ(evaluate("ovnitrace.view(1000, 2000)"),
            json::parse(R"({"from_ns": 1000, "to_ns": 2000})"));
  browser->press("0");
  EXPECT_EQ(view("from"), 0);
  EXPECT_EQ(view("to"), 1000000);
}

TEST_F(ReportPage, AClickSelectsASliceAndKeysFollowItsWakeup) {
  build();
  open();
  browser->click(x_of(550000), y_of(1));
  EXPECT_EQ(text("#slice-title"), "Warming for 300.0 µs");
  const std::string facts = text("#pages dl");
  EXPECT_NE(facts.find("Thread right (22), process 11"), facts.npos) << facts;
  EXPECT_NE(facts.find("Woken while ran other (33) In context Hard interrupt"), facts.npos)
      << facts;
  EXPECT_NE(facts.find("Wakeup latency 300.0 µs"), facts.npos) << facts;
  browser->press("ArrowLeft");
  EXPECT_EQ(text("#slice-title"), "Paused for 100.0 µs");
  EXPECT_NE(text("#pages dl").find("Why off the CPU Uninterruptible sleep Blocked in call 74"),
            std::string::npos);
  browser->press("e");
  EXPECT_NE(text("#pages dl").find("Thread other (33)"), std::string::npos);
  EXPECT_EQ(text("#slice-title"), "Running for 400.0 µs");
  browser->press("q"); // who ran instead
  EXPECT_NE(text("#pages dl").find("Thread right (22)"), std::string::npos);
  EXPECT_EQ(text("#slice-title"), "Running for 200.0 µs");
  browser->press("ArrowUp");
  EXPECT_NE(text("#pages dl").find("Thread left (11)"), std::string::npos);
}

TEST_F(ReportPage, TheApiSelectsAsTheStreamSays) {
  build();
  open();
  EXPECT_EQ(evaluate("ovnitrace.select(22, 350000)"), json::parse(R"({"tid": 22, "state": "paused",
      "cpu": 0, "start_ns": 300000, "end_ns": 400000, "reason": "disk", "blocked_in": "call 74",
      "peer": 33, "waker": 33,
      "context": "hardirq"})"));
  EXPECT_EQ(evaluate("ovnitrace.select(33, 699999)"), json::parse(R"({"tid": 33, "state": "running",
      "cpu": 0, "start_ns": 300000, "end_ns": 700000, "reason": "preempted",
      "blocked_in": null, "peer": 22,
      "waker": null, "context": null})"));
  EXPECT_EQ(evaluate("ovnitrace.select(33, 700000).state"), "cooling");
  EXPECT_EQ(evaluate("ovnitrace.select(99, 1)"), json());
}

TEST_F(ReportPage, KnowsMoreCallsThanABytesWorth) {
  constexpr uint32_t kCalls = 40; // getppid() and on: call 110 and on
  auto &chunk = trace.cpu(0).at(1000).start().id(1, 77, 77, "many");
  for (uint32_t n = 0; n < kCalls; n++) {
    chunk.at(2000 + 1000 * n).activate(1).dispatch(1);
    chunk.at(2500 + 1000 * n)
        .record(uint16_t(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(2 + 110 + n)), 1,
                FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(2 + 110 + n));
  }
  chunk.at(2000 + 1000 * kCalls).stop();
  open();
  for (uint32_t n = 0; n < kCalls; n++) {
    const json slice = evaluate(fmt::format("ovnitrace.select(77, {})", 1700 + 1000 * n));
    EXPECT_EQ(slice["reason"], "sleep") << slice;
    EXPECT_EQ(slice["blocked_in"], fmt::format("call {}", 110 + n)) << slice;
  }
}

TEST_F(ReportPage, SearchesSortsAndSumsUpARange) {
  build();
  open();
  const auto names = [&] {
    return evaluate("[...document.querySelectorAll('#pages tbody tr td:first-child')]"
                    ".map(cell => cell.innerText)");
  };
  choose_tab(1);
  browser->press("/");
  browser->type("righ");
  EXPECT_EQ(names(), json({"right (22)"}));
  evaluate("search.value = ''");
  browser->type("cooling>100us");
  EXPECT_EQ(names(), json({"other (33)"}));
  evaluate("search.value = ''; search.oninput()");
  EXPECT_EQ(names().size(), 3u);
  choose_tab(0);
  browser->drag(x_of(400000), y_of(0), x_of(700000), y_of(0), true);
  EXPECT_NE(text("#pages").find("Range of 300."), std::string::npos) << text("#pages");
  const std::string sums = text("#range-states");
  EXPECT_NE(sums.find("Running 300."), sums.npos) << sums;
  EXPECT_TRUE(browser->complaints().empty()) << browser->complaints().front();
}

TEST_F(ReportPage, TheProcessThatRanLongestIsFirstInATraceOfTheMachine) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "idler").id(2, 22, 22, "busy").dispatch(1);
  cpu.at(100000).sleep(1, 22).dispatch(2).at(1000000).stop();
  const auto first_row = [&] { // no head stands over a single thread
    browser->click(x_of(500000), top + kHead + kRow * 1.5);
    return text("#pages dl");
  };
  open();
  EXPECT_EQ(first_row().find("Thread idler (11)"), 0u) << first_row();
  info.all_threads = true;
  open();
  EXPECT_EQ(first_row().find("Thread busy (22)"), 0u) << first_row();
}

TEST_F(ReportPage, ALineIsAlongTheRowsInARegion) {
  build();
  auto region = [](uint32_t event) {
    return event << FTRACE_REGION_EVENT_SHIFT | 1u << FTRACE_REGION_CHAIN_SHIFT;
  };
  trace.cpu(1)
      .at(300000)
      .id(1, 22, 11, "right")
      .record(FTrace_EXT_region, 1, region(CONTROL_START));
  trace.cpu(1).at(800000).record(FTrace_EXT_region, 1, region(CONTROL_STOP));
  trace.json(R"({"version": 1, "control": {"chains": [{"name": "solve", "text": "start:int3"}]}})");
  open();
  const auto foot = [&](double ns, int thread) { // under the row of a second CPU
    return evaluate(fmt::format("(c => [...c.getContext('2d').getImageData({} * c.width / "
                                "c.clientWidth, {} * c.width / c.clientWidth, 1, 1).data])"
                                "(document.getElementById('rows'))",
                                x_of(ns) - left, y_of(thread) + kRow - top + kRow / 2 - 2));
  };
  const json inside = foot(310000, 0);
  EXPECT_EQ(foot(790000, 0), inside);
  EXPECT_EQ(foot(500000, 1), inside) << "the other thread of the process";
  EXPECT_NE(foot(290000, 0), inside);
  EXPECT_NE(foot(810000, 1), inside);
  EXPECT_NE(foot(500000, 2), inside) << "another process";
  browser->point(x_of(500000), y_of(1) + kRow);
  EXPECT_NE(text("#tooltip").find("region solve, 500.0 µs"), std::string::npos) << text("#tooltip");
}

TEST_F(ReportPage, TheCriticalPathIsALineBelowTheRowsThatAKeyHides) {
  build();
  trace.write();
  std::vector<CriticalPath> paths =
      critical_paths(*open_trace({{dir.path()}}, sink), {}, {}, {22, {}}, 5);
  open(paths);
  const auto pixel = [&](double ns, int thread) {
    return fmt::format("(c => c.getContext('2d').getImageData({} * c.width / c.clientWidth, "
                       "{} * c.width / c.clientWidth, 1, 1).data.join())"
                       "(document.getElementById('rows'))",
                       x_of(ns) - left, y_of(thread) - top + kRow / 2);
  };
  const auto below = [&](double ns, int thread) -> std::string {
    return evaluate(pixel(ns, thread));
  };
  const std::string on = below(250000, 1); // it runs
  EXPECT_NE(below(250000, 0), on);
  EXPECT_EQ(below(350000, 1), on) << "blocked until an interrupt";
  EXPECT_NE(below(150000, 0), on) << "22 waited for a CPU then";
  browser->point(x_of(250000), y_of(1));
  EXPECT_NE(text("#tooltip").find("critical path: Running"), std::string::npos) << text("#tooltip");
  browser->press("p");
  browser->wait_for(pixel(250000, 1) + " !== '" + on + "'"); // drawn with the next frame
  EXPECT_EQ(evaluate("document.getElementById('critical').checked"), false);
  evaluate("document.getElementById('critical').click()");
  browser->wait_for(pixel(250000, 1) + " === '" + on + "'");
}

TEST_F(ReportPage, ShowsMarksKeepsNotesAndSavesAPicture) {
  build();
  trace.json(R"({"version": 1, "marks": [{"time_ns": 250000, "text": "new config"}]})");
  open();
  browser->press("n");
  EXPECT_NE(text("#pages").find("new config mark"), std::string::npos) << text("#pages");
  browser->type("it <b>stalls</b> here");
  browser->press("Enter");
  EXPECT_NE(text("#pages").find("it <b>stalls</b> here"), std::string::npos) << text("#pages");
  browser->wait_for("location.hash.includes('note=500000%3Ait')");
  const json size = evaluate(R"((async () => {
    const made = new Promise(resolve => URL.createObjectURL = blob => (resolve(blob), 'about:blank#'));
    HTMLAnchorElement.prototype.click = function() { window.saved = this.download; };
    document.getElementById('png').click();
    const image = await createImageBitmap(await made);
    return [window.saved, image.width, image.height > 200];
  })())");
  EXPECT_EQ(size[1], evaluate("document.getElementById('overview').width"));
  EXPECT_EQ(size[2], true);
  EXPECT_TRUE(size[0].get<std::string>().ends_with(".png")) << size;
  EXPECT_TRUE(browser->complaints().empty()) << browser->complaints().front();
}

TEST_F(ReportPage, ComparesTwoRunsAndShowsBothPlaces) {
  const auto run = [](TraceBuilder &one, uint64_t held) {
    one.json(R"({"version": 1, "all_threads": true, "command": ["app"], "program_pid": 11})");
    auto &cpu = one.cpu(0).at(0).start().id(1, 11, 11, "app").id(2, 99, 99, "<b>hog");
    cpu.dispatch(1).at(100000).epilogue(1, 99).dispatch(2).at(100000 + held).sleep(2, 11);
    cpu.dispatch(1).at(300000 + held).end(1, 11).at(400000 + held).stop();
    one.write();
  };
  TempDir other;
  TraceBuilder slower(other.path());
  run(trace, 100000);
  run(slower, 500000);
  const Against against = compare_with(dir.path(), {other.path(), ""}, {}, sink);
  const std::string file = out / "page.html";
  WriteReportOptions options = {.place = file};
  options.against = &against;
  write_report(dir.path(), info, pair_reopener(dir.path(), other.path(), against.shift, sink),
               options);
  browser->open(file);
  EXPECT_NE(text("#pages").find("app: preempted by <b>hog +400.0 µs 100.0 µs 500.0 µs"),
            std::string::npos)
      << text("#pages");
  evaluate("document.querySelector('#pages td button').click()");
  EXPECT_EQ(text("#marked"), "✕ Only: preempted by <b>hog");
  EXPECT_EQ(evaluate("ovnitrace.view().from_ns"), 0);
  EXPECT_EQ(evaluate("ovnitrace.view().to_ns"), 700000) << "0.1 ms to 0.6 ms, and room";
  EXPECT_TRUE(browser->complaints().empty()) << browser->complaints().front();
}

TEST_F(ReportPage, IsUsedWithoutAMouse) {
  build();
  open();
  EXPECT_EQ(evaluate("(r => Math.round(r.clientHeight))(document.getElementById('rows'))"),
            evaluate("document.getElementById('scroller').clientHeight"))
      << "the rows have all the room from the start";
  EXPECT_EQ(
      evaluate("[...document.querySelectorAll('button, select, input, canvas, [role]')]"
               ".filter(one => one.offsetParent && !one.ariaHidden && !one.closest('#legend') "
               "&& !(one.innerText || one.ariaLabel || one.title || one.labels?.length || "
               "one.id === 'rows' || one.role)).map(one => one.outerHTML)"),
      json::array())
      << "each has a name";
  browser->press("ArrowDown");
  EXPECT_EQ(text("#pages dl").find("Thread left (11)"), 0u) << text("#pages dl");
  browser->press("ArrowDown");
  browser->press("r");
  browser->press("ArrowRight");
  browser->press("r");
  EXPECT_NE(text("#pages").find("Range of"), std::string::npos) << text("#pages");
  for (int tab = 0; tab < 9; tab++) {
    choose_tab(tab);
    EXPECT_EQ(evaluate("[...document.querySelectorAll('#pages th')]"
                       ".filter(head => head.scope !== 'col').length"),
              0)
        << "tab " << tab;
    EXPECT_LE(evaluate("(t => t.scrollWidth - t.clientWidth)(document.getElementById('tabs'))"), 0);
  }
  evaluate("document.getElementById('tab-3').focus()");
  browser->press("ArrowRight");
  EXPECT_EQ(evaluate("document.activeElement.id"), "tab-4");
  EXPECT_NE(text("#pages").find("CPU 0 1.000 ms"), std::string::npos) << text("#pages");
  EXPECT_EQ(evaluate("document.getElementById('legend').querySelectorAll('canvas').length"), 7);
  EXPECT_TRUE(browser->complaints().empty()) << browser->complaints().front();
}

TEST_F(ReportPage, NamesThatAreHtmlAndScriptRunNothing) {
  auto &cpu = trace.cpu(0).at(0).start();
  cpu.id(1, 11, 11, "<script>x=1").id(2, 22, 22, "<img onerror=x>").id(3, 33, 33, "</script><b>");
  cpu.dispatch(1).at(100).epilogue(1, 22).dispatch(2).at(200).sleep(2, 11).at(300).stop();
  trace.json(R"({"version": 1, "host": "<img src=y onerror='window.x=1'>",
      "command": ["<script>window.x=1</script>", "<img src=y onerror='window.x=1'>"],
      "peers": [{"tid": 44, "pid": 44, "name": "<svg onload=x=1>", "since_ns": 1}]})");
  open();
  for (int tab = 0; tab < 6; tab++) {
    evaluate("ovnitrace.select(22, 150)");
    choose_tab(tab);
    EXPECT_EQ(evaluate("document.querySelectorAll('img, b:not(#legend b), iframe').length"), 0);
    EXPECT_EQ(evaluate("document.scripts.length"), 1);
  }
  EXPECT_EQ(evaluate("window.x === undefined"), true);
  choose_tab(1);
  EXPECT_NE(text("#pages").find("<img onerror=x> (22)"), std::string::npos) << "shown as it is";
  EXPECT_TRUE(browser->complaints().empty()) << browser->complaints().front();
  // What would be put there nonetheless may not run.
  evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=y onerror=\"window.x=1\">')");
  browser->wait_for("document.querySelector('img').complete");
  EXPECT_EQ(evaluate("window.x === undefined"), true);
  EXPECT_FALSE(browser->complaints().empty()) << "the Content-Security-Policy forbids it";
}

} // namespace
} // namespace ovnitrace
