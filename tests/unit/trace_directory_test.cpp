// SPDX-License-Identifier: BSD-2-Clause
// The directory of a trace: which ones may be overwritten, what is removed, what is left alone.
#include "emulator/base/error.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "user/chunk/trace_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

namespace ovnitrace {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

class TraceDirectoryTest : public testing::Test {
protected:
  void add(const std::string &name, const std::string &text = "") const {
    const fs::path path = trace_ + "/" + name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  /// All files in the trace directory, and folders that have none.
  Names names() const {
    Names found;
    for (const auto &entry : fs::recursive_directory_iterator(trace_))
      if (!entry.is_directory() || fs::is_empty(entry))
        found.insert(fs::relative(entry.path(), trace_));
    return found;
  }
  std::string refusal(IfExists exists) const {
    return test::error_from([&] { const TraceDirectory made(trace_, exists); });
  }
  static void write(TraceDirectory &directory, const std::string &name,
                    const std::vector<std::string> &pieces) {
    directory.prepare_file(name, [&](const Put &put) {
      for (const std::string &piece : pieces)
        put(piece);
    });
    directory.put_in_place(name);
  }

  test::TempDir dir_;
  const std::string trace_ = dir_ / "t";
};

TEST_F(TraceDirectoryTest, APartTakesNoDirectoryThatExists) {
  const test::TempDir dir;
  const TraceDirectory whole(dir / "run", IfExists::refuse);
  std::filesystem::create_directory(dir / "run/0002");
  EXPECT_EQ(TraceDirectory(whole, "0001").path(), dir / "run/0001");
  try {
    const TraceDirectory part(whole, "0002");
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.what(), "cannot make the part " + (dir / "run/0002") + ": File exists");
  }
}

TEST_F(TraceDirectoryTest, IsMadeIfThereIsNone) {
  const TraceDirectory made(trace_, IfExists::refuse);
  EXPECT_EQ(made.path(), trace_);
  EXPECT_EQ(fs::status(trace_).permissions() & fs::perms::owner_all, fs::perms::owner_all);
  EXPECT_EQ(refusal(IfExists::refuse),
            trace_ +
                " exists already; choose another with -o, or use -f if it is a trace or empty");
  EXPECT_EQ(refusal(IfExists::overwrite), trace_ + " is being written by another ovnitrace; wait "
                                                   "for its end, or choose another with -o");
}

TEST_F(TraceDirectoryTest, TakesTheNextNameThatIsFree) {
  const TraceDirectory first(trace_, IfExists::next_name), second(trace_, IfExists::next_name),
      third(trace_, IfExists::next_name);
  EXPECT_EQ(first.path(), trace_);
  EXPECT_EQ(second.path(), trace_ + "-2");
  EXPECT_EQ(third.path(), trace_ + "-3");
}

TEST_F(TraceDirectoryTest, TriesNamesUpTo999) {
  fs::create_directory(trace_);
  for (int n = 2; n < 999; n++)
    fs::create_directory(trace_ + "-" + std::to_string(n));
  EXPECT_EQ(TraceDirectory(trace_, IfExists::next_name).path(), trace_ + "-999");
  EXPECT_EQ(refusal(IfExists::next_name),
            trace_ +
                "-999 exists already; choose another with -o, or use -f if it is a trace or empty");
  EXPECT_FALSE(fs::exists(trace_ + "-1000"));
}

TEST_F(TraceDirectoryTest, SaysWhoMayNotMakeIt) {
  fs::create_directory(dir_ / "closed");
  fs::permissions(dir_.path(), fs::perms(0755));
  fs::permissions(dir_ / "closed", fs::perms(0555));
  const auto test = [&] {
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && seteuid(kNobody) != 0)
      _exit(1);
    const passwd *user = getpwuid(geteuid());
    const std::string name = user ? user->pw_name : std::to_string(geteuid());
    try {
      const TraceDirectory made(dir_ / "closed/t", IfExists::refuse);
      _exit(2);
    } catch (const Error &error) {
      _exit(error.what() == "cannot make the trace directory " + (dir_ / "closed/t") +
                                ": Permission denied for user " + name +
                                "; choose another place with -o"
                ? 0
                : 3);
    }
  };
  EXPECT_EXIT(test(), testing::ExitedWithCode(0), "");
}

TEST_F(TraceDirectoryTest, SaysWhyItCannotBeMade) {
  try {
    const TraceDirectory made(dir_ / "none/t", IfExists::next_name);
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_EQ(error.what(), "cannot make the trace directory " + (dir_ / "none/t") +
                                ": No such file or directory; choose another place with -o");
  }
  EXPECT_FALSE(fs::exists(dir_ / "none/t-2"));
}

TEST_F(TraceDirectoryTest, IsForAllToReadAndNoProgramInheritsIt) {
  const mode_t before = umask(0);
  TraceDirectory directory(trace_, IfExists::refuse);
  write(directory, "trace.json", {"{}"});
  const TraceDirectory part(directory, "0001");
  umask(before);
  EXPECT_EQ(int(fs::status(trace_).permissions()), 0755);
  EXPECT_EQ(int(fs::status(trace_ + "/trace.json").permissions()), 0644);
  EXPECT_EQ(int(fs::status(trace_ + "/0001").permissions()), 0755);
  for (const int fd : {directory.fd(), part.fd()})
    EXPECT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST_F(TraceDirectoryTest, IsOverwrittenIfItIsEmptyOrATrace) {
  fs::create_directory(trace_);
  EXPECT_EQ(refusal(IfExists::overwrite), "") << "empty";
  add("mine");
  EXPECT_EQ(refusal(IfExists::overwrite),
            trace_ + " is not a trace directory: it is not overwritten; choose another with -o");
  add("trace.json");
  EXPECT_EQ(refusal(IfExists::overwrite), "");
  fs::remove(trace_ + "/trace.json");
  {
    TraceDirectory killed(dir_ / "k", IfExists::refuse);
    killed.prepare_file("trace.json", [](const Put &) {});
  }
  fs::rename((*fs::directory_iterator(dir_ / "k")).path(),
             trace_ + "/" + (*fs::directory_iterator(dir_ / "k")).path().filename().string());
  EXPECT_EQ(refusal(IfExists::overwrite), "") << "its tracer was killed";
}

TEST_F(TraceDirectoryTest, AFileOrALinkIsNotOpened) {
  const std::string why = "cannot open the trace directory " + trace_ + ": Not a directory";
  std::ofstream(trace_).close();
  EXPECT_EQ(refusal(IfExists::overwrite) + "", why);
  fs::remove(trace_);
  fs::create_directory(dir_ / "elsewhere");
  fs::create_directory_symlink(dir_ / "elsewhere", trace_);
  EXPECT_EQ(refusal(IfExists::overwrite) + "", why);
}

TEST_F(TraceDirectoryTest, ClearRemovesTheTraceAndLeavesTheRest) {
  const Names trace = {
      "trace.json",        "report.html",        "cpu0.ftr",        "cpu12.ftr.zst",
      "thread.prv",        "thread.prv.gz",      "thread.pcf",      "cpu.row",
      "cfg/README",        "cfg/thread/a.cfg",   "cfg/cpu/b.cfg",   "cfg/c.cfg",
      "0000001/part.json", "0000001/trace.json", "0000001/cpu1.ftr"};
  const Names others = {"notes",        "report.htm",         "cpu.txt",
                        "mycpu0.ftr",   "thread.csv",         "other.prv",
                        "thread/a.cfg", "0000002/trace.json", "other/part.json"};
  for (const std::string &name : trace)
    add(name);
  for (const std::string &name : others)
    add(name);
  TraceDirectory(trace_, IfExists::overwrite).clear();
  EXPECT_EQ(names(), others);
}

TEST_F(TraceDirectoryTest, ClearLeavesFilesOfOthersBesideViewsAndInParts) {
  add("trace.json");
  for (const char *name : {"cfg/mine", "cfg/thread/mine", "cfg/other/a.cfg", "cfg/a.cfg",
                           "cfg/thread/a.cfg", "0000001/part.json", "0000001/mine"})
    add(name);
  TraceDirectory(trace_, IfExists::overwrite).clear();
  EXPECT_EQ(names(), (Names{"cfg/mine", "cfg/thread/mine", "cfg/other/a.cfg", "0000001/mine"}));
}

TEST_F(TraceDirectoryTest, RemovesOnePart) {
  TraceDirectory whole(trace_, IfExists::refuse);
  for (const char *part : {"0000001", "0000002", "0000003"})
    add(std::string(part) + "/part.json");
  add("0000002/mine");
  add("0000004/trace.json");
  EXPECT_EQ(whole.remove_part("0000001"), 0);
  EXPECT_EQ(whole.remove_part("0000002"), ENOTEMPTY);
  EXPECT_EQ(whole.remove_part("0000004"), ENOENT) << "it is no part";
  EXPECT_EQ(whole.remove_part("0000009"), ENOENT);
  EXPECT_EQ(names(), (Names{"0000002/mine", "0000003/part.json", "0000004/trace.json"}));
}

TEST_F(TraceDirectoryTest, APartIsAFolderOfItsOwn) {
  const TraceDirectory whole(trace_, IfExists::refuse);
  const TraceDirectory part(whole, "0000001");
  EXPECT_EQ(part.path(), trace_ + "/0000001");
  EXPECT_THROW(TraceDirectory(whole, "0000001"), Error) << "it exists";
}

TEST_F(TraceDirectoryTest, AFileHasItsNameOnceItIsWhole) {
  TraceDirectory directory(trace_, IfExists::refuse);
  directory.prepare_file("trace.json", [](const Put &put) { put("{}"); });
  EXPECT_FALSE(fs::exists(trace_ + "/trace.json"));
  directory.put_in_place("trace.json");
  EXPECT_EQ(names(), Names{"trace.json"});
  EXPECT_EQ(test::text_of(trace_ + "/trace.json"), "{}");
  const std::string piece(40000, 'a'); // larger texts are written in several steps
  write(directory, "trace.json", {piece, piece, "b", piece, "c"});
  EXPECT_EQ(test::text_of(trace_ + "/trace.json"), piece + piece + "b" + piece + "c");
}

TEST_F(TraceDirectoryTest, ReservedRoomIsForOneFileAndGoesAgain) {
  TraceDirectory directory(trace_, IfExists::refuse);
  directory.reserve("trace.json", 10000);
  write(directory, "other", {"first"});
  EXPECT_EQ(fs::file_size(trace_ + "/other"), 5u);
  write(directory, "trace.json", {"second"});
  EXPECT_EQ(test::text_of(trace_ + "/trace.json"), "second");
  write(directory, "trace.json", {"third!!"});
  EXPECT_EQ(test::text_of(trace_ + "/trace.json"), "third!!");
  EXPECT_EQ(names(), (Names{"other", "trace.json"}));
  {
    TraceDirectory unused(dir_ / "u", IfExists::refuse);
    unused.reserve("trace.json", 10000);
    EXPECT_FALSE(fs::is_empty(dir_ / "u"));
  }
  EXPECT_TRUE(fs::is_empty(dir_ / "u"));
}

TEST_F(TraceDirectoryTest, ReservedRoomIsTakenAtOnce) {
  TraceDirectory directory(trace_, IfExists::refuse);
  directory.reserve("trace.json", 10000);
  EXPECT_EQ(fs::file_size(trace_ + "/.trace.json.new"), 10000u);
}

/// No file may be longer than that.
class LongestFile {
public:
  explicit LongestFile(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~LongestFile() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_DFL);
  }

private:
  rlimit before_;
};

TEST_F(TraceDirectoryTest, ReservedRoomIsKeptIfALongerTextCannotBeWritten) {
  TraceDirectory directory(trace_, IfExists::refuse);
  directory.reserve("trace.json", 10000);
  std::string why;
  try {
    const LongestFile limit(10000);
    write(directory, "trace.json", {std::string(20000, 'a')});
  } catch (const Error &error) {
    why = error.what();
  }
  EXPECT_EQ(why, "cannot write " + trace_ + "/trace.json: File too large");
  EXPECT_EQ(names(), Names{".trace.json.new"});
  write(directory, "trace.json", {"short"});
  EXPECT_EQ(test::text_of(trace_ + "/trace.json"), "short");
}

TEST_F(TraceDirectoryTest, AFileThatCannotBeWrittenLeavesNothing) {
  TraceDirectory directory(trace_, IfExists::refuse);
  for (const size_t size : {20000, 200000}) { // written at the end, or before
    const LongestFile limit(10000);
    try {
      write(directory, "trace.json", {std::string(size, 'a'), "b"});
      ADD_FAILURE() << size;
    } catch (const Error &error) {
      EXPECT_EQ(error.what(), "cannot write " + trace_ + "/trace.json: File too large");
    }
    EXPECT_EQ(names(), Names{});
  }
}

TEST_F(TraceDirectoryTest, ReservedRoomIsKeptForAShorterTextIfOneDoesNotFit) {
  TraceDirectory directory(trace_, IfExists::refuse);
  directory.reserve("trace.json", 10000);
  EXPECT_THROW(directory.prepare_file("trace.json", [](const Put &) { throw Error("no memory"); }),
               Error);
  write(directory, "trace.json", {"short"});
  EXPECT_EQ(test::text_of(trace_ + "/trace.json"), "short");
}

TEST_F(TraceDirectoryTest, DiscardRemovesWhatIsNew) {
  TraceDirectory made(trace_, IfExists::refuse);
  made.prepare_file("trace.json", [](const Put &put) { put("{}"); });
  add("cpu0.ftr");
  made.discard();
  EXPECT_FALSE(fs::exists(trace_));
}

TEST_F(TraceDirectoryTest, DiscardLeavesAnEarlierTraceThatWasNotCleared) {
  add("trace.json", "old");
  add("mine");
  TraceDirectory again(trace_, IfExists::overwrite);
  again.prepare_file("trace.json", [](const Put &put) { put("new"); });
  again.discard();
  EXPECT_EQ(names(), (Names{"mine", "trace.json"}));
  EXPECT_EQ(test::text_of(trace_ + "/trace.json"), "old");
  again.clear();
  again.discard();
  EXPECT_EQ(names(), Names{"mine"});
}

TEST(DefaultTraceName, IsThatOfTheProgramWithTheTime) {
  const std::regex time("-20[0-9]{6}-[0-9]{6}");
  EXPECT_EQ(std::regex_replace(default_trace_name("/usr/bin/app"), time, "@"), "app@");
  EXPECT_EQ(std::regex_replace(default_trace_name("app.sh"), time, "@"), "app.sh@");
}

} // namespace
} // namespace ovnitrace
