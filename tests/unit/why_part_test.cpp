// SPDX-License-Identifier: BSD-2-Clause
// The part of the page that explains any range says on which CPU each wait was, and since when.
#include "emulator/open/open_trace.h"
#include "emulator/report/write_report.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/packed_page.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::Numbers;
using test::PackedPage;
using test::TempDir;
using test::TraceBuilder;
using Texts = std::vector<std::string>;

class PageCauses : public ::testing::Test {
protected:
  PageCauses() : trace(dir.path()) {
    for (const uint16_t cpu : {0, 1})
      trace.cpu(cpu).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "b");
  }

  PackedPage page() {
    trace.cpu(0).at(900).stop();
    trace.cpu(1).at(900).stop();
    trace.write();
    const std::string file = out / "page.html";
    write_report(dir.path(), {}, [this] { return open_trace({{dir.path()}}, sink); },
                 {.place = file});
    return PackedPage(test::text_of(file));
  }
  /// Returns the waits of a thread, each as "wakeup: 0 on 2, 50 on 1": ns since its start, and 1 +
  /// the CPU.
  static Texts waits(const PackedPage &page, uint32_t thread) {
    const auto &why = page.header["why"];
    Numbers numbers(page.parts.at("causes"));
    for (size_t cpu = 0; cpu < page.header["cpus"].size(); cpu++)
      for (uint64_t turns = numbers.next(); turns > 0; turns--)
        numbers.next(), numbers.next();
    Texts all;
    for (uint32_t t = 0; t <= thread; t++)
      for (uint64_t entries = numbers.next(); entries > 0; entries--)
        if (const uint64_t block = numbers.next(); block > 1) {
          numbers.next();
        } else if (block == 0) {
          std::string text = why["kinds"][numbers.next()]["word"].get<std::string>() + ":";
          const uint64_t moves = numbers.next();
          for (uint64_t n = 0; n < moves; n++) {
            const uint64_t time = numbers.next(), cpu = numbers.next();
            text += fmt::format("{} {} on {}", n ? "," : "", time, cpu);
          }
          for (size_t cause = 0; cause < why["idle"].size(); cause++)
            numbers.next();
          if (t == thread)
            all.push_back(text);
        }
    return all;
  }

  TempDir dir, out;
  TraceBuilder trace;
  CollectingSink sink;
};

constexpr uint32_t kWarming = uint32_t(ThreadState::Warming);

TEST_F(PageCauses, HaveEachCpuOfAWait) {
  trace.cpu(0).at(100).dispatch(1).at(200).sleep(1);
  trace.cpu(1).at(250).dispatch(2);
  trace.cpu(0).at(300).activate(1).at(340).migrate(1, 1);
  trace.cpu(1).at(400).epilogue(2).dispatch(1);
  EXPECT_EQ(waits(page(), 0), Texts{"wakeup: 0 on 1, 40 on 2"});
}

TEST_F(PageCauses, HaveTheFirstCpuOfAWaitThatStartsAtASnapshot) {
  trace.cpu(0).at(300).snapshot(1, kWarming, 1).at(340).migrate(1, 0).at(400).dispatch(1);
  EXPECT_EQ(waits(page(), 0), Texts{"unknown: 0 on 2, 40 on 1"});
}

TEST_F(PageCauses, TellSpinsFromYields) {
  auto &cpu = trace.cpu(0).at(100).dispatch(1);
  for (uint64_t at = 200; at < 500; at += 100)
    cpu.at(at).epilogue(1, 22, FTRACE_OFFCPU_YIELDED).at(at + 50).dispatch(1);
  EXPECT_EQ(waits(page(), 0), (Texts{"yield: 0 on 1", "spin: 0 on 1", "spin: 0 on 1"}));
}

TEST_F(PageCauses, HaveNoCpuForANewThreadThatWasNotSeenToGetOne) {
  trace.cpu(0).at(100).activate(1).at(300).blackout_start().at(450).blackout_end(1);
  trace.cpu(1).at(300).dispatch(1).at(400).sleep(1);
  trace.cpu(1).at(500).activate(2).at(600).dispatch(2);
  const PackedPage packed = page();
  EXPECT_EQ(waits(packed, 0), Texts{"wakeup: 0 on 0, 200 on 0"});
  EXPECT_EQ(waits(packed, 1), Texts{"wakeup: 0 on 0"}) << "it waited where it got its CPU";
}

} // namespace
} // namespace ovnitrace
