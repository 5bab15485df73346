// SPDX-License-Identifier: BSD-2-Clause
// The manual's example: its file is exactly what the manual says.
#include "tests/unit/support/files.h"
#include "tests/unit/support/ftrace_rig.h"
#include "tests/unit/support/manual_example.h"

#include <cstring>
#include <ctime>

using namespace ovnitrace::test;

namespace {

class FtraceManual : public FtraceRig {};

void first() {
  TRACER_LOGEVENT(FTrace_EVT_timer_post, 1, 1); // filtered
  TRACER_LOGEVENT(FTrace_EVT_task_create, 0x1234, 0x89abcdef);
}

void second() {
  TRACER_LOGEVENT(FTrace_EVT_timer_wakeup_end, 17, 0); // not any more
  TRACER_LOGEVENT(FTrace_EVT_set_mutex_unlock, 17, 3);
}

/// As the manual takes it out of an event.
unsigned long long manual_tsc(const char *ptr) {
  unsigned int high, low;
  memcpy(&high, ptr + 4, 4);
  memcpy(&low, ptr + 8, 4);
  unsigned long long tsc_value;
  tsc_value = (unsigned long long)high << 32;
  tsc_value += (unsigned long long)low;
  return tsc_value;
}

unsigned long long now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (unsigned long long)time.tv_sec * 1000000000 + (unsigned long long)time.tv_nsec;
}

/// Code and parameter 1, then parameter 2: the first 4 and the last 4 bytes of each event.
constexpr const char *kExpected[] = {
    "\xfb\0\x01\0"
    "\0\0\0\0", // filter timer, 1
    "\x20\0\x11\0"
    "\x40\x42\x0f\0", // trace_start, context 17, 1000000 ticks/ms
    "\x60\0\x11\0"
    "\x01\0\0\0", // id 17 1
    "\x60\0\x12\0"
    "\x02\0\0\0", // id 18 2
    "\x60\0\xff\xff"
    "\x04\0\0\0", // id 65535 4
    "\x02\0\x34\x12"
    "\xef\xcd\xab\x89", // task_create
    "\xfb\0\0\0"
    "\0\0\0\0", // filter timer, 0
    "\xff\0\0\0"
    "\0\0\0\0", // next_chunk
    "\x01\0\x70\x17"
    "\0\0\0\0", // ipoint 6000, in the second chunk
    "\x3b\0\x11\0"
    "\0\0\0\0", // timer_wakeup_end
    "\x36\0\x11\0"
    "\x03\0\0\0", // mutex_unlock
    "\x30\0\0\0"
    "\0\0\0\0", // trace_stop
};

TEST_F(FtraceManual, ExampleByteForByte) {
  std::string path = dir_ / "trace.dat";
  const unsigned long long start = now();
  manual_example(path.data(), first, second);
  const unsigned long long end = now();

  const std::string bytes = ovnitrace::test::text_of(path);
  ASSERT_EQ(bytes.size(), std::size(kExpected) * 16);
  unsigned long long before = start;
  for (size_t i = 0; i < std::size(kExpected); i++) {
    const char *event = bytes.data() + i * 16;
    EXPECT_EQ(memcmp(event, kExpected[i], 4), 0) << "code or parameter 1 of event " << i;
    EXPECT_EQ(memcmp(event + 12, kExpected[i] + 4, 4), 0) << "parameter 2 of event " << i;
    EXPECT_GE(manual_tsc(event), before) << "event " << i;
    before = manual_tsc(event);
  }
  EXPECT_LE(before, end);
}

TEST_F(FtraceManual, ExampleLeavesTheChunksAsItAskedFor) {
  std::string path = dir_ / "trace.dat";
  manual_example(path.data(), first, second);
  EXPECT_EQ(flags_of(0), FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);
  EXPECT_EQ(flags_of(1), FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_JTN);
  EXPECT_EQ(flags_of(2), FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);
  EXPECT_EQ(FTrace_get_first_chunk(FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_JTN), 1);
  EXPECT_EQ(status(0).next, 1);
  EXPECT_EQ(status(1).next, 2);
}

} // namespace
