// SPDX-License-Identifier: BSD-2-Clause
// The network sender of libovnitrace, to `ovnitrace collect` over the loopback.
#include "tests/e2e/support/collector.h"
#include "tests/e2e/support/e2e.h"

#include <ovnitrace/ftrace_codes.h>
#include <ovnitrace/ftrace_record.h>

#include <cstring>

namespace ovnitrace::test {

class CollectUdp : public CaptureTest {};

TEST_F(CollectUdp, WritesWhatTheLibrarySends) {
  CollectorProcess collector("udp", path("collected"));
  const std::string address = collector.url().substr(std::string("udp://").size());
  const Outcome sent = run({.argv = {installed("library_sender_static"), address, "300"}});
  ASSERT_EQ(sent.status(), 0) << sent.out << sent.err;
  eventually(
      [&] {
        return !collector.traces().empty() && exists(collector.traces()[0] + "/trace.dat") &&
               read_text(collector.traces()[0] + "/trace.dat").size() >=
                   300 * sizeof(ftrace_record);
      },
      "the records");
  const Outcome stopped = collector.stop();
  EXPECT_EQ(stopped.status(), 0) << stopped.err;
  EXPECT_NE(stopped.err.find(" is complete: "), std::string::npos) << stopped.err;
  ASSERT_EQ(collector.traces().size(), 1u);
  const std::string file = collector.traces()[0] + "/trace.dat";
  const std::string bytes = read_text(file);
  std::vector<ftrace_record> records(bytes.size() / sizeof(ftrace_record));
  memcpy(records.data(), bytes.data(), records.size() * sizeof(ftrace_record));
  uint32_t next = 0;
  for (const ftrace_record &record : records)
    if (record.code == FTrace_EVT_user_event_1) {
      EXPECT_EQ(record.par2, next++);
    }
  EXPECT_EQ(next, 300u);
  const Outcome converted = run({.argv = {ovnitrace(), "convert", file}});
  EXPECT_EQ(converted.status(), 0) << converted.err;
  EXPECT_EQ(converted.err.find("warning"), std::string::npos) << converted.err;
  const Outcome dumped = run({.argv = {ovnitrace(), "dump", file}});
  EXPECT_EQ(dumped.status(), 0) << dumped.err;
}

} // namespace ovnitrace::test
