// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace convert`: where it writes when nobody says where.
#include "emulator/cli/commands.h"
#include "emulator/cli/run.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace fs = std::filesystem;

namespace ovnitrace::test {
namespace {

class ConvertCommand : public ::testing::Test {
protected:
  ConvertCommand() {
    for (const char *name : {"a", "b"}) {
      fs::create_directory(dir / name);
      TraceBuilder trace(dir / name);
      trace.json(R"({"version": 1})");
      trace.cpu(0).at(100).start().id(1, 10, 10, "app").dispatch(1).at(900).sleep(1).stop();
      trace.write();
    }
  }
  /// What it says.
  std::string run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"ovnitrace", "convert"});
    std::vector<char *> argv;
    for (std::string &argument : arguments)
      argv.push_back(argument.data());
    const RootApp app("", "ovnitrace");
    add_convert(app);
    testing::internal::CaptureStderr();
    status = run_cli(app, int(argv.size()), argv.data());
    return testing::internal::GetCapturedStderr();
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto &entry : fs::directory_iterator(dir.path()))
      found.insert(entry.path().filename());
    return found;
  }

  TempDir dir;
  int status = -1;
};

TEST_F(ConvertCommand, QuietOnlyWarns) {
  EXPECT_NE(run({dir / "a"}).find("thread.prv"), std::string::npos);
  EXPECT_EQ(run({"-q", dir / "a"}), "");
  fs::resize_file(dir / "a/cpu0000.ftr", fs::file_size(dir / "a/cpu0000.ftr") - 8);
  EXPECT_NE(run({"-q", dir / "a"}).find("warning: "), std::string::npos);
  EXPECT_EQ(status, 1);
}

TEST_F(ConvertCommand, ASectionTakesTheCriticalPathOfTheConfiguration) {
  EXPECT_NE(run({"--section", "7", dir / "a"}).find("--section needs --critical-path"),
            std::string::npos);
  EXPECT_EQ(status, 2);
  fs::create_directory(dir / "ovnitrace");
  std::ofstream(dir / "ovnitrace/config") << "critical-path = true\n";
  setenv("XDG_CONFIG_HOME", dir.path().c_str(), 1);
  const std::string said = run({"--section", "7", dir / "a"});
  unsetenv("XDG_CONFIG_HOME");
  EXPECT_NE(said.find("section"), std::string::npos) << said;
  EXPECT_EQ(said.find("needs"), std::string::npos) << said;
  EXPECT_EQ(said.find("requires"), std::string::npos) << said;
}

TEST_F(ConvertCommand, AWholeTraceIsWrittenBesideItsChunks) {
  run({dir / "a"});
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fs::exists(dir / "a/thread.prv"));
  EXPECT_EQ(names(), (std::set<std::string>{"a", "b"}));
}

TEST_F(ConvertCommand, APartOfATraceLeavesTheWholeTimelineAlone) {
  run({dir / "a"});
  const std::string whole = test::text_of(dir / "a/thread.prv"),
                    cpus = test::text_of(dir / "a/cpu.prv");
  ASSERT_FALSE(whole.empty());
  const std::vector<std::string> cuts[] = {{"--from", "300ns"}, {"--to", "600ns"}, {"--pid", "10"},
                                           {"--tid", "10"},     {"--comm", "app"}, {"--cpu", "0"}};
  for (const auto &cut : cuts) {
    fs::remove_all(dir / "a.cut.d");
    std::vector<std::string> arguments = cut;
    arguments.push_back((dir / "a") + "/");
    const std::string said = run(arguments);
    EXPECT_EQ(status, 0) << said;
    EXPECT_NE(said.find((dir / "a.cut.d") + ": thread.prv"), std::string::npos) << said;
    EXPECT_TRUE(fs::exists(dir / "a.cut.d/thread.prv")) << cut[0];
    EXPECT_TRUE(fs::exists(dir / "a.cut.d/cfg/thread/state.cfg")) << cut[0];
    EXPECT_EQ(test::text_of(dir / "a/thread.prv"), whole) << cut[0];
    EXPECT_EQ(test::text_of(dir / "a/cpu.prv"), cpus) << cut[0];
  }
}

TEST_F(ConvertCommand, APartGoesIntoTheGivenDirectory) {
  run({dir / "a", "--from", "300ns", "-o", dir / "part"});
  EXPECT_EQ(status, 0);
  EXPECT_EQ(names(), (std::set<std::string>{"a", "b", "part"}));
}

TEST_F(ConvertCommand, APartOfTheTraceInTheWorkingDirectoryIsBesideIt) {
  const fs::path before = fs::current_path();
  fs::current_path(dir / "a");
  run({".", "--from", "300ns"});
  fs::current_path(before);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(names(), (std::set<std::string>{"a", "a.cut.d", "b"}));
}

TEST_F(ConvertCommand, SeveralTracesNeedAPlaceOfTheirOwn) {
  const std::string said = run({dir / "a", dir / "b"});
  EXPECT_EQ(status, 2);
  EXPECT_NE(said.find("name a directory for it with -o DIR"), std::string::npos) << said;
  EXPECT_EQ(names(), (std::set<std::string>{"a", "b"}));
  EXPECT_FALSE(fs::exists(dir / "a/thread.prv"));
  run({dir / "a", dir / "b", "-o", dir / "both"});
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fs::exists(dir / "both/thread.prv"));
}

} // namespace
} // namespace ovnitrace::test
