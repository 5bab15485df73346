// SPDX-License-Identifier: BSD-2-Clause
// --stacks reach the start of their thread, with -p and -a too, and through libraries that a
// program loads while it is recorded.
#include "tests/e2e/support/e2e.h"

namespace ovnitrace::test {

namespace {

/// Waits until a file exists, loads a library, and blocks in functions that the library calls: in
/// main() and in another thread.
constexpr char kProgram[] = R"(
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>
#include <cstdio>
#include <thread>
extern "C" __attribute__((noipa)) void nap() {
  const timespec time = {0, 1000000};
  nanosleep(&time, nullptr);
  asm volatile("");
}
using Through = void (*)(void (*)());
Through through;
__attribute__((noipa)) void work() {
  for (int n = 0; n < 300; n++)
    through(nap);
}
int main(int, char **argv) {
  puts("runs");
  fflush(stdout);
  while (access(argv[1], F_OK) != 0)
    nap();
  void *library = dlopen(argv[2], RTLD_NOW);
  if (!library || !(through = (Through)dlsym(library, "through")))
    return 1;
  std::thread other(work);
  work();
  other.join();
}
)";

constexpr char kLibrary[] = R"(
extern "C" __attribute__((noipa)) void through(void (*nap)()) {
  char room[200];
  asm volatile("" : : "r"(room) : "memory");
  nap();
  asm volatile("");
}
)";

} // namespace

class StackReach : public CaptureTest {
protected:
  /// Returns the command line of the program, which goes on when the file `go` exists.
  std::vector<std::string> compiled() {
    write_text(path("reach.cpp"), kProgram);
    write_text(path("library.cpp"), kLibrary);
    const Outcome made =
        run({.argv = {"sh", "-c",
                      "cd '" + directory() +
                          "' && g++ -O2 -pthread -o reach reach.cpp -ldl && "
                          "g++ -O2 -fomit-frame-pointer -shared -fPIC -o library.so library.cpp"}});
    EXPECT_EQ(made.status(), 0) << made.err;
    return {path("reach"), path("go"), path("library.so")};
  }
  /// Looks at the stacks that blocked in nap(), called by the library. A stack that does not reach
  /// the start of its thread must say so, and those are the first few at most.
  void expect_reached() {
    const Outcome folded =
        run({.argv = {ovnitrace(), "export", "--to", "folded", trace(), "-o", "-"}});
    EXPECT_EQ(folded.status(), 0) << folded.err;
    uint64_t by_main = 0, by_thread = 0, missing = 0;
    for (const std::string &stack : lines_of(folded.out)) {
      if (!stack.starts_with("reach;reach;") || stack.find(";nap;") == stack.npos)
        continue;
      const uint64_t ns = std::stoull(stack.substr(stack.rfind(' ')));
      if (stack.find("[frames missing]") != stack.npos)
        missing += ns;
      else if (stack.find(";_start;") != stack.npos &&
               stack.find(";main;work;through;nap;") != stack.npos)
        by_main += ns;
      else if (stack.find(";start_thread;") != stack.npos &&
               stack.find(";work;through;nap;") != stack.npos)
        by_thread += ns;
      else
        EXPECT_NE(stack.find(";main;nap;"), stack.npos) << "it waited for the file: " << stack;
    }
    const uint64_t least = 300 * 1'000'000 / 2;
    EXPECT_GT(by_main, least) << folded.out;
    EXPECT_GT(by_thread, least) << folded.out;
    EXPECT_LT(missing, (by_main + by_thread) / 10) << folded.out;
  }
  void go() { write_text(path("go"), ""); }
};

TEST_F(StackReach, AStartedProgramHasStacks) {
  const std::vector<std::string> program = compiled();
  go();
  record(program, {"--stacks"});
  expect_reached();
}

TEST_F(StackReach, AProcessThatRunsAlreadyHasStacks) {
  Process program({.argv = compiled()});
  ASSERT_TRUE(eventually([&] { return program.out() == "runs\n"; }, "it waits"));
  Process tracer(record_command(trace(), {}, {"-p", std::to_string(program.pid()), "--stacks"}));
  ASSERT_TRUE(eventually([&] { return exists(trace() + "/trace.json"); }, "the capture begins"));
  go();
  EXPECT_EQ(tracer.wait().status(), 0);
  expect_reached();
}

TEST_F(StackReach, TheWholeMachineHasStacks) {
  Process program({.argv = compiled()});
  ASSERT_TRUE(eventually([&] { return program.out() == "runs\n"; }, "it waits"));
  const std::string wait = "touch '" + path("go") + "'; while kill -0 " +
                           std::to_string(program.pid()) + "; do sleep 0.1; done";
  Process tracer(record_command(trace(), {"sh", "-c", wait}, {"-a", "--stacks"}));
  EXPECT_EQ(program.wait().status(), 0);
  EXPECT_EQ(tracer.wait().status(), 0);
  expect_reached();
}

} // namespace ovnitrace::test
