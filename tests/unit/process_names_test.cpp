// SPDX-License-Identifier: BSD-2-Clause
// -p NAME: which processes it finds.
#include "tests/unit/support/temp_dir.h"
#include "user/cli/process_names.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ovnitrace {
namespace {

class ProcessNames : public ::testing::Test {
protected:
  void process(const std::string &pid, const std::string &comm, const std::string &cmdline) {
    std::filesystem::create_directory(dir / pid);
    std::ofstream(dir / (pid + "/comm")) << comm << '\n';
    std::ofstream(dir / (pid + "/cmdline")) << cmdline;
  }
  std::string found(const std::string &name) {
    std::string list;
    for (const NamedProcess &process : processes_named(name, dir.path()))
      list += process.name + " " + std::to_string(process.pid) + ";";
    return list;
  }
  test::TempDir dir;
};

TEST_F(ProcessNames, AreTheKernelsAndThoseOfThePrograms) {
  process("12", "nginx", std::string("nginx: worker\0-x", 16));
  process("9", "nginx", std::string("/usr/sbin/nginx\0", 16));
  process("7", "gnome-terminal-", std::string("/usr/libexec/gnome-terminal-server\0", 35));
  process("3", "kworker/0:1", "");
  process("self", "nginx", "nginx");
  EXPECT_EQ(found("nginx"), "nginx 9;nginx 12;");
  EXPECT_EQ(found("gnome-terminal-server"), "gnome-terminal- 7;");
  EXPECT_EQ(found("ngin?"), "nginx 9;nginx 12;");
  EXPECT_EQ(found("kworker*"), "kworker/0:1 3;");
  EXPECT_EQ(found("ngin"), "");
  EXPECT_EQ(found("*"), "kworker/0:1 3;gnome-terminal- 7;nginx 9;nginx 12;");
}

TEST_F(ProcessNames, AreNotOurOwnNorOfWhatHasEnded) {
  const std::string self = std::to_string(getpid());
  process(self, "tracer", "tracer");
  EXPECT_EQ(found("tracer"), "");
  std::filesystem::create_directory(dir / "5"); // without files: it has just ended
  EXPECT_EQ(found("*"), "");
  EXPECT_TRUE(processes_named("*", dir / "no").empty());
}

TEST_F(ProcessNames, AProgramWithoutAPathIsFoundToo) {
  process("4", "python3", std::string("app.py\0-x", 9));
  EXPECT_EQ(found("app.py"), "python3 4;");
  EXPECT_EQ(found("-x"), "");
}

} // namespace
} // namespace ovnitrace
