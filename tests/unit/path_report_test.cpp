// SPDX-License-Identifier: BSD-2-Clause
// The tables and the JSON of a critical path, from a path made by hand.
#include "emulator/why/path_report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <ovnitrace/ftrace_codes.h>

#include <string>
#include <vector>

namespace ovnitrace {
namespace {

/// The trace begins at 1000. Threads 0 and 1 are of the first host, thread 2 of the second.
class PathReport : public ::testing::Test {
protected:
  PathReport() {
    catalog.hosts = {{"node"}, {"other"}};
    catalog.hosts[0].machine = catalog.hosts[1].machine = "x86_64";
    catalog.hosts[0].devices = {{.number = 5, .name = "sda"}};
    catalog.hosts[1].devices = {{.number = 5, .name = "vdb"}};
    catalog.hosts[0].peers = {{.tid = 77, .pid = 77, .name = "hog"}};
    catalog.hosts[1].peers = {{.tid = 77, .pid = 77, .name = "cc1"}};
    catalog.begin = 1000;
    catalog.threads.resize(3);
    for (const auto &[n, tid, name] :
         {std::tuple(0, 11, "app"), std::tuple(1, 12, "worker"), std::tuple(2, 21, "job")}) {
      catalog.threads[size_t(n)].tid = uint32_t(tid);
      catalog.threads[size_t(n)].name = name;
    }
    catalog.threads[2].host = 1;
  }
  /// Adds the next part of the path. It starts at 3000.
  PathSegment &add(uint32_t thread, Cause cause, uint64_t ns, const Peer &peer = {}) {
    PathSegment &segment = segments.emplace_back();
    segment.from = at;
    segment.to = at += ns;
    segment.thread = thread;
    segment.cause = cause;
    segment.peer = peer;
    return segment;
  }
  CriticalPath path() const {
    CriticalPath path;
    path.thread = path.last = 0;
    path.from = 3000;
    path.to = at;
    for (size_t n = segments.size(); n-- > 0;)
      path.segments.append(segments[n]);
    return path;
  }
  /// Returns the text without its first two lines.
  std::string text(size_t top = 0, bool by_name = false, size_t columns = SIZE_MAX) const {
    CriticalPath whole = path();
    const std::string text = path_text(whole, catalog, top, by_name, columns);
    return text.substr(text.find("\n\n") + 1);
  }
  std::vector<std::string> rows() const {
    CriticalPath whole = path();
    nlohmann::ordered_json json;
    add_path_json(json, whole, catalog);
    std::vector<std::string> rows;
    for (const auto &row : json["critical_path"])
      rows.push_back(row.dump());
    return rows;
  }
  static Peer traced(uint32_t thread) { return {.thread = thread}; }
  static Peer untraced(uint32_t tid) { return {.tid = tid, .thread = kNone}; }
  using Texts = std::vector<std::string>;

  Catalog catalog;
  std::vector<PathSegment> segments;
  uint64_t at = 3000;
};

TEST_F(PathReport, TimesAreFromTheStartOfTheTrace) {
  add(1, Cause::running, 30);
  add(0, Cause::running, 70);
  CriticalPath whole = path();
  EXPECT_EQ(path_text(whole, catalog, 0),
            "Critical path of app (11): 100 ns, from 2.000 us to 2.100 us of the trace\n"
            "\n"
            "THREAD       CAUSE     TIME   SHARE  TIMES\n"
            "app (11)     running  70 ns  70.0 %      1\n"
            "worker (12)  running  30 ns  30.0 %      1\n")
      << "nobody waited for a CPU";
  nlohmann::ordered_json json;
  add_path_json(json, whole, catalog);
  EXPECT_EQ(json["critical_path_of"].dump(),
            R"({"tid":11,"name":"app","from_ns":2000,"to_ns":2100})");
}

TEST_F(PathReport, AnotherThreadCanBeAtTheEnd) {
  add(1, Cause::running, 100);
  CriticalPath whole = path();
  whole.last = 1;
  const std::string text = path_text(whole, catalog, 0);
  EXPECT_EQ(
      text.substr(0, text.find("\n\n")),
      "Critical path of app (11) and, after its end, of worker (12): 100 ns, from 2.000 us to "
      "2.100 us of\nthe trace");
  nlohmann::ordered_json json;
  add_path_json(json, whole, catalog);
  EXPECT_EQ(json["critical_path_of"].dump(), R"({"tid":11,"name":"app","from_ns":2000,)"
                                             R"("to_ns":2100,"last_tid":12,"last_name":"worker"})");
}

TEST_F(PathReport, WaitsOneAfterTheOtherAreOneTimeOfEachThread) {
  add(1, Cause::waiting, 10, traced(2));
  add(1, Cause::waiting, 20, untraced(77));
  add(0, Cause::waiting, 40, traced(1));
  add(0, Cause::running, 30);
  add(0, Cause::waiting, 1, untraced(0));
  add(0, Cause::waiting, 2);
  EXPECT_EQ(text(), R"(
THREAD       CAUSE               TIME   SHARE  TIMES
app (11)     waiting for a CPU  43 ns  41.7 %      2
app (11)     running            30 ns  29.1 %      1
worker (12)  waiting for a CPU  30 ns  29.1 %      1

Who held the CPU meanwhile

HOLDER                 TIME   SHARE  TIMES
worker (12)           40 ns  38.8 %      1
hog (77), not traced  20 ns  19.4 %      1
job (21)              10 ns   9.7 %      1
not known              2 ns   1.9 %      1
idle                   1 ns   1.0 %      1
)");
}

TEST_F(PathReport, TheJsonHasARowForEachThreadCauseAndHolder) {
  add(2, Cause::io, 100).device = 5;
  add(0, Cause::io, 90).device = 5;
  add(0, Cause::io, 80).device = 0;
  add(0, Cause::blocked, 70).call = FTRACE_CALL_NATIVE;
  add(0, Cause::outside, 60, untraced(77)).call = FTRACE_CALL_NATIVE + 202;
  add(2, Cause::waiting, 50, untraced(77));
  add(0, Cause::waiting, 40, untraced(77));
  add(0, Cause::waiting, 30, traced(1));
  add(0, Cause::waiting, 20, untraced(0));
  add(0, Cause::running, 3);
  add(0, Cause::waiting, 2, untraced(77));
  add(0, Cause::waiting, 1, traced(1));
  EXPECT_EQ(
      rows(),
      (Texts{
          R"({"tid":21,"name":"job","cause":"I/O: vdb","ns":100,"count":1,"device":"vdb"})",
          R"({"tid":11,"name":"app","cause":"I/O: sda","ns":90,"count":1,"device":"sda"})",
          R"({"tid":11,"name":"app","cause":"I/O","ns":80,"count":1,"device":"I/O"})",
          R"({"tid":11,"name":"app","cause":"blocked in read","ns":70,"count":1,"call":"read"})",
          R"j({"tid":11,"name":"app","cause":"outside: hog (77)","ns":60,"count":1,"call":"futex"})j",
          R"({"tid":21,"name":"job","cause":"waiting for a CPU","ns":50,"count":1,"holder_tid":77,"holder":"cc1"})",
          R"({"tid":11,"name":"app","cause":"waiting for a CPU","ns":42,"count":2,"holder_tid":77,"holder":"hog"})",
          R"({"tid":11,"name":"app","cause":"waiting for a CPU","ns":31,"count":2,"holder_tid":12,"holder":"worker"})",
          R"({"tid":11,"name":"app","cause":"waiting for a CPU","ns":20,"count":1,"holder_tid":0,"holder":"idle"})",
          R"({"tid":11,"name":"app","cause":"running","ns":3,"count":1})"}));
}

TEST_F(PathReport, TheTextNamesTheCallOfABlockOnce) {
  add(0, Cause::blocked, 30).call = FTRACE_CALL_NATIVE;
  add(0, Cause::outside, 20, untraced(77)).call = FTRACE_CALL_NATIVE + 202;
  add(0, Cause::timer, 10);
  EXPECT_EQ(text(), R"(
THREAD    CAUSE                         TIME   SHARE  TIMES
app (11)  blocked in read              30 ns  50.0 %      1
app (11)  outside: hog (77), in futex  20 ns  33.3 %      1
app (11)  timer                        10 ns  16.7 %      1
)");
}

/// A line for the rest would replace one line only.
TEST_F(PathReport, LinesBeyondTheFirstOnesAreSummedUpIfThatSavesLines) {
  add(0, Cause::running, 500);
  add(1, Cause::running, 300);
  add(2, Cause::timer, 100);
  add(2, Cause::running, 60);
  add(2, Cause::timer, 40);
  EXPECT_EQ(text(0), R"(
THREAD       CAUSE      TIME   SHARE  TIMES
app (11)     running  500 ns  50.0 %      1
worker (12)  running  300 ns  30.0 %      1
job (21)     timer    140 ns  14.0 %      2
job (21)     running   60 ns   6.0 %      1
)");
  EXPECT_EQ(text(3), text(0));
  EXPECT_EQ(text(2), R"(
THREAD       CAUSE      TIME   SHARE  TIMES
app (11)     running  500 ns  50.0 %      1
worker (12)  running  300 ns  30.0 %      1
the rest              200 ns  20.0 %      3
)");
}

TEST_F(PathReport, ThreadsAndHoldersOfOneNameShareALine) {
  catalog.threads[1].name = "app";
  catalog.hosts[0].peers.push_back({.tid = 78, .pid = 78, .name = "hog"});
  add(0, Cause::running, 40);
  add(1, Cause::running, 30);
  add(2, Cause::running, 20);
  add(0, Cause::waiting, 8, untraced(77));
  add(1, Cause::waiting, 7, untraced(78));
  add(0, Cause::waiting, 6, traced(2));
  add(0, Cause::waiting, 5, untraced(99));
  add(0, Cause::waiting, 4, untraced(98));
  catalog.threads[2].name = "hog";
  EXPECT_EQ(text(0, true), R"(
THREAD           CAUSE               TIME   SHARE  TIMES
app (2 threads)  running            70 ns  58.3 %      2
app (2 threads)  waiting for a CPU  30 ns  25.0 %      3
hog (21)         running            20 ns  16.7 %      1

Who held the CPU meanwhile

HOLDER                        TIME   SHARE  TIMES
hog (2 threads), not traced  15 ns  12.5 %      2
hog (21)                      6 ns   5.0 %      1
thread 99, not traced         5 ns   4.2 %      1
thread 98, not traced         4 ns   3.3 %      1
)") << "threads without a name are not one, nor are traced and untraced ones";
}

TEST_F(PathReport, APartIsDividedWhereAThreadOrAHolderGetsAnotherName) {
  catalog.threads[0].earlier_names = {{.until = 3010, .name = "a"}, {.until = 3100, .name = "b"}};
  catalog.threads[1].earlier_names = {{.until = 3010, .name = "c"}, {.until = 3040, .name = "d"}};
  add(0, Cause::waiting, 100, traced(1));
  add(0, Cause::running, 7);
  EXPECT_EQ(
      rows(),
      (Texts{
          R"({"tid":11,"name":"b","cause":"waiting for a CPU","ns":60,"count":1,"holder_tid":12,"holder":"worker"})",
          R"({"tid":11,"name":"b","cause":"waiting for a CPU","ns":30,"count":1,"holder_tid":12,"holder":"d"})",
          R"({"tid":11,"name":"a","cause":"waiting for a CPU","ns":10,"count":1,"holder_tid":12,"holder":"c"})",
          R"({"tid":11,"name":"app","cause":"running","ns":7,"count":1})"}));
}

/// A name that ends where a part starts or ends divides nothing.
TEST_F(PathReport, ANameThatEndsWithAPartDividesNothing) {
  catalog.threads[0].earlier_names = {{.until = 3000, .name = "a"}, {.until = 3050, .name = "b"}};
  add(0, Cause::running, 50);
  EXPECT_EQ(rows(), (Texts{R"({"tid":11,"name":"b","cause":"running","ns":50,"count":1})"}));
}

TEST_F(PathReport, ThreadsHave24CharactersAndCauses40) {
  catalog.threads[0].name = catalog.threads[1].name = "fifteen-letters";
  catalog.threads[0].tid = 123456;
  catalog.threads[1].tid = 1234567;
  catalog.hosts[0].peers[0].name = "seventeen-letters";
  add(0, Cause::running, 9);
  add(1, Cause::running, 8);
  add(0, Cause::outside, 7, untraced(77)).call = FTRACE_CALL_NATIVE;
  add(0, Cause::outside, 6, untraced(77)).call = FTRACE_CALL_NATIVE + 202;
  EXPECT_EQ(text(), R"(
THREAD                    CAUSE                                     TIME   SHARE  TIMES
fifteen-letters (123456)  running                                   9 ns  30.0 %      1
fifteen-letters (123456…  running                                   8 ns  26.7 %      1
fifteen-letters (123456)  outside: seventeen-letters (77), in read  7 ns  23.3 %      1
fifteen-letters (123456)  outside: seventeen-letters (77), in fut…  6 ns  20.0 %      1
)");
}

TEST_F(PathReport, LinesAreAsWideAsTheTerminal) {
  add(0, Cause::outside, 1000, untraced(77)).call = FTRACE_CALL_NATIVE;
  CriticalPath whole = path();
  EXPECT_EQ(path_text(whole, catalog, 0, false, 44), R"(Critical path of app (11): 1.000 us, from
2.000 us to 3.000 us of the trace

THREAD   CAUSE            TIME   SHARE TIMES
app (11) outside: ho… 1.000 us 100.0 %     1
)");
}

} // namespace
} // namespace ovnitrace
