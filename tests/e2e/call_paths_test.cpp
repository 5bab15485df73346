// SPDX-License-Identifier: BSD-2-Clause
// --stacks: the stacks of a program that logs its own, however it was compiled.
#include "emulator/input/stacks.h"
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"
#include "tests/unit/support/project_file.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace ovnitrace::test {

namespace {

using Names = std::vector<std::string>;

/// One block, as the program logs it: its time in ns, and its functions from main() inward.
struct LoggedBlock {
  uint64_t from = 0, to = 0;
  Names path;
};

std::vector<LoggedBlock> parse_log(const std::string &text) {
  std::vector<LoggedBlock> blocks;
  std::istringstream lines(text);
  LoggedBlock block;
  for (std::string path; lines >> block.from >> block.to >> path;) {
    block.path.clear();
    std::istringstream names(path);
    for (std::string name; std::getline(names, name, ';');)
      if (!name.empty())
        block.path.push_back(name);
    blocks.push_back(block);
  }
  return blocks;
}

struct Verdict {
  int equal = 0, marked = 0;
  std::vector<std::string> wrong;
};

std::string joined(const Names &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ";") + name;
  return text;
}

} // namespace

class CallPaths : public CaptureTest {
protected:
  /// Compiles the program with these flags, and compares its stacks.
  Verdict compare(const std::string &flags) {
    write_text(path("call_paths.cpp"), project_file("tests/programs/call_paths.cpp"));
    const Outcome made = run({.argv = {"sh", "-c",
                                       "g++ -std=c++20 " + flags + " -o '" + path("call_paths") +
                                           "' '" + path("call_paths.cpp") + "'"}});
    EXPECT_EQ(made.status(), 0) << made.err;
    return compare_stacks(path("call_paths"));
  }
  /// Records the program, and compares each stack with its log.
  Verdict compare_stacks(const std::string &program) {
    const Outcome recorded = record({program, "2"}, {"--stacks=user", "--force"});
    return verdict(parse_log(recorded.out));
  }
  /// The first stacks at a place may have `[frames missing]`, until rules for them exist.
  void expect_true(const Verdict &verdict) {
    EXPECT_EQ(verdict.wrong, Names{});
    EXPECT_GE(verdict.equal, 250);
    EXPECT_LE(verdict.marked, verdict.equal / 10);
  }

private:
  Verdict verdict(const std::vector<LoggedBlock> &blocks) {
    std::set<std::string> functions;
    for (const LoggedBlock &block : blocks)
      functions.insert(block.path.begin(), block.path.end());
    const uint64_t begin = read_trace_json(trace()).begin;
    NoDiagnostics silent;
    const StackTable table = StackTable::read(trace(), silent);
    Verdict verdict;
    for (const DumpEvent &event : dump(trace())) {
      const uint64_t time = begin + event.time;
      const auto after = std::find_if(blocks.begin(), blocks.end(), [&](const LoggedBlock &block) {
        return block.from <= time && time <= block.to;
      });
      if (event.event != "EXT_stack" || !event.comm.starts_with("call_paths") ||
          after == blocks.end())
        continue;
      const auto number = uint32_t(std::stoul(event.detail("stack")));
      Names found;
      bool missing = false;
      for (const uint32_t index : table.frames(number)) {
        missing = missing || table.frame(index).missing;
        if (functions.contains(table.name(index)))
          found.insert(found.begin(), table.name(index));
      }
      if (missing)
        verdict.marked++;
      else if (found == after->path)
        verdict.equal++;
      else
        verdict.wrong.push_back(joined(found) + " and not " + joined(after->path) + ", thread " +
                                std::to_string(event.tid) + " at " + std::to_string(time) + " in " +
                                std::to_string(after->from) + " to " + std::to_string(after->to));
    }
    return verdict;
  }
};

TEST_F(CallPaths, AreTrueHoweverTheProgramWasCompiled) {
  for (const std::string flags : {"-O0", "-O1 -fno-omit-frame-pointer", "-O2", "-O3 -no-pie",
                                  "-O2 -static", "-Os -static-pie -fomit-frame-pointer"}) {
    SCOPED_TRACE(flags);
    expect_true(compare(flags));
  }
}

/// It needs no compiler.
TEST_F(CallPaths, AreTrueOfAProgramThatIsThere) {
  expect_true(compare_stacks(installed("call_paths")));
}

#if defined(__aarch64__)
/// The processor has to sign addresses, otherwise they are as they are.
TEST_F(CallPaths, AreTrueIfReturnAddressesAreSigned) {
  expect_true(compare_stacks(installed("call_paths_signed")));
}
#endif

/// A program without call-frame information, and without frame pointers.
TEST_F(CallPaths, SayWhereFramesMayBeMissing) {
  const Verdict verdict =
      compare("-O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-exceptions");
  EXPECT_EQ(verdict.wrong, Names{});
  EXPECT_GE(verdict.equal + verdict.marked, 250);
}

} // namespace ovnitrace::test
