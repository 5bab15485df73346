// SPDX-License-Identifier: BSD-2-Clause
// What is known of a trace before its first event: emulator/input/catalog.
#include "emulator/base/error.h"
#include "emulator/input/trace_info.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::ChunkBuilder;
using test::CollectingSink;
using test::TempDir;
using test::TraceBuilder;

Catalog catalog_of(TraceBuilder &trace, const std::string &path) {
  trace.write();
  CollectingSink sink;
  return open_trace({{path}}, sink)->catalog();
}

std::vector<std::string> names(const Catalog &catalog) {
  std::vector<std::string> names;
  for (const ThreadInfo &thread : catalog.threads)
    names.push_back(thread.name);
  return names;
}

TEST(Catalog, OrdersRowsByProcessThenMainThreadThenBirth) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0)
      .at(100)
      .start()
      .id(1, 31, 30, "30/31", 900)
      .id(2, 32, 30, "30/32", 800)
      .id(3, 30, 30, "30/30", 850)
      .id(4, 9, 9, "9/9", 2000);
  trace.cpu(1).at(100).start().id(1, 33, 30, "30/33").id(2, 29, 30, "30/29").stop();
  EXPECT_EQ(names(catalog_of(trace, dir.path())),
            (std::vector<std::string>{"9/9", "30/30", "30/29", "30/33", "30/32", "30/31"}));
}

TEST(Catalog, DistinguishesThreadsOfOneTidByTheirBirth) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(100).start().id(1, 7, 5, "first").dispatch(1).end(1, 7);
  trace.cpu(0).at(200).id(2, 7, 5, "second", 190).dispatch(2).stop();
  trace.cpu(1).at(100).start().at(300).id(1, 7, 5, "second", 190).activate(1).stop();
  trace.write();
  CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  ASSERT_EQ(names(source->catalog()), (std::vector<std::string>{"first", "second"}));
  std::vector<uint32_t> threads;
  for (Event event; source->next(event);)
    if (event.thread != kNone)
      threads.push_back(event.thread);
  EXPECT_EQ(threads, (std::vector<uint32_t>{0, 0, 1, 1}));
  EXPECT_EQ(sink.damage(), 0u);
}

TEST(Catalog, KnowsWhenAThreadGaveUpItsTid) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(100).start().id(1, 7, 5, "ends").at(200).end(1, 7).stop();
  trace.cpu(1).at(100).start().id(1, 7, 5, "ends").dispatch(1).id(2, 8, 5, "stays").stop();
  trace.cpu(2).at(100).start().id(1, 7, 5, "again", 300).at(400).end(1, 7).stop();
  const Catalog catalog = catalog_of(trace, dir.path());
  ASSERT_EQ(names(catalog), (std::vector<std::string>{"ends", "stays", "again"}));
  EXPECT_EQ(catalog.threads[0].end, 200u);
  EXPECT_EQ(catalog.threads[1].end, UINT64_MAX);
  EXPECT_EQ(catalog.threads[2].end, 400u);
}

// Thread 6 executes a program when the main thread has ended, and takes its tid.
TEST(Catalog, ATidThatAnExecveTookBelongsToTheMainThread) {
  for (const uint32_t pid : {5u, 4u}) {
    TempDir dir;
    TraceBuilder trace(dir.path());
    trace.cpu(0).at(100).start().id(1, 5, 5, "main").at(200).end(1, 5).stop();
    trace.cpu(1).at(100).start().id(1, 6, pid, "other").stop();
    trace.cpu(2).at(300).start().id(1, 5, 5, "main").record(FTrace_EXT_exec, 1, 6);
    trace.cpu(2).at(400).record(FTrace_EXT_exec, 1, 6).stop();
    trace.cpu(3).at(350).start().id(1, 6, 9, "later", 350).stop();
    const Catalog catalog = catalog_of(trace, dir.path());
    ASSERT_EQ(catalog.threads.size(), 3u);
    for (const ThreadInfo &thread : catalog.threads)
      EXPECT_EQ(thread.end, thread.name == "other" && pid == 5 ? 300 : UINT64_MAX) << thread.name;
    trace.cpu(4).at(100).start().id(1, 6, pid, "other").at(310).end(1, 6).stop();
    trace.cpu(5).at(400).start().id(1, 5, 5, "main").at(500).end(1, 5).stop();
    for (const ThreadInfo &thread : catalog_of(trace, dir.path()).threads)
      EXPECT_EQ(thread.end, thread.name == "other"  ? 310
                            : thread.name == "main" ? 500
                                                    : UINT64_MAX)
          << thread.name;
  }
}

// The tid of a thread belongs to others before its birth and after its end. A wakeup can be seen
// after the waker has ended.
TEST(Catalog, OtherProcessesWithTheTidOfAThreadAreNotTraced) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.json(R"({"version": 1, "peers": [{"tid": 8, "pid": 9, "name": "", "since_ns": 302}]})");
  ChunkBuilder &cpu = trace.cpu(0).at(100).start().id(1, 7, 7, "app").id(2, 8, 8, "born", 200);
  for (const uint64_t time : {199, 200, 300, 301, 302})
    cpu.at(time).activate(1, 8).dispatch(1).sleep(1, 8);
  trace.cpu(1).at(200).start().id(1, 8, 8, "born", 200).at(300).end(1, 8).stop();
  trace.write();
  CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  std::vector<uint32_t> wakers, next;
  for (Event event; source->next(event);)
    if (event.kind == FTrace_EVT_task_activate)
      wakers.push_back(event.peer);
    else if (event.kind == FTrace_EVT_task_sleep)
      next.push_back(event.peer);
  EXPECT_EQ(wakers, (std::vector<uint32_t>{kNone, 1, 1, 1, kNone}));
  EXPECT_EQ(next, (std::vector<uint32_t>{kNone, 1, 1, kNone, kNone}));
}

TEST(Catalog, KeepsTheLastName) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(300).start().id(1, 7, 7, "a long late one").stop();
  trace.cpu(1).at(100).start().id(1, 7, 7, "early").at(200).name(1, "a middle").stop();
  EXPECT_EQ(names(catalog_of(trace, dir.path())), std::vector<std::string>{"a long late one"});
  trace.cpu(1).at(400).name(1, "x\ny\x7f");
  EXPECT_EQ(names(catalog_of(trace, dir.path())), std::vector<std::string>{"x?y?"});
}

/// "until name" of the earlier names, then the last name.
std::vector<std::string> history(TraceBuilder &trace, const std::string &path) {
  const ThreadInfo thread = catalog_of(trace, path).threads.at(0);
  std::vector<std::string> all;
  for (const EarlierName &earlier : thread.earlier_names)
    all.push_back(std::to_string(earlier.until) + " " + earlier.name);
  all.push_back(thread.name);
  return all;
}

TEST(Catalog, KnowsWhenAThreadHadWhichName) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(100).start().id(1, 7, 7, "sh").at(300).name(1, "app").at(500).name(1, "sh");
  trace.cpu(1).at(150).start().id(1, 7, 7, "sh").at(600).stop();
  EXPECT_EQ(history(trace, dir.path()), (std::vector<std::string>{"300 sh", "500 app", "sh"}));
  trace.cpu(0).stop();
  trace.write();
  CollectingSink sink;
  const ThreadInfo thread = open_trace({{dir.path()}}, sink)->catalog().threads.at(0);
  EXPECT_EQ(thread.name_at(299), "sh");
  EXPECT_EQ(thread.name_at(300), "app");
  EXPECT_EQ(thread.name_at(500), "sh");
}

// The recorder learns of the new name before it writes the events that came before it.
TEST(Catalog, AChunkThatKnowsANameTooEarlyDoesNotMoveTheRenaming) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(100).start().id(1, 7, 7, "sh").at(300).name(1, "app").stop();
  trace.cpu(1).at(200).start().id(1, 7, 7, "app").at(600).stop();
  EXPECT_EQ(history(trace, dir.path()), (std::vector<std::string>{"300 sh", "app"}));
}

// A thread that renames itself is recorded when it leaves its CPU.
TEST(Catalog, TheNameThatANewThreadGivesItselfCountsFromItsBirth) {
  for (const bool executes : {false, true}) {
    TempDir dir;
    TraceBuilder trace(dir.path());
    auto &cpu = trace.cpu(0).at(100).start().id(1, 8, 7, "app", 100).at(300);
    if (executes)
      cpu.record(FTrace_EXT_exec, 1, 8);
    cpu.name(1, "worker").at(500).name(1, "late").stop();
    EXPECT_EQ(history(trace, dir.path()),
              executes ? (std::vector<std::string>{"300 app", "500 worker", "late"})
                       : (std::vector<std::string>{"500 worker", "late"}));
  }
}

TEST(Catalog, AnUnrecordedRenamingCountsFromItsFirstChunk) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(100).start().id(1, 7, 7, "sh").at(600).stop();
  trace.cpu(1).at(400).start().id(1, 7, 7, "app").at(600).stop();
  EXPECT_EQ(history(trace, dir.path()), (std::vector<std::string>{"400 sh", "app"}));
}

// A context that a tracer binds twice in one chunk: each thread keeps what was said of it.
TEST(Catalog, KnowsBothThreadsOfAContextThatIsBoundTwice) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(100).start().id(1, 7, 5, "first").parent(1, 5).id(1, 8, 5, "second").stop();
  const Catalog catalog = catalog_of(trace, dir.path());
  ASSERT_EQ(names(catalog), (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(catalog.threads[0].tid, 7u);
  EXPECT_EQ(catalog.threads[0].parent, 5u);
  EXPECT_EQ(catalog.threads[1].tid, 8u);
  EXPECT_EQ(catalog.threads[1].parent, 0u);
}

TEST(Catalog, KeepsIdentitiesThatALaterChunkOmits) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(100).start().id(1, 7, 6, "named").parent(1, 5).next_chunk();
  trace.cpu(0).at(200).record(FTrace_EVT_id, 1, 7).stop();
  const Catalog catalog = catalog_of(trace, dir.path());
  ASSERT_EQ(names(catalog), std::vector<std::string>{"named"});
  EXPECT_EQ(catalog.threads[0].pid, 6u);
  EXPECT_EQ(catalog.threads[0].parent, 5u);
}

TEST(Catalog, LastReadOfTwoNamesAtOneTimeHolds) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(100).start().id(1, 7, 7, "before").next_chunk().id(1, 7, 7, "after").stop();
  EXPECT_EQ(names(catalog_of(trace, dir.path())), std::vector<std::string>{"after"});
}

TEST(Catalog, KnowsAThreadThatHasOnlyAnId) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(1).start().record(FTrace_EVT_id, 1, 77).dispatch(1).stop();
  trace.write();
  CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  ASSERT_EQ(source->catalog().threads.size(), 1u);
  EXPECT_EQ(source->catalog().threads[0].tid, 77u);
  Event event;
  ASSERT_TRUE(source->next(event) && source->next(event));
  EXPECT_EQ(event.thread, 0u);
}

TEST(Catalog, BeginsAtTraceStartAndEndsAtTheLastEvent) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(500).start().id(1, 7, 7, "a").at(600).dispatch(1).at(700).stop();
  trace.cpu(1).at(510).start().at(900).record(FTrace_EVT_ipoint);
  const Catalog catalog = catalog_of(trace, dir.path());
  EXPECT_EQ(catalog.begin, 500u);
  EXPECT_EQ(catalog.end, 900u);
}

TEST(Catalog, ATraceWithoutTraceStartBeginsAtTheFirstEvent) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(500).record(FTrace_EVT_ipoint);
  trace.cpu(1).at(400).record(FTrace_EVT_ipoint);
  trace.cpu(2);
  trace.cpu(3).at(450).record(FTrace_EVT_ipoint);
  const Catalog catalog = catalog_of(trace, dir.path());
  EXPECT_EQ(catalog.begin, 400u);
  EXPECT_EQ(catalog.end, 500u);
  EXPECT_EQ(catalog.cpus.size(), 4u);
}

TEST(Catalog, AFileNeedsRoomForOneRecord) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  const std::vector<ftrace_record> records = trace.cpu(0).records();
  CollectingSink sink;
  TraceBuilder::write_file(trace.file(0), records.data(), sizeof(ftrace_record));
  EXPECT_EQ(open_trace({{dir.path()}}, sink)->catalog().cpus.size(), 1u);
  TraceBuilder::write_file(trace.file(0), records.data(), sizeof(ftrace_record) - 1);
  EXPECT_THROW(open_trace({{dir.path()}}, sink), Error) << "nothing can be in it";
}

TEST(Catalog, TheCpuOfAChunkOverridesTheFileName) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  auto &records = trace.cpu(0).at(1).start().record(FTrace_EVT_ipoint).stop().records();
  records[2].par1 = 5;
  trace.write();
  CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  ASSERT_EQ(source->catalog().cpus.size(), 1u);
  EXPECT_EQ(source->catalog().cpus[0].index, 5u);
}

TEST(TraceInfo, NamesAPeerByItsTidAndTheTime) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.json(R"({"version": 1, "peers": [
    {"tid": 9, "pid": 8, "name": "later", "since_ns": 200},
    {"tid": 9, "pid": 8, "name": "first\u001b", "since_ns": 100},
    {"tid": 10, "pid": 10, "name": "other", "since_ns": 50},
    {"tid": 0, "name": "idle"}, {"tid": 5000000000, "name": "big"}, 7]})");
  trace.write();
  CollectingSink sink;
  const TraceInfo info = read_trace_info(dir.path(), sink);
  ASSERT_EQ(info.peers.size(), 3u);
  ASSERT_TRUE(find_peer(info.peers, 9, 100));
  EXPECT_EQ(find_peer(info.peers, 9, 0)->name, "first?")
      << "its first name, before it was seen too";
  EXPECT_EQ(find_peer(info.peers, 9, 199)->name, "first?");
  EXPECT_EQ(find_peer(info.peers, 9, 200)->name, "later");
  EXPECT_EQ(find_peer(info.peers, 9, UINT64_MAX)->pid, 8u);
  EXPECT_EQ(find_peer(info.peers, 10, 40)->name, "other");
  EXPECT_FALSE(find_peer(info.peers, 8, 100));
  EXPECT_FALSE(find_peer(info.peers, 11, 100));
}

TEST(TraceInfo, HasOnlyPrintableTexts) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.json(R"({"version": 1, "command": ["a\u001b[31m", "b\u007f"], "filters": ["-p\n1"]})");
  trace.write();
  CollectingSink sink;
  const TraceInfo info = read_trace_info(dir.path(), sink);
  EXPECT_EQ(info.command, (std::vector<std::string>{"a?[31m", "b?"}));
  EXPECT_EQ(info.filters, (std::vector<std::string>{"-p?1"}));
}

TEST(TraceInfo, HasAsManyMarksAsAnEventCanName) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  std::string marks = R"({"time_ns": 1, "text": "first"})";
  for (int n = 0; n < 65535; n++)
    marks += R"(, {"time_ns": 2})";
  trace.json(R"({"version": 1, "marks": [)" + marks + "]}");
  trace.write();
  CollectingSink sink;
  const TraceInfo info = read_trace_info(dir.path(), sink);
  ASSERT_EQ(info.marks.size(), 65535u);
  EXPECT_EQ(info.marks.front().text, "first");
  EXPECT_EQ(info.marks.back().text, "mark 65535");
}

} // namespace
} // namespace ovnitrace
