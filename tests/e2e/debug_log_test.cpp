// SPDX-License-Identifier: BSD-2-Clause
// -v and OVNITRACE_LOG=debug: what is loaded, attached, sized and skipped, and libbpf's log.
#include "tests/e2e/support/e2e.h"

#include <cstdlib>

namespace ovnitrace::test {

class DebugLog : public CaptureTest {
protected:
  /// Lines of the debug log that have this text.
  static size_t lines_with(const Outcome &outcome, const std::string &text) {
    size_t lines = 0;
    for (size_t at = 0; (at = outcome.err.find("ovnitrace: debug: ", at)) != outcome.err.npos; at++)
      lines += outcome.err.substr(at, outcome.err.find('\n', at) - at).find(text) != text.npos;
    return lines;
  }
};

TEST_F(DebugLog, SaysWhatIsLoadedAttachedSizedAndSkipped) {
  const Outcome outcome =
      record({"/bin/true"}, {"-v", "-q", "--ring-size", "128K", "--filter", "sched,signal"});
  EXPECT_EQ(lines_with(outcome, "program on_waking (tp_btf/sched_waking): "), 1u) << outcome.err;
  EXPECT_EQ(lines_with(outcome, "hrtimer_cancel): not loaded"), 1u) << outcome.err;
  EXPECT_EQ(lines_with(outcome, "CPU 0: a ring of 131072 bytes"), 1u);
  EXPECT_EQ(lines_with(outcome, "attached the programs of the scheduler"), 1u);
  EXPECT_EQ(lines_with(outcome, "attached the programs of the families signal"), 1u);
  EXPECT_GE(lines_with(outcome, "libbpf: "), 1u);
}

TEST_F(DebugLog, IsSwitchedOnByTheEnvironment) {
  Command command = record_command(trace(), {"/bin/true"}, {"-q"});
  command.in_child = [] { setenv("OVNITRACE_LOG", "debug", 1); };
  EXPECT_GE(lines_with(run(command), "attached"), 1u);
}

TEST_F(DebugLog, IsSilentOtherwise) {
  EXPECT_EQ(record({"/bin/true"}).err.find("debug"), std::string::npos);
}

} // namespace ovnitrace::test
