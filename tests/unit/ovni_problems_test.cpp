// SPDX-License-Identifier: BSD-2-Clause
// What is said of events of ovni streams that cannot be, and which thread OAr means.
#include "emulator/ovni/ovni_source.h"
#include "emulator/ovni/stream_scan.h"
#include "tests/unit/support/ovni_streams.h"

#include <gtest/gtest.h>

namespace ovnitrace::test {
namespace {

using Texts = std::vector<std::string>;
using ovni::open_ovni_trace;

/// Returns "offset: what" of each report about stream.obs of thread 10.
Texts reports(const std::string &events) {
  TempDir dir;
  write_stream(dir, "n", 10, 10, events);
  CollectingSink sink;
  const auto source = open_ovni_trace(dir.path(), "", sink);
  drain(*source);
  Texts texts;
  for (const Diagnostic &found : sink.reported)
    if (found.file.ends_with("stream.obs"))
      texts.push_back(std::to_string(found.offset) + ": " + found.what);
  return texts;
}

TEST(OvniProblems, AStreamMayEndInAnEvent) {
  EXPECT_EQ(reports(execute(1, 0) + stream_event("OHe", 9).substr(0, 7)),
            Texts{"36: the stream ends inside an event (it was cut short), 7 bytes left out"});
}

TEST(OvniProblems, AStreamMayHoldOtherBytes) {
  EXPECT_EQ(reports(execute(1, 0) + std::string(40, '\0')),
            Texts{"36: what stands here is no event (the stream is damaged), 40 bytes left out"});
}

TEST(OvniProblems, ATimeThatGoesBackMayWaitForOvnisort) {
  EXPECT_EQ(reports(execute(50, 0) + stream_event("OU[", 60) + stream_event("OHp", 20) +
                    stream_event("OU]", 70) + stream_event("OHr", 40)),
            (Texts{"48: the time goes back by 40 ns in an unordered region: run ovnisort first",
                   "72: the time goes back by 30 ns"}));
}

TEST(OvniProblems, ACpuMustBeOneOfTheLoom) {
  const Texts found = reports(execute(1, 0) + stream_event("OAs", 2, bytes_of(int32_t(70000))) +
                              stream_event("OAs", 3, bytes_of(int32_t(-2))));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], "36: names CPU index 70000, which its loom does not have");
  EXPECT_EQ(found[1], "52: names CPU index -2, which its loom does not have");
}

TEST(OvniProblems, AStreamNeedsItsHeader) {
  TempDir dir;
  write_stream(dir, "n", 10, 10, execute(1, 0));
  write_stream(dir, "n", 10, 11, execute(1, 1));
  write_file(dir / stream_place("n", 10, 10) + "/stream.obs", "ovni\1");
  CollectingSink sink;
  open_ovni_trace(dir.path(), "", sink);
  EXPECT_TRUE(reported(sink, "stream.obs: the file has 5 bytes and no room for the header of a "
                             "stream"));
}

/// Two processes of a loom have a thread 12 each.
TEST(OvniProblems, AThreadThatIsMovedIsFirstSoughtInTheSameProcess) {
  TempDir dir;
  const auto move = [](uint64_t time, int32_t tid) {
    return stream_event("OAr", time, bytes_of(int32_t(1)) + bytes_of(tid));
  };
  write_stream(dir, "n", 10, 12, execute(1, 0));
  write_stream(dir, "n", 20, 12, execute(1, 0) + stream_event("OHp", 6));
  write_stream(dir, "n", 20, 21, move(2, 12) + move(3, 13) + move(4, 99));
  write_stream(dir, "n", 30, 13, execute(1, 0));
  write_stream(dir, "n", 30, 31, move(5, 12));
  CollectingSink sink;
  const auto source = open_ovni_trace(dir.path(), "", sink);
  Texts peers;
  for (Event event; source->next(event);) {
    if (event.kind == mcv('O', 'A', 'r'))
      peers.push_back(event.peer == kNone
                          ? "none"
                          : std::to_string(source->catalog().threads[event.peer].pid) + "/" +
                                std::to_string(source->catalog().threads[event.peer].tid));
    else
      EXPECT_EQ(event.peer, kNone) << "of the event before";
  }
  EXPECT_EQ(peers, (Texts{"20/12", "30/13", "none", "10/12"}));
}

TEST(OvniProblems, AShiftedTimeStaysInItsRange) {
  using ovni::shift_time;
  EXPECT_EQ(shift_time(100, 5), 105u);
  EXPECT_EQ(shift_time(100, -99), 1u);
  EXPECT_EQ(shift_time(100, -100), 0u);
  EXPECT_EQ(shift_time(100, -101), 0u);
  EXPECT_EQ(shift_time(100, INT64_MIN), 0u);
  EXPECT_EQ(shift_time(INT64_MAX, INT64_MAX), shift_time(INT64_MAX, INT64_MAX - 1)) << "the limit";
}

} // namespace
} // namespace ovnitrace::test
