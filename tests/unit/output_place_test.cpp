// SPDX-License-Identifier: BSD-2-Clause
// What somebody has planted where a conversion writes.
#include "emulator/base/error.h"
#include "emulator/output/atomic_file.h"
#include "tests/support/convert_directory.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::TempDir;
using test::TraceBuilder;

class Planted : public ::testing::Test {
protected:
  Planted() {
    TraceBuilder trace(dir_.path());
    trace.cpu(0).at(100).start().id(1, 7, 7, "app").dispatch(1).at(200).stop();
    trace.write();
  }
  void convert(OutputDirectory::Link link = OutputDirectory::Link::follow,
               const std::string &to = "") {
    ConvertOptions options;
    options.directory = to.empty() ? dir_.path() : to;
    options.link = link;
    convert_directory(dir_.path(), options, sink_);
  }
  void expect_refused(const std::string &path,
                      OutputDirectory::Link link = OutputDirectory::Link::follow,
                      const std::string &to = "") {
    try {
      convert(link, to);
      FAIL() << path << " was followed";
    } catch (const Error &error) {
      EXPECT_EQ(std::string(error.what())
                    .find("cannot write to the directory " + path + ": it is a symbolic link"),
                0u)
          << error.what();
    }
    EXPECT_TRUE(fs::is_empty(elsewhere_.path()));
  }

  TempDir dir_, elsewhere_;
  CollectingSink sink_;
};

TEST_F(Planted, LinksInPlaceOfTheFoldersAreNotFollowed) {
  fs::create_directory_symlink(elsewhere_.path(), dir_ / "cfg");
  expect_refused(dir_ / "cfg");
  fs::remove(dir_ / "cfg");
  fs::create_directory(dir_ / "cfg");
  fs::create_directory_symlink(elsewhere_.path(), dir_ / "cfg/thread");
  expect_refused(dir_ / "cfg/thread");
}

// What a file begins with says whether it may be removed.
TEST_F(Planted, NoLinkIsRead) {
  const OutputDirectory directory(dir_.path(), OutputDirectory::Link::refuse);
  std::ofstream(dir_ / "names") << "begin and more";
  fs::create_symlink(dir_ / "names", dir_ / "link");
  EXPECT_EQ(directory.start_of("names", 5), "begin");
  EXPECT_EQ(directory.start_of("link", 5), "");
  EXPECT_EQ(directory.start_of("missing", 5), "");
}

TEST_F(Planted, LinksInPlaceOfFilesAreReplaced) {
  for (const char *name : {"thread.prv", "cpu.prv", "thread.pcf", "cpu.row"})
    fs::create_symlink(elsewhere_ / "victim", dir_ / name);
  fs::create_directories(dir_ / "cfg/thread");
  fs::create_symlink(elsewhere_ / "victim", dir_ / "cfg/thread/state.cfg");
  convert();
  EXPECT_TRUE(fs::is_empty(elsewhere_.path()));
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(dir_ / "cfg/thread/state.cfg")));
}

TEST_F(Planted, ADirectoryInPlaceOfNamesLeavesNoTraceWithoutThem) {
  fs::create_directory(dir_ / "thread.pcf");
  EXPECT_THROW(convert(), Error);
  EXPECT_FALSE(fs::exists(dir_ / "thread.prv"));
}

// Opening a pipe that nobody reads would take for ever.
TEST_F(Planted, PipesAreReplaced) {
  fs::create_directories(dir_ / "cfg/cpu");
  const std::string names[] = {"thread.prv", "cpu.prv", "cpu.pcf", "thread.row", "cfg/cpu/pid.cfg"};
  for (const std::string &name : names)
    ASSERT_EQ(mkfifo((dir_ / name).c_str(), 0666), 0);
  convert();
  for (const std::string &name : names)
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(dir_ / name))) << name;
}

TEST_F(Planted, OnlyADirectoryThatTheCallerNamedMayBeALink) {
  const std::string link = dir_ / "link";
  fs::create_directory_symlink(elsewhere_.path(), link);
  expect_refused(link, OutputDirectory::Link::refuse, link);
  convert(OutputDirectory::Link::follow, link);
  EXPECT_TRUE(fs::exists(elsewhere_ / "thread.prv"));
  EXPECT_TRUE(fs::exists(elsewhere_ / "cfg/thread/state.cfg"));
}

TEST_F(Planted, AFileInPlaceOfAFolderIsReported) {
  std::ofstream(dir_ / "cfg") << "no folder";
  try {
    convert();
    FAIL() << "it is no folder";
  } catch (const Error &error) {
    EXPECT_EQ(std::string(error.what())
                  .find("cannot open the directory " + (dir_ / "cfg") + ": Not a directory"),
              0u)
        << error.what();
  }
}

// The directory is held: it does not matter what takes its name meanwhile.
TEST_F(Planted, AnotherDirectoryThatTakesItsNameGetsNothing) {
  const OutputDirectory out(dir_ / "out", OutputDirectory::Link::refuse);
  fs::rename(dir_ / "out", dir_ / "moved");
  fs::create_directory_symlink(elsewhere_.path(), dir_ / "out");
  write_text_file(out.below("cfg").file("a.cfg"), "text");
  EXPECT_TRUE(fs::is_empty(elsewhere_.path()));
  EXPECT_TRUE(fs::exists(dir_ / "moved/cfg/a.cfg"));
}

TEST_F(Planted, WhatCannotBeWrittenIsNamed) {
  fs::create_directory_symlink(elsewhere_.path(), dir_ / "cfg");
  const auto below = [&] {
    return test::failure_from(
        [&] { OutputDirectory(dir_.path(), OutputDirectory::Link::refuse).below("cfg"); });
  };
  EXPECT_EQ(below(), "cannot write to the directory " + dir_ / "cfg" +
                         ": it is a symbolic link, which is not followed; remove it or choose "
                         "another place with -o");
  fs::remove(dir_ / "cfg");
  std::ofstream(dir_ / "cfg") << "x";
  EXPECT_EQ(below(), "cannot open the directory " + dir_ / "cfg" +
                         ": Not a directory; choose another place with -o");
  EXPECT_EQ(test::failure_from(
                [&] { OutputDirectory(dir_ / "cfg/more", OutputDirectory::Link::refuse); }),
            "cannot make the directory " + dir_ / "cfg/more" + ": Not a directory");
  EXPECT_EQ(test::failure_from([] { names_in(-1); }),
            "cannot list a directory: Bad file descriptor");
  const OutputDirectory made(dir_ / "one/two", OutputDirectory::Link::refuse);
  made.remove("none");
  EXPECT_TRUE(made.names().empty());
  write_text_file(made.file("file"), "0123456789");
  EXPECT_EQ(made.names(), std::vector<std::string>{"file"});
  EXPECT_EQ(made.start_of("file", 20), "0123456789");
  EXPECT_EQ(made.start_of("file", 9), "012345678");
  fs::create_directory(dir_ / "one/two/folder");
  EXPECT_EQ(test::failure_from([&] { made.remove("folder"); }),
            "cannot remove " + dir_ / "one/two/folder" +
                ", which an earlier conversion has left: Is a directory");
  made.remove("file");
  EXPECT_FALSE(fs::exists(dir_ / "one/two/file"));
}

} // namespace
} // namespace ovnitrace
