// SPDX-License-Identifier: BSD-2-Clause
// Files of code are read as they were when a process mapped them.
#include "emulator/base/regular_file.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "user/launch/file_limit.h"
#include "user/stacks/code_files.h"
#include "user/stacks/debuginfod.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ovnitrace {
namespace {

class CodeFilesTest : public testing::Test {
protected:
  CodeFile write(const std::string &text) {
    std::ofstream(path_) << text;
    return {path_, status().st_ino, status().st_dev};
  }
  struct stat status() const {
    struct stat status = {};
    stat(path_.c_str(), &status);
    return status;
  }
  void open(const CodeFile &file) { files_->open({{&file, {uint32_t(getpid()), 0}}}); }
  static std::string text_of(int fd) {
    char text[100];
    const ssize_t got = pread(fd, text, sizeof(text), 0);
    return std::string(text, got > 0 ? size_t(got) : 0);
  }

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

TEST_F(DebugFetcherTest, NeedsServers) {
  unsetenv("DEBUGINFOD_URLS");
  EXPECT_THROW(check_debuginfod(), std::exception);
  setenv("DEBUGINFOD_URLS", "http://localhost:1", 1);
  EXPECT_NO_THROW(check_debuginfod());
}

} // namespace
} // namespace ovnitrace
