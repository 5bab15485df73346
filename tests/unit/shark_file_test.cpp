// SPDX-License-Identifier: BSD-2-Clause
// Plain FTrace files of S.Ha.R.K., emulator/shark and docs/shark.md: their records, and what is
// wrong with them.
#include "emulator/dump/dump_line.h"
#include "emulator/report/write_report.h"
#include "emulator/slices/slicer.h"
#include "emulator/summary/summarizer.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/manual_codes.h"
#include "tests/unit/support/packed_page.h"
#include "tests/unit/support/shark_rig.h"
#include "tests/unit/support/trace_builder.h"

#include <random>

namespace ovnitrace::test {
namespace {

// ---- records ----

TEST_F(Shark, MutexUnlockAsTheManualPrintsIt) {
  file.at(0).rate(kNsRate).id(1, 1).at(1).record(0x43, 1, 99).at(2).record(0x36, 1, 99);
  EXPECT_EQ(read().text(), (Texts{"mutex_unlock@1/1", "mutex_unlock@2/1"}));
}

TEST_F(Shark, FastIpointsHaveBit15) {
  file.at(0).rate(kNsRate).context_switch(1).at(5).record(0x8000 | FTrace_EVT_ipoint, 1000);
  file.at(9).record(FTrace_EVT_ipoint, 2000);
  EXPECT_EQ(timeline("thread.prv", 1, 315), (Texts{"4 1001", "5 0", "8 2001", "9 0"}));
}

TEST_F(Shark, DumpShowsBothParametersOfWhatTheProgramLogged) {
  file.at(0).rate(kNsRate).id(1, 7).context_switch(1).at(5).record(FTrace_EVT_ipoint, 6000, 9);
  const ReadBack back = read();
  char line[DumpLine::kMaxBytes];
  const char *const end = DumpLine(back.catalog).put(line, back.events.back());
  const std::string text(line, size_t(end - line));
  EXPECT_NE(text.find("ipoint               task_7(1)"), std::string::npos) << text;
  EXPECT_NE(text.find(" number=6000 par2=9\n"), std::string::npos) << text;
}

/// The manual does not define what captures have in parameter 2: dump shows the plain number.
TEST_F(Shark, DumpReadsNothingIntoParametersThatTheManualDoesNotHave) {
  file.at(0).rate(kNsRate).id(1, 7).context_switch(1).at(5);
  for (uint32_t mutex : {0u, 1u, 5u})
    file.record(FTrace_EVT_mutex_lock, 1, mutex);
  file.record(FTrace_EVT_signal, 1, 0x0a000001).record(FTrace_EVT_set_priority, 1, 0x17a);
  file.record(FTrace_EVT_timer_post, 0, 0x21).record(FTrace_EVT_task_deadline_miss, 1, 77);
  const ReadBack back = read();
  std::vector<std::string> details;
  for (const Event &event : back.events) {
    char line[DumpLine::kMaxBytes];
    const std::string text(line, DumpLine(back.catalog).put(line, event));
    if (event.time == 5)
      details.push_back(text.substr(text.find("(1)") + 3));
  }
  for (std::string &text : details)
    text.erase(0, text.find_first_not_of(' '));
  EXPECT_EQ(details, (Texts{"mutex=0\n", "mutex=1\n", "mutex=5\n", "par2=167772161\n", "par2=378\n",
                            "par1=0 par2=33\n", "par2=77\n"}));
}

TEST_F(Shark, EveryParameterOfTheManualReachesParaver) {
  file.at(0).rate(kNsRate).id(1, 7).context_switch(1);
  file.at(10).record(FTrace_EVT_task_end_cycle, 1, 3).record(FTrace_EVT_task_timer, 1, 0);
  file.at(20).record(FTrace_EVT_user_event_3, 8, 9).record(FTrace_EVT_data_pointer, 5, 6);
  file.at(30).record(FTrace_EVT_user_event_3, 0, 9).record(FTrace_EVT_server_using_rec, 0, 2);
  EXPECT_EQ(timeline("thread.prv", 1, 465), (Texts{"9 4", "10 0"}));
  EXPECT_EQ(timeline("thread.prv", 1, 466), (Texts{"9 1", "10 0"}));
  EXPECT_EQ(timeline("thread.prv", 1, 303), (Texts{"20 9"}));
  EXPECT_EQ(timeline("thread.prv", 1, 323), (Texts{"20 8", "30 0"}));
  EXPECT_EQ(timeline("cpu.prv", 1, 474), (Texts{"19 6", "20 0"}));
  EXPECT_EQ(timeline("cpu.prv", 1, 455), (Texts{"29 1", "30 0"}));
}

/// Whatever the record means, dump prints what is in the file, also where models see another
/// parameter 2.
TEST_F(Shark, DumpPrintsBothParametersOfEveryCode) {
  const std::vector<uint16_t> about_the_file = {0x10, 0x60, 0x70, 0xFF};
  for (const ManualCode &code : kManualCodes) {
    SCOPED_TRACE(code.name);
    if (std::count(about_the_file.begin(), about_the_file.end(), code.manual))
      continue;
    file = {};
    file.at(0).rate(kNsRate).id(1, 7).id(2, 8).context_switch(2);
    file.at(5).record(uint16_t(code.manual), 1, 12345);
    const ReadBack back = read();
    std::string text;
    for (const Event &event : back.events) {
      char line[DumpLine::kMaxBytes];
      if (event.time == 5 && event.kind == code.manual)
        text.assign(line, DumpLine(back.catalog).put(line, event));
    }
    EXPECT_NE(text.find("=12345\n"), std::string::npos) << text;
    EXPECT_TRUE(text.find("=1 ") != std::string::npos || text.find("(1)") != std::string::npos)
        << text;
  }
}

/// A plain file has 0 where there is no next task, which is also the tid of the idle task.
TEST_F(Shark, WhoGotTheCpuIsNotKnownWhereTheRecordNamesNobody) {
  file.at(0).rate(kNsRate).id(1, 5).id(2, 6).record(FTrace_EVT_task_activate, 1);
  file.record(FTrace_EVT_task_activate, 2).at(20).record(FTrace_EVT_task_dispatch, 1);
  file.at(800).record(FTrace_EVT_task_epilogue, 1).record(FTrace_EVT_task_dispatch, 2);
  file.at(900).record(FTrace_EVT_task_sleep, 2).at(1000).record(FTrace_EVT_task_dispatch, 1);
  file.at(1100).record(FTrace_EVT_trace_stop).write(path);
  CollectingSink sink;
  class Departures final : public SliceSink {
  public:
    void on_slice(const Slice &slice) override {
      if (slice.state == ThreadState::Running && slice.ends)
        next.push_back(slice.next.tid);
    }
    std::vector<uint32_t> next;
  } departures;
  replay_slices(*open_trace({{path}}, sink), {}, departures);
  EXPECT_EQ(departures.next, (std::vector<uint32_t>{kNone, kNone}));
  EXPECT_TRUE(summarize(*open_trace({{path}}, sink)).preemptions.empty());
  EXPECT_EQ((Event{.peer = 7, .par2 = 5, .in_plain_file = true}.next().thread), 7u);
  EXPECT_EQ((Event{.par2 = 0}.next().tid), 0u) << "a capture knows the idle task";
}

TEST_F(Shark, UserEvents13And14OfAPlainFileAreNotSections) {
  file.at(0).rate(kNsRate).id(1, 5).context_switch(1).at(10);
  file.record(FTrace_EVT_user_event_13, 1, 7).at(20).record(FTrace_EVT_trace_stop).write(path);
  CollectingSink sink;
  write_report(path, {}, [&] { return open_trace({{path}}, sink); }, {.place = path + ".html"});
  const PackedPage page(text_of(path + ".html"));
  Numbers events(page.parts.at("events"));
  events.next(), events.next();
  EXPECT_EQ(events.next(), 0x100u | FTrace_EVT_user_event_13) << "as the manual means it";
}

TEST_F(Shark, EveryFilterCodeIsAnEvent) {
  file.at(0).rate(kNsRate).id(1, 1);
  for (uint16_t family = 0; family <= 11; family++)
    file.at(10u + family).record(uint16_t(0xF0 + family), 1);
  EXPECT_EQ(timeline("cpu.prv", 1, 472).back(), "21 4095");
}

TEST_F(Shark, ModesOfTheCpu) {
  file.at(0).rate(kNsRate).id(1, 1).at(1).record(FTrace_EVT_CLI).at(2).record(FTrace_EVT_STI);
  file.at(3).record(FTrace_EVT_to_real_mode).at(4).record(FTrace_EVT_to_protected_mode);
  file.at(5).record(FTrace_EVT_data_pointer, 0, 0x1234).at(6).record(FTrace_EVT_next_chunk);
  EXPECT_EQ(timeline("cpu.prv", 1, 471), (Texts{"1 1", "2 0"}));
  EXPECT_EQ(timeline("cpu.prv", 1, 470), (Texts{"3 1", "4 2"}));
  EXPECT_EQ(timeline("cpu.prv", 1, 473), (Texts{"4 4660", "5 0"}));
  EXPECT_TRUE(result.untaken.empty());
}

/// Every code of the manual: it is an event, or it describes the file.
TEST_F(Shark, EveryCodeOfTheManual) {
  const std::vector<uint16_t> about_the_file = {0x10, 0x60, 0x70, 0xFF};
  std::vector<uint16_t> codes = {0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x01, 0x03, 0x13, 0x23,
                                 0x33, 0x04, 0x14, 0x24, 0x34, 0x05, 0x15, 0x25, 0x06, 0x16, 0x26,
                                 0x43, 0x46, 0x56, 0x07, 0x1A, 0xFF, 0x0B, 0x1B, 0x2B, 0x3B};
  for (uint16_t high = 0; high <= 0xC; high++)
    codes.push_back(uint16_t(high << 4 | 2));
  for (uint16_t high = 0; high <= 6; high++)
    codes.push_back(uint16_t(high << 4 | 8));
  for (uint16_t high = 0; high <= 14; high++)
    codes.push_back(uint16_t(high << 4 | 9));
  for (uint16_t code : codes) {
    SCOPED_TRACE(event_name(code));
    file = {};
    file.at(0)
        .record(FTrace_EVT_trace_start, 1, kNsRate)
        .id(1, 1)
        .id(2, 2)
        .at(10)
        .record(code, 2, 2);
    const ReadBack back = read();
    EXPECT_EQ(back.sink.count("unknown"), 0u);
    const bool event = std::any_of(back.events.begin(), back.events.end(),
                                   [](const Event &e) { return e.time == 10; });
    EXPECT_EQ(event, std::count(about_the_file.begin(), about_the_file.end(), code) == 0);
  }
}

/// The file of the manual's "Example of Tracer usage", with something done at its two places.
TEST_F(Shark, TheExampleOfTheManual) {
  const uint64_t boot = 5'000'000'000'000;
  file.at(boot).record(FTrace_filter_timer, 1).at(boot + 100);
  file.record(FTrace_EVT_trace_start, 17, 2400000).id(17, 1).id(18, 2).id(65535, 4);
  file.at(boot + 24000).record(FTrace_EVT_task_activate, 18).at(boot + 24024).context_switch(18);
  file.at(boot + 48000).record(FTrace_filter_timer, 0).record(FTrace_EVT_next_chunk);
  file.at(boot + 50400).record(FTrace_EVT_ipoint, 6000);
  file.at(boot + 72000).record(FTrace_EVT_trace_stop);
  const ReadBack back = read();
  EXPECT_EQ(back.rows(), (Texts{"task 1 (17) pid 1", "task 2 (18) pid 2", "task 4 (65535) pid 4"}));
  EXPECT_TRUE(back.sink.reported.empty());
  EXPECT_EQ(timeline("thread.prv", 2, 315), (Texts{"20999 6001", "21000 0"}));
  EXPECT_EQ(timeline("thread.prv", 2, 4), (Texts{"10000 5", "10010 1"}));
  EXPECT_EQ(timeline("cpu.prv", 1, 472), (Texts{"0 2048", "20000 0"}));
  EXPECT_EQ(result.faults, 0u);
  EXPECT_TRUE(result.untaken.empty());
}

TEST_F(Shark, AChunkFileOfATraceDirectoryIsNotAPlainFile) {
  test::TraceBuilder trace(dir.path());
  trace.cpu(3).at(100).start().id(1, 4321, 4321, "app").dispatch(1).at(200).sleep(1).next_chunk();
  trace.cpu(3).id(1, 4322, 4321, "other").at(300).dispatch(1).stop();
  trace.write();
  ReadBack back;
  read_file(trace.file(3), back);
  EXPECT_EQ(back.rows(), (Texts{"app (4321) pid 4321", "other (4322) pid 4321"}));
  EXPECT_EQ(back.catalog.cpus[0].index, 3u);
  EXPECT_TRUE(back.sink.reported.empty());
}

TEST_F(Shark, ExtensionsOutsideOfChunksAreUnknownCodes) {
  file.at(0).rate(kNsRate).id(1, 1).record(FTrace_EXT_exit, 1, 5);
  EXPECT_EQ(read().sink.count("1 record of unknown codes"), 1u);
}

// ---- damage ----

TEST_F(Shark, ATruncatedFileIsReadToItsLastWholeRecord) {
  file.at(0).rate(kNsRate).at(1).record(FTrace_EVT_ipoint).at(2).record(FTrace_EVT_ipoint);
  const ReadBack back = read(5);
  EXPECT_EQ(back.events.size(), 1u);
  EXPECT_EQ(back.sink.count("its last 11 bytes"), 1u);
}

TEST_F(Shark, UnknownCodesAreCountedAndReported) {
  file.at(0).rate(kNsRate).at(1).record(FTrace_EVT_ipoint).record(FTrace_EVT_ipoint);
  file.record(0xEE).record(0x4001);
  const ReadBack back = read();
  EXPECT_EQ(back.events.size(), 2u);
  EXPECT_EQ(back.sink.count("2 records of unknown codes, of which this is the first (0x00ee)"), 1u);
}

TEST_F(Shark, FileThatIsNotFTraceIsRefused) {
  std::mt19937 random(1);
  for (int i = 0; i < 10000; i++)
    file.at(random()).record(uint16_t(random()), uint16_t(random()), uint32_t(random()));
  EXPECT_NE(error().find("a code that FTrace does not have"), std::string::npos);
  file = {};
  EXPECT_NE(error().find("it has no event"), std::string::npos);
  file.record(0xEE).record(0xEE);
  EXPECT_NE(error().find("is no trace: name the directory"), std::string::npos);
  file = {};
  file.empty().empty();
  EXPECT_NE(error().find("it has no event"), std::string::npos);
}

/// Records of real codes in any order, with few contexts, are converted whatever they say.
TEST_F(Shark, NoiseOfRealCodesIsConverted) {
  std::vector<uint16_t> codes;
  for (uint16_t code = 0; code < 256; code++)
    if (event_name(code) != "unknown")
      codes.push_back(code);
  std::mt19937 random(7);
  for (int round = 0; round < 8; round++) {
    file = {};
    for (int i = 0; i < 2000; i++)
      file.at(random() % 4000)
          .record(codes[random() % codes.size()], uint16_t(random() % 6),
                  random() % 3 ? random() % 6 : uint32_t(random()));
    const ReadBack back = read();
    uint64_t time = 0;
    for (const Event &event : back.events) {
      ASSERT_GE(event.time, time);
      ASSERT_LE(event.time, back.catalog.end);
      time = event.time;
      ASSERT_TRUE(event.thread == kNone || event.thread < back.catalog.threads.size());
    }
    convert_to("thread.prv");
  }
}

} // namespace
} // namespace ovnitrace::test
