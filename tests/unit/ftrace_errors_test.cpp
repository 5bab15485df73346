// SPDX-License-Identifier: BSD-2-Clause
// The texts of libovnitrace's errors, which say what to do: user/libovnitrace/error.c.
#include <ovnitrace/ftrace.h>

#include <gtest/gtest.h>

namespace {

TEST(FtraceErrors, OfMakingChunks) {
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_NOMEM),
               "the system gives no more memory: make the chunk smaller, or delete others");
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_FLAGS),
               "these flags contradict each other or are not a program's to set: one mode at most, "
               "not FREE with FULL, not FREE for what is to be compressed, never BUSY, COMPR only "
               "where it is");
}

TEST(FtraceErrors, OfChunksThatAreThere) {
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_UNKNOWN_CHUNK), "there is no chunk of this number");
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_NODEL),
               "the chunk is protected from deletion: take its NODEL flag away first");
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_BUSY),
               "the chunk is being logged to, sent or compressed: call FTrace_disable or select "
               "another one, or wait");
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_NOT_FREE),
               "the chunk is in use: send it or set it FREE first");
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_SELF),
               "a chunk cannot be linked to itself: make it cyclic (CYC) instead");
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_NOT_FOUND), "no chunk has these flags");
}

TEST(FtraceErrors, OfLogging) {
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_NO_CHUNK),
               "no chunk is selected: call FTrace_actual_chunk_select; only a tracer outside takes "
               "events until then");
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_FULL),
               "the selected chunk is full and there is nowhere to go on: send it and set it FREE, "
               "link a FREE one to it, or select another");
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_ARGUMENT),
               "a pointer is null, or a name empty or too long");
}

TEST(FtraceErrors, OfSaving) {
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_NO_SENDER),
               "nowhere to send to: call FTrace_init_disk_writer or FTrace_OSD_init_udp first");
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_ADDRESS),
               "not a numeric address, not one of this machine, or not to be reached");
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_OPEN),
               "the trace file cannot be created; errno has the reason (ELOOP: it is a symbolic "
               "link, which is not followed)");
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_DISK_FULL),
               "no space is left for the chunk, or a limit reached: the chunk keeps its events, so "
               "make room or name another file and send it again");
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_IO),
               "writing the trace file failed; errno has the reason; the chunk keeps its events");
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_NETWORK),
               "sending a datagram failed, or nobody listens; the chunk keeps its events");
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_NOT_COMPRESSED),
               "the library was built without zstd, or zstd failed; the chunk keeps its events");
}

} // namespace
