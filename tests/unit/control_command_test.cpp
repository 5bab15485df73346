// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace control` and `ovnitrace ctl`: what they print and what they refuse.
#include "emulator/cli/run.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/run_command.h"
#include "tests/unit/support/temp_dir.h"
#include "user/control/ctl_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ovnitrace {
namespace {

using Words = std::vector<std::string>;

using test::run;
using test::Said;

class ControlCommand : public testing::Test {
protected:
  ControlCommand() {
    std::ofstream(dir_ / "app.s") << R"(
.text
.globl _start
.type _start, @function
_start: ret
.size _start, .-_start
.type solve, @function
solve: ret
.size solve, .-solve
.section .note.GNU-stack,"",@progbits
)";
    const std::string build =
        "gcc -static -nostdlib -no-pie " + (dir_ / "app.s") + " -o " + program_[0];
    EXPECT_EQ(std::system(build.c_str()), 0);
  }
  test::TempDir dir_;
  const Words program_ = {dir_ / "app", "with", "arguments"};
};

TEST_F(ControlCommand, ExplainsChainsAndCountsTheirPlaces) {
  const Said said = run({"control", "--check", "start:enter_func:solve,stop:timeout:1"}, program_);
  EXPECT_EQ(said.out, "chain 1:\n"
                      "  1. when the function solve is entered, counted in each thread by itself: "
                      "the region starts\n"
                      "  2. when 1 s have passed since, counted in each thread by itself: the "
                      "region stops\n"
                      "start:enter_func:solve: 1 place in " +
                          program_[0] + " and its libraries\n");
  EXPECT_EQ(said.err, "");
  EXPECT_EQ(said.status, 0);
}

TEST_F(ControlCommand, SaysWhatTheProgramHasNot) {
  const Said said = run({"control", "--check", "stop:enter_func:solv"}, program_);
  EXPECT_EQ(said.out,
            "chain 1:\n"
            "  1. when the function solv is entered, counted in each thread by itself: the region "
            "stops\n"
            "no alarm starts a region: it starts at once\n"
            "stop:enter_func:solv: 0 places in " +
                program_[0] +
                " and its libraries\n"
                "--control: no loaded file contains what stop:enter_func:solv looks for (if the "
                "function is inlined or the file is stripped, give IMAGE+OFFSET; similar names: "
                "solve); it is armed when something that has it is loaded\n");
  EXPECT_EQ(said.status, 1);
}

TEST_F(ControlCommand, NeedsNoProgram) {
  const Said said = run({"control", "--check", "stop:enter_func:solv"});
  EXPECT_EQ(said.out.find("places"), std::string::npos) << said.out;
  EXPECT_EQ(said.status, 0);
}

TEST_F(ControlCommand, HasAllOfItAsJson) {
  using Json = nlohmann::ordered_json;
  const Words words = {"control", "--json",
                       "--check", "start:timeout:1,stop:enter_func:solve,name:x",
                       "--check", "start:enter_func:none,waitfor:x,repeat:3"};
  const Said said = run(words, program_);
  const Json root = Json::parse(said.out);
  EXPECT_EQ(said.status, 1) << "none is not there";
  EXPECT_EQ(root["schema"], 1);
  EXPECT_EQ(root["starts_at_once"], false);
  EXPECT_EQ(root["program"], program_[0]);
  ASSERT_EQ(root["chains"].size(), 2u);
  const Json &first = root["chains"][0], &second = root["chains"][1];
  EXPECT_EQ(first["text"], words[3]);
  EXPECT_EQ(first["name"], "x");
  EXPECT_EQ(first["waits_for"], "");
  EXPECT_EQ(second["waits_for"], "x");
  EXPECT_EQ(second["repeat"], 3);
  EXPECT_EQ(first["alarms"][0]["places"], Json()) << "it needs none";
  EXPECT_EQ(first["alarms"][1]["places"], 1);
  EXPECT_EQ(first["alarms"][1]["text"], "stop:enter_func:solve");
  EXPECT_EQ(first["alarms"][1]["means"],
            "when the function solve is entered, counted in each thread by itself: the region "
            "stops");
  EXPECT_EQ(second["alarms"][0]["places"], 0);
  ASSERT_EQ(root["notes"].size(), 1u);
  const Json alone = Json::parse(run({"control", "--json", "--check", "stop:enter_func:f"}).out);
  EXPECT_EQ(alone["starts_at_once"], true);
  EXPECT_EQ(alone["program"], Json());
  EXPECT_EQ(alone["chains"][0]["alarms"][0]["places"], Json());
  EXPECT_EQ(alone["notes"].size(), 0u);
}

TEST(CtlCommand, AMarkHasATextAndNothingElseHas) {
  const auto said = [](Words words) {
    words.insert(words.begin(), {"ctl", "/no/such/trace"});
    const Said all = run(words);
    EXPECT_EQ(all.out, "");
    return std::pair{all.status, all.err};
  };
  const auto refused = [](const std::string &why) { return std::pair{2, "ovnitrace: " + why}; };
  EXPECT_EQ(said({"mark"}), refused("ctl mark: give the text of the mark\n"));
  EXPECT_EQ(said({"status", "x"}), refused("ctl status: takes no text\n"));
  EXPECT_EQ(said({"save", "--json"}), refused("ctl: --json needs status\n"));
  EXPECT_EQ(said({"mark", std::string(50, 'a'), std::string(50, 'b')}),
            refused("ctl mark: the text has 101 bytes; give 100 at most\n"));
  EXPECT_EQ(said({"mark", std::string(49, 'a'), std::string(50, 'b')}),
            (std::pair<int, std::string>{1, "ovnitrace: ctl /no/such/trace: No such file or "
                                            "directory\n"}));
}

TEST(CtlCommand, PassesItsWordsOnAndPrintsTheAnswer) {
  const test::TempDir dir;
  control::CtlSocket socket(dir.path(), {}, getuid());
  std::vector<std::string> asked;
  std::thread capture([&] {
    pollfd file = {socket.files()[0].get(), POLLIN, 0};
    for (int n = 0; n < 3; n++) {
      poll(&file, 1, 60'000);
      socket.serve(file.fd, [&](const std::string &command) {
        asked.push_back(command);
        return "ok\nanswer " + std::to_string(n) + "\n";
      });
    }
  });
  std::string printed;
  for (const Words &words :
       {Words{"mark", "second", "phase\x1b"}, {"status"}, {"status", "--json"}}) {
    Words all = {"ctl", dir.path()};
    all.insert(all.end(), words.begin(), words.end());
    const Said said = run(all);
    EXPECT_EQ(said.status, 0);
    printed += said.out + said.err;
  }
  capture.join();
  EXPECT_EQ(asked, (Words{"mark second phase?", "status", "status --json"}));
  EXPECT_EQ(printed, "answer 0\nanswer 1\nanswer 2\n");
}

TEST(CtlCommand, AnAnswerThatCannotBePrintedIsAnError) {
  const test::TempDir dir;
  control::CtlSocket socket(dir.path(), {}, getuid());
  const std::string said = dir / "said";
  const pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/full", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    dup2(open(said.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600), STDERR_FILENO);
    const RootApp app("", "ovnitrace");
    add_ctl(app);
    std::string words[] = {"ovnitrace", "ctl", dir.path(), "status"};
    char *argv[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
    _exit(run_cli(app, 4, argv));
  }
  pollfd file = {socket.files()[0].get(), POLLIN, 0};
  EXPECT_EQ(poll(&file, 1, 60'000), 1);
  socket.serve(file.fd, [](const std::string &) { return "ok\nanswer\n"; });
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(test::text_of(said),
            "ovnitrace: cannot write to standard output: No space left on device\n");
}

TEST(CollectCommand, RefusesWhatCannotBe) {
  const auto refusal = [](Words words) {
    words.insert(words.begin(), "collect");
    const Said said = run(words);
    EXPECT_EQ(said.status, 2);
    return said.err.substr(0, said.err.find('\n'));
  };
  EXPECT_EQ(refusal({"-l", "udp://127.0.0.1", "--key", "k"}),
            "ovnitrace: --key works only with tcp://: datagrams are not encrypted");
  EXPECT_EQ(refusal({"-o", "-"}),
            "ovnitrace: -o -: traces are directories of files: name one for them");
  EXPECT_EQ(refusal({"--max-senders", "0"}),
            "ovnitrace: --max-senders: give a whole number from 1 to 10000, not 0");
  EXPECT_EQ(refusal({"--max-senders", "10001"}),
            "ovnitrace: --max-senders: give a whole number from 1 to 10000, not 10001");
}

} // namespace
} // namespace ovnitrace
