// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/output/output_file.h"

#include "emulator/base/error.h"
#include "emulator/output/atomic_directory.h"
#include "emulator/output/atomic_file.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/work_in.h"

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ovnitrace {
namespace {

using test::gunzip;

using Format = OutputFile::Format;

/// Appends `size` bytes that say where they are.
std::string fill(OutputFile &file, size_t size) {
  std::string all;
  while (all.size() < size) {
    std::string part = std::to_string(all.size()) + "\n";
    char *at = file.reserve(64);
    memcpy(at, part.data(), part.size());
    file.commit(at + part.size());
    all += part;
  }
  return all;
}

TEST(OutputFile, KeepsTheOrderOverManyBuffersAndRewritesTheHeader) {
  test::TempDir dir;
  for (size_t size : {size_t(0), size_t(1), size_t(256 * 1024), size_t(5000000)}) {
    OutputFile file(dir / "f", "head 000\n", Format::plain);
    std::string body = fill(file, size);
    file.close("head 123\n");
    ASSERT_TRUE(test::text_of(dir / "f") == "head 123\n" + body) << size;
  }
}

TEST(OutputFile, AGzipFileHasTheHeaderThatCloseGives) {
  test::TempDir dir;
  std::string header(200000, 'x'); // more than one stored block of deflate
  for (size_t size : {size_t(0), size_t(1), size_t(3000000)}) {
    OutputFile file(dir / "f.gz", header, Format::gzip);
    std::string body = fill(file, size);
    std::string other(header.size(), 'y');
    file.close(other);
    ASSERT_TRUE(gunzip(dir / "f.gz") == other + body) << size;
  }
}

TEST(OutputFile, RefusesAHeaderOfAnotherSize) {
  test::TempDir dir;
  OutputFile file(dir / "f", "head\n", Format::plain);
  EXPECT_EQ(test::failure_from([&] { file.close("longer head\n"); }),
            "internal error: the header of a trace changed its size");
  EXPECT_FALSE(std::filesystem::exists(dir / "f"));
}

TEST(OutputFile, ReplacesOnlyAtCloseAndLeavesNothingElse) {
  test::TempDir dir;
  std::ofstream(dir / "f") << "old";
  {
    OutputFile file(dir / "f", "new\n", Format::plain);
    fill(file, 2000000);
    EXPECT_EQ(test::text_of(dir / "f"), "old");
  } // aborted
  EXPECT_EQ(test::text_of(dir / "f"), "old");
  OutputFile file(dir / "f", "new\n", Format::plain);
  file.close("NEW\n");
  EXPECT_EQ(test::text_of(dir / "f"), "NEW\n");
  auto entries = std::filesystem::directory_iterator(dir.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST(OutputFile, ReplacesASymbolicLinkInsteadOfFollowingIt) {
  test::TempDir dir;
  std::ofstream(dir / "precious") << "keep";
  std::filesystem::create_symlink(dir / "precious", dir / "f");
  OutputFile file(dir / "f", "new\n", Format::plain);
  file.close("new\n");
  EXPECT_EQ(test::text_of(dir / "precious"), "keep");
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(dir / "f")));
}

TEST(OutputFile, ReportsAFullDiskAtTheNextCallOrAtClose) {
  if (access("/dev/full", W_OK) != 0)
    GTEST_SKIP() << "no /dev/full here";
  auto expect_full = [](auto &&work) {
    try {
      work();
      FAIL() << "nothing was thrown";
    } catch (const Error &error) {
      std::string what = error.what();
      EXPECT_NE(what.find("/dev/full"), std::string::npos) << what;
      EXPECT_NE(what.find(strerror(ENOSPC)), std::string::npos) << what;
      EXPECT_NE(what.find("free some space"), std::string::npos) << what;
    }
  };
  expect_full([] { OutputFile("/dev/full", "head\n", Format::plain); });
  for (Format format : {Format::plain, Format::gzip})
    expect_full([format] { OutputFile("/dev/full", "head\n", format); });
}

/// The header fits, what comes later does not: the size of files is limited.
class OutputFileLimitTest : public testing::TestWithParam<Format> {
protected:
  OutputFileLimitTest() {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = {100000, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    handler_ = signal(SIGXFSZ, SIG_IGN);
  }
  ~OutputFileLimitTest() override {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }

  rlimit before_;
  sighandler_t handler_;
  test::TempDir dir;
};

TEST_P(OutputFileLimitTest, KeepsTheErrorOfTheThreadForTheNextCall) {
  {
    OutputFile file(dir / "f", "head\n", GetParam());
    EXPECT_THROW(fill(file, 50000000), Error);
    EXPECT_THROW(fill(file, 50000000), Error); // and again: it does not hang
    EXPECT_THROW(file.close("head\n"), Error);
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST_P(OutputFileLimitTest, KeepsTheErrorOfTheLastBufferForClose) {
  {
    std::string header(99900, 'h');
    OutputFile file(dir / "f", header, GetParam());
    fill(file, 1000); // fits into a buffer, not into the file
    EXPECT_THROW(file.close(header), Error);
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

/// What is written after a failure would lie behind a hole.
TEST_P(OutputFileLimitTest, WritesNothingMoreAfterAFailureThatIsOver) {
  {
    OutputFile file(dir / "f", "head\n", GetParam());
    EXPECT_THROW(fill(file, 50000000), Error);
    setrlimit(RLIMIT_FSIZE, &before_); // from now on there is room
    for (int n = 0; n < 100; n++)      // whatever the thread has done meanwhile
      ASSERT_THROW(fill(file, 3000000), Error) << n;
    EXPECT_THROW(file.close("head\n"), Error);
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

INSTANTIATE_TEST_SUITE_P(Formats, OutputFileLimitTest,
                         testing::Values(Format::plain, Format::gzip));

TEST(AtomicFile, ErrorsNameTheCallAndTheFile) {
  test::TempDir dir;
  try {
    write_text_file(dir / "missing/f", "text");
    FAIL() << "nothing was thrown";
  } catch (const Error &error) {
    EXPECT_EQ(error.what(), "cannot create " + dir / "missing/f" +
                                ": No such file or directory; choose another place with -o");
  }
}

// Renaming would put a file in its place.
TEST(AtomicFile, RefusesLinksToWhatIsNoFile) {
  test::TempDir dir;
  const std::string pipe = dir.path() + "/pipe", link = dir.path() + "/link",
                    standard = dir.path() + "/stdout";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(symlink(pipe.c_str(), link.c_str()), 0);
  ASSERT_EQ(symlink("/proc/self/fd/1", standard.c_str()), 0);
  for (const std::string &path : {link, standard}) {
    EXPECT_EQ(test::failure_from([&] { AtomicFile{OutputPlace(path)}; }),
              path + " is no regular file: name one, which appears when it is complete");
    EXPECT_FALSE(std::filesystem::is_regular_file(std::filesystem::symlink_status(path))) << path;
  }
}

TEST(AtomicFile, KeepsTheModeOfTheFileThatItReplaces) {
  test::TempDir dir;
  const std::string path = dir.path() + "/private";
  std::ofstream(path) << "old";
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  AtomicFile file{OutputPlace(path)};
  file.write("new");
  file.commit();
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

// As on a file system that has no files without a name.
TEST(AtomicFile, MayHaveANameFromTheStart) {
  test::TempDir dir;
  AtomicFile file{OutputPlace(dir / "f"), AtomicFile::Named::yes};
  file.write("text");
  EXPECT_EQ(test::text_of(file.temporary()), "text");
  file.commit();
  EXPECT_EQ(test::text_of(dir / "f"), "text");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
}

TEST(AtomicFile, GivesBackTheSpaceThatItSetAside) {
  test::TempDir dir;
  const std::string text(100000, 'x');
  AtomicFile file{OutputPlace(dir / "f")};
  file.write("head");
  file.set_aside(64 << 20);
  file.write(text);
  file.commit();
  EXPECT_EQ(test::text_of(dir / "f"), "head" + text);
  struct stat status;
  ASSERT_EQ(stat((dir / "f").c_str(), &status), 0);
  EXPECT_LT(status.st_blocks * 512, 2 << 20);
}

TEST(AtomicFile, LeavesNoFileIfItsProcessIsKilled) {
  test::TempDir dir;
  const pid_t child = fork();
  if (child == 0) {
    AtomicFile file{OutputPlace(dir / "f")};
    file.write("text");
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

/// Makes outputs that must have names, in a child that waits to be killed.
class Unfinished {
public:
  explicit Unfinished(const std::string &directory) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    child_ = fork();
    if (child_ == 0) {
      AtomicFile file{OutputPlace(directory + "/f"), AtomicFile::Named::yes};
      AtomicDirectory other(directory + "/d");
      write_text_file(other.file("part"), "text");
      (void)!write(ready[1], "", 1);
      pause();
    }
    char byte;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~Unfinished() {
    ::kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

private:
  pid_t child_ = 0;
};

TEST(AtomicFile, RemovesFilesThatAKilledProcessLeft) {
  test::TempDir dir;
  const auto count = [&] {
    return std::distance(std::filesystem::directory_iterator(dir.path()), {});
  };
  const auto write_both = [&] {
    AtomicFile file{OutputPlace(dir / "f"), AtomicFile::Named::yes};
    file.commit();
    std::filesystem::remove_all(dir / "d");
    AtomicDirectory(dir / "d").commit();
  };
  std::ofstream(dir / ".f.tmp-is_mine") << "no name of ours";
  std::ofstream(dir / ".g.tmp-1") << "of another output";
  {
    const Unfinished alive(dir.path());
    EXPECT_EQ(count(), 4);
    write_both();
    EXPECT_EQ(count(), 6) << "it is still written";
  }
  EXPECT_EQ(count(), 6) << "killed";
  write_both();
  EXPECT_EQ(count(), 4);
}

TEST(AtomicFile, RefusesADirectoryAtOnce) {
  test::TempDir dir;
  EXPECT_EQ(test::failure_from([&] { AtomicFile{OutputPlace(dir.path())}; }),
            "cannot write " + dir.path() + ": it is a directory; name a file with -o");
}

TEST(AtomicFile, ThatCannotGetItsNameIsGone) {
  test::TempDir dir;
  {
    AtomicFile file{OutputPlace(dir / "f")};
    file.write("text");
    std::filesystem::create_directory(dir / "f");
    EXPECT_EQ(test::failure_from([&] { file.commit(); }),
              "cannot rename the finished file to " + dir / "f" +
                  ": Is a directory; choose another place with -o");
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir / "f"));
  auto entries = std::filesystem::directory_iterator(dir.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

// A directory cannot be renamed to these, which is too late to find out at the end.
TEST(AtomicDirectory, RefusesADirectoryThatItCannotReplace) {
  test::TempDir dir;
  std::filesystem::create_directory(dir / "empty");
  std::filesystem::create_directory_symlink(dir / "empty", dir / "link");
  write_text_file(dir / "file", "");
  const auto refused = [&](const std::string &name) {
    return test::failure_from([&] { AtomicDirectory(dir / name); });
  };
  for (const char *name : {"link", "file"})
    EXPECT_EQ(refused(name),
              dir / name + " exists already; remove it or name another directory with -o");
  EXPECT_EQ(refused("empty/.."),
            dir / "empty/.." + " exists already; remove it or name another directory with -o");
  EXPECT_EQ(refused("empty/."), "cannot replace the directory " + dir / "empty/." +
                                    " from inside; name a new one with -o");
  EXPECT_TRUE(std::filesystem::is_empty(dir / "empty"));
  AtomicDirectory(dir / "empty").commit();
}

TEST(AtomicFile, WorksOnANameWithoutADirectory) {
  test::TempDir dir;
  const test::WorkIn here(dir.path());
  write_text_file("f", "text");
  EXPECT_EQ(test::text_of(dir / "f"), "text");
}

TEST(AtomicDirectory, IsMadeInADirectoryThatExistsWhateverSlashesFollowItsName) {
  test::TempDir dir;
  EXPECT_EQ(test::failure_from([&] { AtomicDirectory(dir / "missing/d"); }),
            "cannot make the directory " + dir / "missing/d" +
                ": No such file or directory; choose another place with -o");
  AtomicDirectory made(dir / "d//");
  write_text_file(made.file("part"), "text");
  EXPECT_FALSE(std::filesystem::exists(dir / "d"));
  made.commit();
  EXPECT_EQ(test::text_of(dir / "d/part"), "text");
  struct stat status;
  ASSERT_EQ(stat((dir / "d").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0755u);
}

TEST(AtomicDirectory, ThatIsNotCommittedIsGone) {
  test::TempDir dir;
  {
    AtomicDirectory aborted(dir / "d");
    write_text_file(aborted.file("part"), "text");
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  AtomicDirectory late(dir / "d");
  std::filesystem::create_directory(dir / "d");
  std::ofstream(dir / "d/other") << "x";
  EXPECT_EQ(test::failure_from([&] { late.commit(); }).find("cannot rename " + dir / ".d.tmp-"),
            0u);
}

} // namespace
} // namespace ovnitrace
