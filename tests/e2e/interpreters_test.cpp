// SPDX-License-Identifier: BSD-2-Clause
// --stacks of interpreters and JIT compilers, with the switches that docs/stacks.md names.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <unistd.h>

#include <algorithm>
#include <set>

namespace ovnitrace::test {

class Interpreters : public CaptureTest {
protected:
  bool has(const std::string &program) {
    return run({.argv = {"sh", "-c", "command -v " + program}}).status() == 0;
  }
  ~Interpreters() override {
    for (const std::string &pid : pids_)
      unlink(("/tmp/perf-" + pid + ".map").c_str());
  }
  /// The folded stacks with this function, each from "program (pid)" on.
  std::vector<std::string> stacks_with(const std::string &function) {
    const Outcome folded = run(
        {.argv = {ovnitrace(), "export", "--to", "folded", "--per-thread", trace(), "-o", "-"}});
    EXPECT_EQ(folded.status(), 0) << folded.err;
    std::vector<std::string> found;
    for (const std::string &line : lines_of(folded.out)) {
      const size_t pid = line.find('(') + 1;
      pids_.insert(line.substr(pid, line.find(')') - pid));
      if (line.find(function) != line.npos)
        found.push_back(line);
    }
    return found;
  }
  /// Whether one of these has all the parts, in their order.
  static bool any_has(const std::vector<std::string> &stacks,
                      const std::vector<std::string> &parts) {
    return std::any_of(stacks.begin(), stacks.end(), [&](const std::string &stack) {
      size_t at = 0;
      for (const std::string &part : parts)
        if ((at = stack.find(part, at)) == stack.npos)
          return false;
      return true;
    });
  }

  /// Before version 20, Debian's Node.js has builtins without symbols, behind which nothing is
  /// seen.
  int version_of_node() {
    return std::stoi(run({.argv = {"node", "-p", "process.versions.node"}}).out);
  }

private:
  std::set<std::string> pids_;
};

TEST_F(Interpreters, NodeNamesItsFunctionsWithItsSwitches) {
  if (!has("node"))
    GTEST_SKIP() << "node (nodejs) is not installed";
  write_text(path("app.js"), R"(
const word = new Int32Array(new SharedArrayBuffer(4));
function innerNap() { Atomics.wait(word, 0, 0, 1); }
function outerWork() { innerNap(); }
for (let n = 0; n < 300; n++) outerWork();
)");
  // It writes a log into the current directory.
  record({"sh", "-c",
          "cd '" + directory() +
              "' && exec node --perf-basic-prof --interpreted-frames-native-stack app.js"},
         {"--stacks=user"});
  const auto stacks = stacks_with("innerNap");
  if (version_of_node() < 20) {
    EXPECT_TRUE(any_has(stacks_with("AtomicsWait"), {";[frames missing];", "AtomicsWait"}));
    EXPECT_EQ(stacks.size(), 0u) << "docs/stacks.md says that it shows none";
    return;
  }
  EXPECT_TRUE(any_has(stacks, {"outerWork", ";[frames missing];", "innerNap"}))
      << "of " << stacks.size() << " stacks";
}

TEST_F(Interpreters, JavaNamesItsCompiledMethodsWithItsSwitches) {
  if (!has("javac"))
    GTEST_SKIP() << "javac (a JDK) is not installed";
  write_text(path("App.java"), R"(
public class App {
  static void innerNap() throws Exception { Thread.sleep(1); }
  static void outerWork() throws Exception { for (int n = 0; n < 400; n++) innerNap(); }
  public static void main(String[] none) throws Exception { outerWork(); }
}
)");
  ASSERT_EQ(run({.argv = {"javac", "-d", directory(), path("App.java")}}).status(), 0);
  record({"java", "-Xcomp", "-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,App::*",
          "-XX:CompileCommand=dontinline,App::*", "-XX:+PreserveFramePointer",
          "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit", "-cp", directory(), "App"},
         {"--stacks=user"});
  const auto stacks = stacks_with("App.innerNap");
  EXPECT_TRUE(any_has(stacks, {"start_thread", "JavaMain", "App.outerWork", ";[frames missing];",
                               "App.innerNap", "JVM_Sleep"}))
      << "of " << stacks.size() << " stacks";
}

/// Without a switch, the stack is complete, with the functions of the interpreter.
TEST_F(Interpreters, PythonHasTheFunctionsOfItsInterpreter) {
  const std::string python = "/usr/bin/python3";
  if (!exists(python))
    GTEST_SKIP() << "python3 is not installed";
  record({python, "-c", "import time\nfor n in range(200): time.sleep(0.001)"}, {"--stacks=user"});
  const auto stacks = stacks_with("PyEval_EvalFrameDefault");
  EXPECT_TRUE(any_has(stacks, {"_start", "Py_BytesMain", "PyEval_EvalFrameDefault", "nanosleep"}))
      << "of " << stacks.size() << " stacks";
}

} // namespace ovnitrace::test
