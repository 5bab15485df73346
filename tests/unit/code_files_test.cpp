// SPDX-License-Identifier: BSD-2-Clause
// Files of code are read as they were when a process mapped them.
#include "emulator/base/regular_file.h"
#include "tests/unit/support/debug_data.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "user/launch/file_limit.h"
#include "user/stacks/code_files.h"
#include "user/stacks/debuginfod.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

namespace ovnitrace {
namespace {

class CodeFilesTest : public testing::Test {
public:
  static std::string text_of(int fd) {
    char text[100];
    const ssize_t got = pread(fd, text, sizeof(text), 0);
    return std::string(text, got > 0 ? size_t(got) : 0);
  }

protected:
  static CodeFile write(const std::string &path, const std::string &text) {
    std::ofstream(path) << text;
    struct stat status = {};
    stat(path.c_str(), &status);
    return {path, status.st_ino, status.st_dev};
  }
  CodeFile write(const std::string &text) { return write(path_, text); }
  struct stat status() const {
    struct stat status = {};
    stat(path_.c_str(), &status);
    return status;
  }
  void open(const CodeFile &file) { files_->open({{&file, {uint32_t(getpid()), 0}}}); }

  test::TempDir dir_;
  const std::string path_ = dir_ / "code";
  std::optional<CodeFiles> files_;
};

TEST_F(CodeFilesTest, AreKnownAfterTheyAreReplaced) {
  const CodeFile file = write("old");
  files_.emplace();
  open(file);
  std::filesystem::remove(path_);
  write("new");
  open(file);
  const CodeFiles::Opened found = files_->find(file);
  EXPECT_EQ(text_of(found.files.file), "old");
  EXPECT_FALSE(found.changed);
}

TEST_F(CodeFilesTest, AreNotReadIfTheyWereReplacedBefore) {
  CodeFile file = write("old");
  file.inode++;
  files_.emplace();
  open(file);
  EXPECT_TRUE(files_->find(file).changed);
  EXPECT_EQ(files_->find(file).files.file, -1);
}

/// The file system can give a new file the inode of the old one.
TEST_F(CodeFilesTest, AreNotReadIfTheyAreYoungerThanTheirMapping) {
  files_.emplace();
  const uint64_t now = clock_ns(CLOCK_REALTIME);
  CodeFile file;
  do // the clock of files ticks
    file = write("new");
  while (uint64_t(status().st_ctim.tv_sec) * 1'000'000'000 + uint64_t(status().st_ctim.tv_nsec) <=
         now + 1'000'000);
  open(file);
  EXPECT_TRUE(files_->find(file).changed);
  const CodeFile again = {file.path, file.inode, file.device + 1}; // mapped later
  files_->open({{&again, {0, monotonic_ns()}}});
  EXPECT_EQ(text_of(files_->find(again).files.file), "new");
}

TEST_F(CodeFilesTest, AreNotReadIfTheyAreOverwritten) {
  const CodeFile file = write("old");
  files_.emplace();
  open(file);
  const timespec times[2] = {{0, UTIME_OMIT}, {1, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
  EXPECT_TRUE(files_->find(file).changed);
  EXPECT_EQ(files_->find(file).files.file, -1);
}

TEST_F(CodeFilesTest, AreNotOpenedWithoutLimit) {
  raise_file_limit(CodeFiles::kMost);
  std::vector<CodeFile> files;
  for (size_t n = 0; n <= CodeFiles::kMost; n++) {
    std::ofstream(dir_ / std::to_string(n)) << n;
    struct stat status = {};
    stat((dir_ / std::to_string(n)).c_str(), &status);
    files.push_back({dir_ / std::to_string(n), status.st_ino, status.st_dev});
  }
  files_.emplace(); // from now on, a file that changes is another one
  std::vector<CodeFiles::Use> uses;
  for (const CodeFile &file : files)
    uses.push_back({&file, {}});
  files_->open(uses);
  EXPECT_GE(files_->find(files[10]).files.file, 0);
  EXPECT_EQ(files_->find(files.back()).files.file, -1);
  EXPECT_FALSE(files_->find(files.back()).changed);
}

/// The path can be one in a container that we may not look into.
TEST_F(CodeFilesTest, OfAnUnknownProcessAreTheFilesOfTheirPathsAndInodes) {
  const CodeFile file = write("text"), other = {path_, file.inode + 1, file.device};
  constexpr uint32_t kNobody = UINT32_MAX; // no process has this pid
  files_.emplace();
  files_->open({{&file, {kNobody, 0}}, {&other, {kNobody, 0}}});
  EXPECT_EQ(text_of(files_->find(file).files.file), "text");
  EXPECT_FALSE(files_->find(other).changed) << "it is another file";
  EXPECT_EQ(files_->find(other).files.file, -1);
}

/// What a process sees at a path is in its root folder, whatever links say.
TEST_F(CodeFilesTest, AreInsideTheRootOfTheirProcess) {
  const std::filesystem::path root = dir_ / "root";
  std::filesystem::create_directory(root);
  write("outside");
  std::ofstream(root / "inside") << "inside";
  std::filesystem::create_symlink(path_, root / "out");
  std::filesystem::create_symlink("/inside", root / "in");
  const UniqueFd folder(::open(root.c_str(), O_PATH | O_DIRECTORY));
  struct stat status;
  EXPECT_EQ(text_of(open_inside(folder.get(), "/in", status).get()), "inside");
  EXPECT_EQ(text_of(open_inside(folder.get(), "/../inside", status).get()), "inside");
  EXPECT_FALSE(open_inside(folder.get(), "/out", status));
  EXPECT_FALSE(open_inside(folder.get(), "/", status));
  EXPECT_FALSE(open_inside(folder.get(), "inside", status));
}

/// A process that has gone to a container.
class Contained {
public:
  explicit Contained(const std::function<bool()> &enter) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    pid_ = fork();
    if (pid_ == 0) {
      (void)!::write(ready[1], enter() ? "y" : "n", 1);
      for (;;)
        pause();
    }
    char can = 'n';
    EXPECT_EQ(read(ready[0], &can, 1), 1);
    close(ready[0]), close(ready[1]);
    there_ = can == 'y';
  }
  ~Contained() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  bool there() const { return there_; }

private:
  pid_t pid_ = -1;
  bool there_ = false;
};

/// The debug data of files that a process has mapped, which it finds before the process ends.
std::vector<std::string> debug_of(pid_t pid, const std::vector<CodeFile> &all) {
  CodeFiles files;
  std::vector<CodeFiles::Use> uses;
  for (const CodeFile &file : all)
    uses.push_back({&file, {uint32_t(pid), monotonic_ns()}});
  files.open(uses);
  files.look_into_containers();
  std::vector<std::string> texts;
  for (const CodeFile &file : all) {
    EXPECT_GE(files.find(file).files.file, 0) << file.path;
    texts.push_back(CodeFilesTest::text_of(files.find(file).files.debug));
  }
  return texts;
}
using Texts = std::vector<std::string>;

/// A container can end before names are asked for.
TEST_F(CodeFilesTest, OfAContainerAreOpenedWithTheirDebugData) {
  std::vector<CodeFile> files;
  for (const std::string name : {"one", "two"}) {
    files.push_back(write(dir_ / name, test::program_with_debug_link(name + ".debug")));
    std::ofstream(dir_ / name + ".debug") << name;
  }
  const Contained process([] { return unshare(CLONE_NEWNS) == 0; });
  if (process.there()) {
    EXPECT_EQ(debug_of(process.pid(), files), (Texts{"one", "two"}));
  }
  EXPECT_EQ(debug_of(getpid(), files), (Texts{"", ""})) << "it can be found later";
}

TEST_F(CodeFilesTest, OfAnotherRootFolderAreOpenedInIt) {
  const std::string root = dir_ / "root", folder = root + "/usr/lib/debug/.build-id/ab";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/cdef01.debug") << "debug";
  CodeFile file = write(root + "/code", test::program_with_debug_link("none"));
  file.path = "/code"; // as the process sees it
  const Contained process([&] { return chroot(root.c_str()) == 0; });
  if (!process.there())
    GTEST_SKIP() << "only root can change its root folder";
  EXPECT_EQ(debug_of(process.pid(), {file}), Texts{"debug"});
}

/// Such as one of another layer of the file system, which the kernel reports with our inode.
TEST_F(CodeFilesTest, AnotherFileAtThePathInAContainerIsNotTaken) {
  const std::string root = dir_ / "root";
  std::filesystem::create_directories(root + dir_.path());
  write(root + path_, test::program_with_debug_link("code.debug"));
  std::ofstream(root + dir_.path() + "/code.debug") << "debug";
  const CodeFile file = write(path_, test::program_with_debug_link("code.debug"));
  const Contained process([&] { return chroot(root.c_str()) == 0; });
  if (!process.there())
    GTEST_SKIP() << "only root can change its root folder";
  EXPECT_EQ(debug_of(process.pid(), {file}), Texts{""}) << "that is of the other file";
}

/// A program in place of debuginfod-find.
class DebugFetcherTest : public testing::Test {
protected:
  void SetUp() override {
    std::ofstream(dir_ / "debuginfod-find")
        << "#!/bin/sh\n[ \"$1 $2\" = 'debuginfo ab12' ] && echo '" + (dir_ / "data") + "'\n";
    std::ofstream(dir_ / "data") << "data";
    std::filesystem::permissions(dir_ / "debuginfod-find", std::filesystem::perms::owner_all);
    before_ = getenv("PATH");
    setenv("PATH", (dir_.path() + ":" + before_).c_str(), 1);
  }
  void TearDown() override {
    setenv("PATH", before_.c_str(), 1);
    unsetenv("DEBUGINFOD_URLS");
  }
  test::TempDir dir_;
  std::string before_;
};

TEST_F(DebugFetcherTest, OpensTheFileThatDebuginfodFindPrints) {
  DebugFetcher fetch([](const std::string &) { FAIL(); });
  struct stat status = {};
  const UniqueFd file = fetch("ab12");
  ASSERT_EQ(fstat(file.get(), &status), 0);
  EXPECT_EQ(status.st_size, 4);
  EXPECT_FALSE(fetch("ab13"));
}

TEST_F(DebugFetcherTest, OpensNothingIfDebuginfodFindFails) {
  DebugFetcher fetch([](const std::string &) { FAIL(); });
  std::ofstream(dir_ / "debuginfod-find") << "#!/bin/sh\necho '" + (dir_ / "data") + "'\nexit 1\n";
  EXPECT_FALSE(fetch("ab12"));
  std::ofstream(dir_ / "debuginfod-find")
      << "#!/bin/sh\necho '" + (dir_ / "data") + "'\necho more\n";
  EXPECT_TRUE(fetch("ab12")) << "the path is the first line";
}

/// sudo can leave the home of another user, and the cache is there.
TEST_F(DebugFetcherTest, HasTheHomeOfThisUserAndLimitedTime) {
  DebugFetcher fetch([](const std::string &) { FAIL(); });
  std::ofstream(dir_ / "debuginfod-find")
      << "#!/bin/sh\necho \"$HOME $DEBUGINFOD_MAXTIME\" >'" + (dir_ / "said") + "'\n";
  const std::string home = getenv("HOME") ? getenv("HOME") : "";
  setenv("HOME", "/somewhere/else", 1);
  unsetenv("DEBUGINFOD_MAXTIME");
  EXPECT_FALSE(fetch("ab12"));
  setenv("HOME", home.c_str(), 1);
  EXPECT_EQ(test::text_of(dir_ / "said"), getpwuid(geteuid())->pw_dir + std::string(" 120\n"));
}

/// The first of two settings counts.
TEST_F(DebugFetcherTest, HasTheTimeThatTheUserHasSet) {
  DebugFetcher fetch([](const std::string &) { FAIL(); });
  std::ofstream(dir_ / "debuginfod-find")
      << "#!/bin/sh\ntr '\\0' '\\n' </proc/$$/environ | grep -m1 ^DEBUGINFOD_MAXTIME= >'" +
             (dir_ / "said") + "'\n";
  setenv("DEBUGINFOD_MAXTIME", "7", 1);
  fetch("ab12");
  unsetenv("DEBUGINFOD_MAXTIME");
  EXPECT_EQ(test::text_of(dir_ / "said"), "DEBUGINFOD_MAXTIME=7\n");
}

TEST_F(DebugFetcherTest, ReadsNoKeysAndPrintsNothing) {
  DebugFetcher fetch([](const std::string &) { FAIL(); });
  std::ofstream(dir_ / "debuginfod-find")
      << "#!/bin/sh\necho 'in progress' >&2\necho '" + dir_.path() + "'/$(cat)\n";
  std::ofstream(dir_ / "keys") << "data";
  const UniqueFd keys(::open((dir_ / "keys").c_str(), O_RDONLY | O_CLOEXEC)),
      before(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  dup2(keys.get(), STDIN_FILENO);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(fetch("ab12"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  dup2(before.get(), STDIN_FILENO);
}

TEST_F(DebugFetcherTest, GetsNoMoreAfterItsTimeAndSaysSoOnce) {
  std::vector<std::string> warnings;
  DebugFetcher fetch([&](const std::string &text) { warnings.push_back(text); }, 0);
  EXPECT_TRUE(fetch("ab12")) << "it took no time before";
  EXPECT_TRUE(warnings.empty());
  EXPECT_FALSE(fetch("ab12"));
  EXPECT_FALSE(fetch("ab12"));
  EXPECT_EQ(warnings, std::vector<std::string>{
                          "--debuginfod: the servers took more than two minutes: the rest of the "
                          "debug data is not fetched"});
}

TEST_F(DebugFetcherTest, NeedsServers) {
  unsetenv("DEBUGINFOD_URLS");
  for (const bool empty : {false, true}) {
    if (empty)
      setenv("DEBUGINFOD_URLS", "", 1);
    try {
      check_debuginfod();
      ADD_FAILURE() << empty;
    } catch (const std::exception &error) {
      EXPECT_STREQ(
          error.what(),
          "--debuginfod: the environment variable DEBUGINFOD_URLS names no server; set it, "
          "and let sudo keep it: sudo --preserve-env=DEBUGINFOD_URLS ovnitrace …");
    }
  }
  setenv("DEBUGINFOD_URLS", "http://localhost:1", 1);
  EXPECT_NO_THROW(check_debuginfod());
}

} // namespace
} // namespace ovnitrace
