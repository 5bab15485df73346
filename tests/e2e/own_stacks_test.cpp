// SPDX-License-Identifier: BSD-2-Clause
// --stacks of a program that blocks in many ways and writes down its own stack.
#include "tests/e2e/support/e2e.h"
#include "tests/unit/support/project_file.h"

#include <regex>

namespace ovnitrace::test {

namespace {

/// Stops where the handler of a signal is about to start, behind the last byte of `before`. A child
/// process sends the signals while the program waits for it in vfork(), which no signal interrupts.
constexpr char kStopsInHandler[] = R"(
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
asm(".text\n"
    ".type before, @function\n before: .cfi_startproc\n nop\n nop\n .cfi_endproc\n"
    ".size before, . - before\n"
    ".type handler, @function\n handler: .cfi_startproc\n ret\n .cfi_endproc\n"
    ".size handler, . - handler\n");
extern "C" void handler(int);
int main() {
  const pid_t program = getpid();
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
      usleep(20000), kill(program, SIGCONT);
  }
  signal(SIGUSR1, handler);
  for (int n = 0; n < 30; n++) {
    const pid_t child = vfork();
    if (child == 0) {
      kill(program, SIGUSR1);
      kill(program, SIGSTOP);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
}
)";

} // namespace

class OwnStacks : public CaptureTest {
protected:
  /// The program blocks often: on a busy or emulated machine, its unwind rules come late.
  static constexpr char kRounds[] = "500";

  std::string compile(const std::string &source, const std::string &flags) {
    write_text(path("own.cpp"), source);
    const std::string command =
        "cd '" + directory() + "' && g++ -std=c++20 -g -pthread " + flags + " -o own own.cpp";
    const Outcome made = run({.argv = {"sh", "-c", command}});
    EXPECT_EQ(made.status(), 0) << made.err;
    return path("own");
  }
  std::vector<std::string> folded() {
    const Outcome folded =
        run({.argv = {ovnitrace(), "export", "--to", "folded", trace(), "-o", "-"}});
    EXPECT_EQ(folded.status(), 0) << folded.err;
    return lines_of(folded.out);
  }
  /// Compiles the program, and compares its stacks.
  void expect_own_stacks(const std::string &flags) {
    SCOPED_TRACE(flags);
    expect_stacks_of({compile(project_file("tests/programs/own_stacks.cpp"), flags), kRounds});
  }
  /// Records the program, and compares each stack with what the program has written down.
  void expect_stacks_of(const std::vector<std::string> &program) {
    const Outcome recorded = record(program, {"--stacks=user"});
    std::map<std::string, std::string> own; // by thread
    for (const std::string &line : lines_of(recorded.out))
      if (const size_t blank = line.find(' '); blank != line.npos)
        own[line.substr(0, blank)] = line.substr(blank + 1);
    EXPECT_EQ(own.size(), 14u) << recorded.out;
    std::map<std::string, uint64_t> equal, missing, all; // ns, by thread
    static const std::regex kFolded("[^;]*;([^;]*);(.*) ([0-9]+)");
    static const std::regex kFunction("(f_[a-z_]+|Cleanup::(f_cleanup));");
    for (const std::string &line : folded()) {
      std::smatch parts;
      ASSERT_TRUE(std::regex_match(line, parts, kFolded)) << line;
      const std::string thread = parts[1], stack = ";" + parts[2].str() + ";";
      const uint64_t ns = std::stoull(parts[3]);
      if (!own.contains(thread) || stack == ";[waiting for a CPU];")
        continue;
      all[thread] += ns;
      if (stack.find("[frames missing]") != stack.npos) {
        missing[thread] += ns;
        continue;
      }
      std::string functions;
      for (std::sregex_iterator at(stack.begin(), stack.end(), kFunction), end; at != end; ++at)
        if (stack[size_t(at->position()) - 1] == ';')
          functions += (functions.empty() ? "" : ";") + (at->length(2) ? at->str(2) : at->str(1));
      // A thread can also wait in an outer function, or before it calls one, or in the child that
      // posix_spawn() makes.
      const bool outer = functions.empty() ? stack.find(";start_thread;") != stack.npos ||
                                                 stack.find(";__spawni_child;") != stack.npos ||
                                                 stack.ends_with(";__clone3;")
                                           : functions == "f_switch";
      const bool begins = outer || (own[thread] + ";").starts_with(functions + ";");
      EXPECT_TRUE(begins) << own[thread] << "\n" << line;
      if (functions == own[thread])
        equal[thread] += ns;
    }
    for (const auto &[thread, functions] : own) {
      EXPECT_GT(equal[thread], all[thread] / 2) << thread << " " << functions;
      EXPECT_LT(missing[thread], all[thread] / 2) << thread;
    }
  }
};

/// It needs no compiler.
TEST_F(OwnStacks, AreThoseOfAProgramThatIsThere) {
  expect_stacks_of({installed("own_stacks"), kRounds});
}

TEST_F(OwnStacks, AreThoseThatTheProgramHasWrittenDown) {
  expect_own_stacks("-O0");
}

TEST_F(OwnStacks, AreTheSameWithoutFramePointers) {
  expect_own_stacks("-O2 -fomit-frame-pointer");
}

TEST_F(OwnStacks, AreTheSameInAStaticProgram) {
  expect_own_stacks("-O3 -static -fno-omit-frame-pointer");
}

TEST_F(OwnStacks, AHandlerThatHasNotStartedIsNotTheFunctionBeforeIt) {
  record({compile(kStopsInHandler, "-O1")}, {"--stacks=user"});
  size_t found = 0;
  const std::regex behind_handler(
      R"(;(__restore_rt|\[vdso\]\+0x[0-9a-f]+);handler )"); // arm64: vdso
  for (const std::string &stack : folded()) {
    EXPECT_EQ(stack.find(";before"), stack.npos) << stack;
    found += std::regex_search(stack, behind_handler);
  }
  EXPECT_GT(found, 0u);
}

} // namespace ovnitrace::test
