// SPDX-License-Identifier: BSD-2-Clause
// Where a trace is written, and where it is not.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <nlohmann/json.hpp>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

namespace fs = std::filesystem;

namespace ovnitrace::test {

class Directory : public CaptureTest {
protected:
  Outcome refused(const std::vector<std::string> &options, const std::string &why) {
    const Outcome outcome = record({"true"}, options, 1);
    EXPECT_NE(outcome.err.find(why), std::string::npos) << outcome.err;
    return outcome;
  }
};

TEST_F(Directory, HasADefaultNameOfProgramAndTime) {
  const Outcome outcome =
      run({.argv = {ovnitrace(), "record", "--", "/bin/true"}, .cwd = directory()});
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  const std::vector<std::string> names = names_in(directory());
  ASSERT_EQ(names.size(), 1u);
  EXPECT_TRUE(std::string(names[0]).starts_with("true-20")) << names[0];
  EXPECT_EQ(names[0].size(), std::string("true-YYYYmmdd-HHMMSS").size());
}

TEST_F(Directory, HasADefaultNameOfTheProcessThatIsAttachedTo) {
  Process attached({.argv = {installed("crash"), "1000000"}});
  const Outcome outcome =
      run({.argv = {ovnitrace(), "record", "-p", std::to_string(attached.pid()), "-d", "0.1"},
           .cwd = directory()});
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  ASSERT_EQ(names_in(directory()).size(), 1u);
  EXPECT_TRUE(names_in(directory())[0].starts_with("crash-20")) << names_in(directory())[0];
}

// A program may have any name: an escape sequence, a C1 control character, a path.
TEST_F(Directory, HasNoControlCharacterOfAForeignName) {
  Process attached({.argv = {"sh", "-c",
                             "printf '\\033[2J\\302\\233/..' >/proc/$$/comm; echo ready; "
                             "while :; do sleep 1; done"}});
  ASSERT_TRUE(eventually([&] { return attached.out() == "ready\n"; }, "it runs"));
  const Outcome outcome =
      run({.argv = {ovnitrace(), "record", "-p", std::to_string(attached.pid()), "-d", "0.1"},
           .cwd = directory()});
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  const std::vector<std::string> names = names_in(directory());
  ASSERT_EQ(names.size(), 1u);
  EXPECT_TRUE(names[0].starts_with("_[2J__")) << names[0];
  for (const std::string &text : {names[0], outcome.err})
    for (const char c : text)
      EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7f)) << text;
}

TEST_F(Directory, HoldsAFilePerCpuAndTraceJson) {
  record({"true"});
  for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
    char name[32];
    snprintf(name, sizeof name, "/cpu%04ld.ftr.zst", cpu);
    EXPECT_TRUE(exists(trace() + name)) << name;
  }
  EXPECT_TRUE(exists(trace() + "/trace.json"));
}

TEST_F(Directory, IsNotOverwritten) {
  record({"true"});
  const std::string before = read_text(trace() + "/trace.json");
  refused({}, "-f");
  EXPECT_EQ(read_text(trace() + "/trace.json"), before);
}

TEST_F(Directory, IsOverwrittenByForce) {
  record({installed("sched_mix"), "0.2"});
  write_text(trace() + "/notes.txt", "of the user");
  write_text(trace() + "/report.html", "of `ovnitrace report`");
  record({"true"}, {"-f"});
  const TraceRecord reported = read_trace_json(trace());
  EXPECT_EQ(reported.threads.size(), 1u);
  dump(trace());
  EXPECT_EQ(read_text(trace() + "/notes.txt"), "of the user");
  EXPECT_FALSE(exists(trace() + "/report.html")) << "it is of the earlier program";
}

TEST_F(Directory, ForceDoesNotOverwriteWhatIsNoTrace) {
  mkdir(trace().c_str(), 0755);
  write_text(trace() + "/precious", "data");
  write_text(trace() + "/cpu0000.ftr", "data too");
  refused({"-f"}, "not a trace");
  EXPECT_EQ(read_text(trace() + "/precious"), "data");
  EXPECT_EQ(read_text(trace() + "/cpu0000.ftr"), "data too");
}

TEST_F(Directory, ForceTakesAnEmptyDirectory) {
  mkdir(trace().c_str(), 0755);
  refused({}, "exists");
  record({"true"}, {"-f"});
  EXPECT_TRUE(exists(trace() + "/trace.json"));
}

TEST_F(Directory, IsNotAFileThatExists) {
  write_text(trace(), "a file");
  refused({}, "exists");
  refused({"-f"}, "trace");
  EXPECT_EQ(read_text(trace()), "a file");
}

TEST_F(Directory, IsNotALink) {
  mkdir(path("elsewhere").c_str(), 0755);
  fs::create_symlink(path("elsewhere"), trace());
  refused({}, "exists");
  refused({"-f"}, "trace");
  EXPECT_TRUE(names_in(path("elsewhere")).empty());
}

// A trace directory in which somebody planted links: what they point to is not touched.
TEST_F(Directory, FollowsNoLinkInIt) {
  record({"true"});
  for (const char *name :
       {"cpu0000.ftr.zst", "cpu0000.ftr", "trace.json", ".trace.json.new", "thread.prv"}) {
    write_text(path("victim"), "untouched");
    fs::remove(trace() + "/" + name);
    fs::create_symlink(path("victim"), trace() + "/" + name);
    record({"true"}, {"-f"});
    run({.argv = {ovnitrace(), "convert", trace()}});
    EXPECT_EQ(read_text(path("victim")), "untouched") << name;
    EXPECT_FALSE(fs::is_symlink(trace() + "/" + name)) << name;
  }
}

TEST_F(Directory, IsNotOverwrittenWhileAnotherWritesThere) {
  Process first(record_command(
      trace(), {"sh", "-c", "until [ -e " + path("go") + " ]; do sleep 0.02; done"}));
  ASSERT_TRUE(eventually([&] { return exists(trace() + "/trace.json"); }, "the capture begins"));
  refused({"-f"}, "another ovnitrace");
  write_text(path("go"), "");
  EXPECT_EQ(first.wait().status(), 0);
  EXPECT_EQ(read_trace_json(trace()).how, "exited with status 0");
  EXPECT_FALSE(dump(trace()).empty());
  record({"true"}, {"-f"});
}

TEST_F(Directory, IsFreeWhenItsTracerWasKilled) {
  Process first(record_command(trace(), {"sleep", "1000"}));
  ASSERT_TRUE(eventually([&] { return exists(trace() + "/trace.json"); }, "the capture begins"));
  first.signal(SIGKILL);
  first.wait();
  record({"true"}, {"-f"});
  for (const std::string &name : names_in(trace()))
    EXPECT_FALSE(name.starts_with(".")) << name << " is left over";
}

// ovnitrace was killed before it wrote trace.json. If it is killed at once, this happens one time
// in three.
TEST_F(Directory, IsOverwrittenByForceWhereOnlyAnUnfinishedTraceJsonIsLeft) {
  mkdir(trace().c_str(), 0755);
  write_text(trace() + "/.trace.json.new", "{\"format\"");
  refused({}, "exists");
  record({"true"}, {"-f"});
  EXPECT_TRUE(exists(trace() + "/trace.json"));
  EXPECT_FALSE(exists(trace() + "/.trace.json.new"));
}

TEST_F(Directory, ItsRemovalByTheProgramIsReported) {
  const std::string remove =
      "until [ -e " + trace() + "/trace.json ]; do sleep 0.02; done; rm -r " + trace();
  const Outcome outcome = run({.argv = {ovnitrace(), "-o", trace(), "--", "sh", "-c", remove}});
  EXPECT_EQ(outcome.status(), 1);
  EXPECT_NE(outcome.err.find(trace() + " is gone"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("is recorded"), std::string::npos) << outcome.err;
}

TEST_F(Directory, AFailureToMakeItNamesTheUser) {
  mkdir(path("closed").c_str(), 0700);
  Command command = record_command(path("closed/trace"), {"true"});
  command.env = {{"SUDO_UID", std::to_string(nobody_uid())},
                 {"SUDO_GID", std::to_string(nobody_gid())}};
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.status(), 1);
  EXPECT_NE(outcome.err.find("user nobody"), std::string::npos) << outcome.err;
}

TEST_F(Directory, NeedsAParent) {
  const Outcome outcome = run(record_command(path("no/such/parent"), {"true"}));
  EXPECT_EQ(outcome.status(), 1);
  EXPECT_NE(outcome.err.find(path("no/such/parent")), std::string::npos) << outcome.err;
  EXPECT_FALSE(exists(path("no")));
}

/// Mounts a small file system, and unmounts it in the destructor.
class SmallDisk {
public:
  explicit SmallDisk(const std::string &path, const std::string &size = "256k") : path_(path) {
    mkdir(path.c_str(), 0755);
    mounted_ = mount("ovnitrace-test", path.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_)
      umount2(path_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }

private:
  std::string path_;
  bool mounted_;
};

TEST_F(Directory, AFullDiskIsReportedAndTheCapturedPartIsKept) {
  SmallDisk disk(path("disk"));
  if (!disk.mounted())
    GTEST_SKIP() << "cannot mount a small tmpfs here";
  const std::string trace = path("disk/trace");
  const std::vector<std::string> program = {installed("pingpong"), "20000"};
  const Outcome outcome =
      run(record_command(trace, program, {"--chunk-size", "32K", "--compress=0"}));
  EXPECT_EQ(outcome.status(), 1) << "the program's status was 0, but the trace is not whole";
  EXPECT_NE(outcome.err.find("No space left"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.out.find("roundtrips=20000"), std::string::npos) << "the program went on";
  const Outcome dumped = run({.argv = {ovnitrace(), "dump", trace}});
  EXPECT_NE(dumped.err.find("warning"), std::string::npos) << "it is not reported that it was cut";
  EXPECT_GT(parse_dump(dumped.out).size(), 5'000u);
  EXPECT_EQ(run({.argv = {ovnitrace(), "convert", trace, "-o", path("prv")}}).status(),
            dumped.status());
  EXPECT_TRUE(exists(path("prv/thread.prv")));
}

// trace.json has what is known at the end, but not the list of threads, for which there is no room.
TEST_F(Directory, ThatIsFullHasTheEndInItsTraceJson) {
  SmallDisk disk(path("disk"));
  if (!disk.mounted())
    GTEST_SKIP() << "cannot mount a small tmpfs here";
  const std::string trace = path("disk/trace");
  const std::string work =
      installed("pingpong") + " 20000; " + installed("many_threads") + " 2000; exit 9";
  const Outcome outcome =
      run(record_command(trace, {"sh", "-c", work}, {"--chunk-size", "32K", "--compress=0"}));
  EXPECT_EQ(outcome.status(), 9);
  const TraceRecord reported = read_trace_json(trace);
  EXPECT_TRUE(reported.how.starts_with("exited with status 9; the trace is not whole: "))
      << reported.how;
  EXPECT_GT(reported.records_dropped, 10'000u);
  EXPECT_TRUE(reported.threads.empty()) << "the test did not fill the disk";
  EXPECT_FALSE(exists(trace + "/.trace.json.new"));
}

/// Compares `info --json` with trace.json for each kind of buffer.
class FullDisk : public Directory, public testing::WithParamInterface<std::string> {};

TEST_P(FullDisk, IsABlackoutWithTheNumberOfUnwrittenEvents) {
  SmallDisk disk(path("disk"), "1000k");
  if (!disk.mounted())
    GTEST_SKIP() << "cannot mount a small tmpfs here";
  const std::string trace = path("disk/trace");
  const Outcome outcome = run(record_command(trace, {installed("pingpong"), "100000"},
                                             {"--buffer", GetParam(), "--compress=0"}));
  EXPECT_EQ(outcome.status(), 1);
  const std::vector<std::string> lines = lines_of(outcome.err);
  ASSERT_FALSE(lines.empty());
  EXPECT_NE(lines.back().find("the trace is not complete: "), std::string::npos) << outcome.err;
  EXPECT_NE(lines.back().find("No space left"), std::string::npos) << outcome.err;
  const auto json = nlohmann::json::parse(read_text(trace + "/trace.json"));
  uint64_t not_written = 0;
  for (const auto &cpu : json.at("not_written"))
    not_written += cpu.at("events").get<uint64_t>();
  EXPECT_GT(not_written, 10'000u);
  const Outcome reported = run({.argv = {ovnitrace(), "info", "--json", trace}});
  EXPECT_EQ(reported.status(), 1) << "something is missing";
  const auto info = nlohmann::json::parse(reported.out);
  EXPECT_EQ(info.at("lost"), not_written);
  EXPECT_EQ(info.at("events"), json.at("events"));
  if (GetParam() == "jtn") {
    EXPECT_EQ(info.at("duration_ns"),
              json.at("end_ns").get<uint64_t>() - json.at("begin_ns").get<uint64_t>())
        << "the whole capture";
  }
}
INSTANTIATE_TEST_SUITE_P(Buffers, FullDisk, testing::Values("jtn", "stop:64M", "cyc:64M"),
                         [](const auto &test) {
                           return test.param.substr(0, test.param.find(':'));
                         });

TEST_F(Directory, AFullDiskHasAnExitStatusOfItsOwnWithoutAProgram) {
  SmallDisk disk(path("disk"));
  if (!disk.mounted())
    GTEST_SKIP() << "cannot mount a small tmpfs here";
  Process busy({.argv = {installed("pingpong"), "100000000"}});
  const Outcome outcome =
      run({.argv = {ovnitrace(), "record", "-p", std::to_string(busy.pid()), "-d", "1", "-o",
                    path("disk/trace"), "--chunk-size", "32K", "--compress=0"}});
  EXPECT_EQ(outcome.status(), 3) << outcome.err;
}

TEST_F(Directory, ThatIsFullLeavesTheStatusOfAProgramThatFailed) {
  SmallDisk disk(path("disk"));
  if (!disk.mounted())
    GTEST_SKIP() << "cannot mount a small tmpfs here";
  const Outcome outcome =
      run(record_command(path("disk/trace"), {"sh", "-c", installed("pingpong") + " 20000; exit 9"},
                         {"--chunk-size", "32K", "--compress=0"}));
  EXPECT_EQ(outcome.status(), 9);
  EXPECT_NE(outcome.err.find("No space left"), std::string::npos) << outcome.err;
}

} // namespace ovnitrace::test
