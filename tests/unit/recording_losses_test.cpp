// SPDX-License-Identifier: BSD-2-Clause
// Whole sessions: what is lost, refused or left out while they are paused, what they do not say,
// and which programs are in the kernel meanwhile. They need root.
#include "tests/unit/support/recorded_session.h"
#include "tests/unit/support/user_event_program.h"

#include <bpf/bpf.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace ovnitrace {
namespace {

using test::RecordedTrace;
using test::Session;
using Words = std::vector<std::string>;

class RecordingLosses : public test::SessionTest {};

Words shell(const std::string &script) {
  return {"/bin/sh", "-c", script};
}

/// Returns the names of the BPF programs that a process has attached.
std::set<std::string> attached_by(pid_t pid) {
  std::set<std::string> names;
  const std::string place = "/proc/" + std::to_string(pid);
  for (const auto &entry : std::filesystem::directory_iterator(place + "/fdinfo")) {
    bool is_link = false;
    std::ifstream lines(entry.path());
    for (std::string word; lines >> word;) {
      uint32_t id = 0, size = sizeof(bpf_prog_info);
      bpf_prog_info info = {};
      is_link |= word == "link_id:";
      if (!is_link || word != "prog_id:" || !(lines >> id))
        continue;
      const UniqueFd program(bpf_prog_get_fd_by_id(id));
      if (bpf_obj_get_info_by_fd(program.get(), &info, &size) == 0)
        names.insert(info.name);
    }
  }
  return names;
}

// Each signal has two events.
TEST_F(RecordingLosses, OfFamiliesAreInTheStatusAndInTheTrace) {
  constexpr int kEvents = 10'000;
  Session session({"--filter", "signal", "--ring-size", "64K"}, test::signalling_shell());
  ASSERT_NO_FATAL_FAILURE(session.signal_unread());
  nlohmann::json status = nlohmann::json::parse(session.ctl("status --json"));
  const uint64_t lost = status["lost"];
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(status["events"], kEvents);
  EXPECT_EQ(session.wait(), 3);
  RecordedTrace trace = session.trace();
  EXPECT_EQ(trace.json["lost"], lost);
  EXPECT_EQ(trace.count(FTrace_EVT_signal) + lost, kEvents);
  uint64_t dark = 0;
  for (const Event &event : trace.events)
    if (event.kind == FTrace_EVT_blackout_end && event.par1 == FTRACE_BLACKOUT_FAMILIES)
      dark += event.par2;
  EXPECT_EQ(dark, lost);
  EXPECT_EQ(session.count_printed(" events found no room (try a larger --ring-size)\n"), 1u)
      << session.printed();
}

TEST_F(RecordingLosses, UserEventsThatAProgramMayNotLogAreCounted) {
  const test::TempDir dir;
  Session session(Words{}, {test::user_event_program(
                               dir, "int main(void) {\n"
                                    "  TRACER_LOGEVENT(FTrace_EVT_task_dispatch, 7, 42);\n"
                                    "  TRACER_LOGEVENT(FTrace_EVT_user_event_3, 8, 43);\n"
                                    "  TRACER_LOGEVENT(FTrace_EVT_task_sleep, 7, 44);\n"
                                    "}\n")});
  EXPECT_EQ(session.wait(), 0) << session.printed();
  EXPECT_EQ(session.count_printed("ovnitrace: 2 events were left out: a program may not log events "
                                  "with these codes, nor "),
            1u)
      << session.printed();
  EXPECT_EQ(session.description()["user_events_refused"], 2);
  EXPECT_EQ(session.trace().count(FTrace_EVT_user_event_3), 1u);
}

TEST_F(RecordingLosses, ATriggerSavesNothingInAPause) {
  Session session({"--buffer", "last:1M", "--trigger", "exit:true", "--max-saves", "1"},
                  shell("while read line; do $line; done; exit 5"));
  ASSERT_TRUE(session.await_start()) << session.printed();
  EXPECT_EQ(session.ctl("pause"), "");
  session.type("/bin/true\ntouch made\n");
  ASSERT_TRUE(session.await([&] { return session.exists("made"); }));
  for (int n = 0; n < 2; n++) // a hit is taken before the second answer
    EXPECT_TRUE(session.ctl("status").starts_with("paused;")) << session.ctl("status");
  EXPECT_EQ(session.wait(), 5);
  EXPECT_EQ(session.count_printed("ovnitrace: --trigger exit:true has hit 1 time\n"), 1u)
      << session.printed();
  EXPECT_EQ(session.count_printed("saved to"), 0u) << session.printed();
  EXPECT_EQ(session.count_printed("--max-saves"), 0u) << "the save is left";
  EXPECT_EQ(session.trace().marks(), Words());
}

TEST_F(RecordingLosses, TheKernelHasNoProgramOfOursAfterAStop) {
  Session session({"--filter", "+signal", "--buffer", "last:1M", "--trigger", "exit:true"},
                  shell("read line; exit 5"));
  ASSERT_TRUE(session.await_start()) << session.printed();
  EXPECT_TRUE(attached_by(session.pid()).contains("on_napi_poll"));
  EXPECT_EQ(session.ctl("stop"), "");
  EXPECT_EQ(attached_by(session.pid()), std::set<std::string>());
  EXPECT_EQ(session.wait(), 5);
}

TEST_F(RecordingLosses, AQuietSessionMarksAPartWithoutAWord) {
  Session session({"-q", "--rotate", "1h", "--trigger", "exit:true"},
                  shell("/bin/true; read line; exit 5"));
  ASSERT_TRUE(session.await_start()) << session.printed();
  ASSERT_TRUE(session.await([&] { return session.description()["marks"].size() == 1; }));
  EXPECT_EQ(session.ctl("stop"), "");
  EXPECT_EQ(session.wait(), 5);
  EXPECT_EQ(session.printed(), "");
  EXPECT_EQ(session.description("t/0001")["ended"]["how"], "stopped by ovnitrace ctl stop");
}

TEST_F(RecordingLosses, NothingIsPrintedIfThatIsAsked) {
  Session of_program({"-q"}, shell("exit 3"));
  EXPECT_EQ(of_program.wait(), 3);
  EXPECT_EQ(of_program.printed(), "");
  Session of_machine({"-q", "--comm", "no-such-name", "--buffer", "last:1M", "--trigger",
                      "exit:no-such-exit", "-d", "10ms"});
  EXPECT_EQ(of_machine.wait(), 0);
  EXPECT_EQ(of_machine.count_printed("\n"),
            of_machine.count_printed("ovnitrace: warning: no thread passes the filters now "))
      << of_machine.printed();
  const auto traced = [](Words words) {
    words.insert(words.begin(), {"--no-convert", "--comm", "sh", "-o", "t"});
    return Session::command(words, shell("exit 3"));
  };
  const std::string note = "ovnitrace: --comm records only threads of these names; ";
  Session quiet([&] { return traced({"-q"}); }), loud([&] { return traced({}); });
  EXPECT_EQ(quiet.wait(), 3);
  EXPECT_EQ(quiet.count_printed(note), 0u) << quiet.printed();
  EXPECT_EQ(loud.wait(), 3);
  EXPECT_EQ(loud.count_printed(note), 1u) << loud.printed();
}

} // namespace
} // namespace ovnitrace
