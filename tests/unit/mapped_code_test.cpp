// SPDX-License-Identifier: BSD-2-Clause
// What a process has mapped, as a copy that other threads read, and as the kernel reports it.
#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "tests/unit/support/child_status.h"
#include "tests/unit/support/mapped_place.h"
#include "tests/unit/support/temp_dir.h"
#include "user/stacks/mapping_events.h"
#include "user/stacks/mappings.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

namespace ovnitrace {
namespace {

/// "path+offset"; "code" in no file; "?" not known.
std::string at(const MappedCode &code, uint64_t time, uint64_t address) {
  const MappedCode::Place place = code.find(time, address);
  if (!place.known)
    return "?";
  return place.file ? place.file->path + "+" + std::to_string(place.offset) : "code";
}

using test::at; // of all mappings of a process

TEST(MappedCode, GivesTheFileAndTheOffsetInIt) {
  Mappings mappings;
  mappings.map(7, 10, 1000, 2000, 500, {"/a", 1});
  mappings.map(7, 20, 3000, 4000, 0, {"/b", 2});
  mappings.map(7, 30, 5000, 6000, 0, {"", 0});
  mappings.map(7, 30, 7000, 7000, 0, {"/empty", 3});
  const auto code = mappings.code(mappings.life(7, 10));
  EXPECT_EQ(code->pieces().size(), 3u);
  EXPECT_EQ(at(*code, 9, 1000), "?") << "not mapped yet";
  EXPECT_EQ(at(*code, 10, 999), "?");
  EXPECT_EQ(at(*code, 10, 1000), "/a+500");
  EXPECT_EQ(at(*code, 10, 1999), "/a+1499");
  EXPECT_EQ(at(*code, 10, 2000), "?");
  EXPECT_EQ(at(*code, 19, 3001), "?");
  EXPECT_EQ(at(*code, 20, 3001), "/b+1");
  EXPECT_EQ(at(*code, 30, 5000), "code");
  ASSERT_EQ(mappings.files().size(), 2u);
  EXPECT_EQ(mappings.first_uses()[1].pid, 7u);
  EXPECT_EQ(mappings.first_uses()[1].time, 20u);
}

TEST(MappedCode, TheLaterOneCountsWhereSeveralAre) {
  Mappings mappings;
  mappings.map(7, 20, 1000, 2000, 0, {"/new", 2});
  mappings.map(7, 10, 1000, 2000, 0, {"/old", 1});
  mappings.map(7, 30, 3000, 6000, 0, {"/wide", 3});
  mappings.map(7, 30, 4000, 5000, 0, {"/inner", 4});
  mappings.map(7, 40, 7000, 8000, 0, {"/first", 5});
  mappings.map(7, 40, 7000, 8000, 0, {"/second", 6});
  const auto code = mappings.code(mappings.life(7, 0));
  const std::pair<std::pair<uint64_t, uint64_t>, std::string> cases[] = {
      {{19, 1500}, "/old+500"},   {{20, 1500}, "/new+500"},   {{30, 3999}, "/wide+999"},
      {{30, 4000}, "/inner+0"},   {{30, 5000}, "/wide+2000"}, {{40, 7001}, "/second+1"},
      {{40, 5999}, "/wide+2999"},
  };
  for (const auto &[where, place] : cases) {
    EXPECT_EQ(at(*code, where.first, where.second), place);
    EXPECT_EQ(at(mappings, 7, where.first, where.second), place);
  }
}

TEST(MappedCode, OfAChildIsItsOwnBeforeThatOfItsParent) {
  Mappings mappings;
  mappings.map(7, 10, 1000, 2000, 0, {"/a", 1});
  mappings.map(7, 40, 3000, 4000, 0, {"/just", 2});
  mappings.fork(8, 7, 40);
  mappings.map(7, 41, 5000, 6000, 0, {"/late", 3});
  mappings.map(8, 60, 1000, 1500, 0, {"/own", 4});
  const auto code = mappings.code(mappings.life(8, 40));
  const std::pair<std::pair<uint64_t, uint64_t>, std::string> cases[] = {
      {{59, 1000}, "/a+0"},    {{60, 1000}, "/own+0"}, {{60, 1500}, "/a+500"},
      {{60, 3000}, "/just+0"}, {{60, 5500}, "?"},
  };
  for (const auto &[where, place] : cases) {
    EXPECT_EQ(at(*code, where.first, where.second), place);
    EXPECT_EQ(at(mappings, 8, where.first, where.second), place);
  }
  EXPECT_EQ(at(mappings, 7, 60, 1000), "/a+0");
}

/// A chain of processes that only fork must not make each look-up long.
TEST(MappedCode, IsInheritedFrom63Generations) {
  Mappings mappings;
  mappings.map(100, 0, 1000, 2000, 0, {"/a", 1});
  for (uint32_t n = 1; n <= 64; n++)
    mappings.fork(100 + n, 100 + n - 1, n);
  EXPECT_EQ(at(mappings, 163, 99, 1500), "/a+500");
  EXPECT_EQ(at(mappings, 164, 99, 1500), "?");
  EXPECT_EQ(at(*mappings.code(mappings.life(163, 99)), 99, 1500), "/a+500");
  EXPECT_EQ(at(*mappings.code(mappings.life(164, 99)), 99, 1500), "?");
  mappings.map(163, 100, 1000, 2000, 0, {"/b", 2});
  mappings.map(164, 100, 1500, 1600, 0, {"/c", 3});
  EXPECT_EQ(mappings.replacements(mappings.life(163, 99), 99), 0u);
  EXPECT_EQ(mappings.replacements(mappings.life(163, 99), 100), 1u);
}

TEST(MappedCode, IsTheSameUntilSomethingChanges) {
  Mappings mappings;
  mappings.map(7, 10, 1000, 2000, 0, {"/a", 1});
  const uint32_t life = mappings.life(7, 10);
  const auto code = mappings.code(life);
  EXPECT_EQ(mappings.code(life), code);
  mappings.map(7, 20, 1000, 2000, 0, {"/a", 1});
  mappings.fork(8, 7, 20);
  mappings.exec(8, 20);
  EXPECT_EQ(mappings.code(life), code) << "nothing new";
  mappings.map(7, 20, 3000, 4000, 0, {"/b", 2});
  EXPECT_NE(mappings.code(life), code);
  EXPECT_EQ(at(*code, 20, 3000), "?");
  EXPECT_EQ(at(*mappings.code(life), 20, 3000), "/b+0");
}

// What is kept of processes that have ended takes a limited room.
TEST(MappedCode, IsKeptOf1024Lives) {
  Mappings mappings;
  std::vector<uint32_t> lives;
  for (uint32_t pid = 1; pid <= 1025; pid++) {
    mappings.map(pid, 0, 1000, 2000, 0, {"/a", 1});
    lives.push_back(mappings.life(pid, 0));
  }
  const auto first = mappings.code(lives[0]), second = mappings.code(lives[1]);
  for (size_t n = 2; n < 1024; n++)
    mappings.code(lives[n]);
  EXPECT_EQ(mappings.code(lives[0]), first);
  EXPECT_NE(first, second);
  const auto last = mappings.code(lives[1024]);
  EXPECT_NE(mappings.code(lives[0]), first) << "made again";
  EXPECT_EQ(at(*mappings.code(lives[0]), 0, 1500), "/a+500");
  EXPECT_EQ(mappings.code(lives[1024]), last);
}

TEST(MappedCode, OfATimeBeforeAllThatIsKnownIsALifeOfItsOwn) {
  Mappings mappings;
  mappings.exec(7, 80);
  mappings.exec(7, 90);
  const uint32_t before = mappings.life(7, 79);
  EXPECT_EQ(mappings.life(7, 0), before);
  EXPECT_NE(mappings.life(7, 80), before);
  EXPECT_EQ(mappings.life(7, 89), mappings.life(7, 80));
  EXPECT_NE(mappings.life(7, 90), mappings.life(7, 80));
  mappings.map(7, 10, 1000, 2000, 0, {"/a", 1});
  EXPECT_EQ(at(mappings, 7, 79, 1500), "/a+500");
  EXPECT_EQ(at(mappings, 7, 80, 1500), "?");
}

TEST(MappedCode, ThatIsMappedBesideOtherCodeReplacesNothing) {
  Mappings mappings;
  mappings.map(7, 10, 1000, 2000, 0, {"/a", 1});
  mappings.map(7, 11, 2000, 3000, 0, {"/b", 2});
  mappings.map(7, 12, 500, 1000, 0, {"/c", 3});
  const uint32_t life = mappings.life(7, 10);
  EXPECT_EQ(mappings.replacements(life, 99), 0u);
  EXPECT_TRUE(mappings.newly_replaced().empty());
  mappings.map(7, 13, 2999, 3500, 0, {"/d", 4});
  mappings.map(7, 14, 400, 501, 0, {"/e", 5});
  EXPECT_EQ(mappings.replacements(life, 13), 1u);
  EXPECT_EQ(mappings.replacements(life, 14), 2u);
  const std::vector<Mappings::Replaced> replaced = mappings.newly_replaced();
  ASSERT_EQ(replaced.size(), 2u);
  EXPECT_EQ(replaced[1].life, life);
  EXPECT_EQ(replaced[1].start, 400u);
  EXPECT_EQ(replaced[1].end, 501u);
  EXPECT_TRUE(mappings.newly_replaced().empty());
  mappings.map(7, 15, 1000, 2000, 8, {"/a", 1});
  EXPECT_EQ(mappings.replacements(life, 15), 3u) << "another part of the same file";
}

/// What the kernel reports of this process and of its children.
class MappingReports : public ::testing::Test {
protected:
  void SetUp() override {
    try {
      events.emplace(uint32_t(sysconf(_SC_NPROCESSORS_CONF)));
    } catch (const Error &error) {
      GTEST_SKIP() << error.what();
    }
  }
  void *map(int fd, size_t offset) {
    void *memory = mmap(nullptr, 2 * page, PROT_READ | PROT_EXEC,
                        fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE, fd, off_t(offset));
    EXPECT_NE(memory, MAP_FAILED);
    return memory;
  }
  std::string found(uint32_t pid, const void *memory, size_t offset) {
    return at(mappings, pid, monotonic_ns(), reinterpret_cast<uint64_t>(memory) + offset);
  }

  const size_t page = size_t(sysconf(_SC_PAGESIZE));
  const uint32_t own = uint32_t(getpid());
  Mappings mappings;
  std::optional<MappingEvents> events;
};

TEST_F(MappingReports, SayWhatIsMappedFromWhere) {
  const std::string path = std::filesystem::read_symlink("/proc/self/exe");
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  const uint64_t before = monotonic_ns();
  void *file = map(fd, page), *code = map(-1, 0);
  close(fd);
  events->read(mappings);
  EXPECT_EQ(found(own, file, 5), path + "+" + std::to_string(page + 5));
  EXPECT_EQ(found(own, file, 2 * page - 1), path + "+" + std::to_string(3 * page - 1));
  EXPECT_EQ(found(own, code, 0), "code");
  EXPECT_EQ(at(mappings, own, before - 1, reinterpret_cast<uint64_t>(file)), "?");
  EXPECT_EQ(events->lost(), 0u);
  munmap(file, 2 * page);
  munmap(code, 2 * page);
}

TEST_F(MappingReports, AForkInheritsAndAnExecDoesNot) {
  void *code = map(-1, 0);
  pid_t forked = fork();
  if (forked == 0)
    _exit(0);
  pid_t executed = fork();
  if (executed == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(forked, &status, 0), forked);
  ASSERT_EQ(waitpid(executed, &status, 0), executed);
  EXPECT_EQ(status, 0);
  events->read(mappings);
  EXPECT_EQ(found(uint32_t(forked), code, 0), "code");
  EXPECT_EQ(found(uint32_t(executed), code, 0), "?");
  EXPECT_FALSE(mappings.is_doubtful(mappings.life(uint32_t(executed), monotonic_ns())));
  munmap(code, 2 * page);
}

TEST_F(MappingReports, ThreadsAndNamesStartNoLife) {
  const uint32_t life = mappings.life(own, 0);
  std::thread([] { pthread_setname_np(pthread_self(), "renamed"); }).join();
  events->read(mappings);
  EXPECT_EQ(mappings.life(own, monotonic_ns()), life);
  EXPECT_EQ(mappings.newly_replaced().size(), 0u);
}

/// A file with a path so long that some 70 reports of it fill a buffer.
class ManyReports : public MappingReports {
protected:
  void SetUp() override {
    MappingReports::SetUp();
    ASSERT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
    if (IsSkipped())
      return;
    int first = 0; // its buffer is read first: those behind it must not hide a loss
    while (!CPU_ISSET(first, &before_))
      first++;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0); // in one buffer
    std::filesystem::path folder = dir_.path();
    for (int n = 0; n < 14; n++)
      folder /= std::string(250, 'd');
    std::filesystem::create_directories(folder);
    path_ = folder / "code";
    std::ofstream(path_) << "x";
    fd_ = UniqueFd(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  }
  void TearDown() override {
    for (void *memory : mapped_)
      munmap(memory, 2 * page);
    sched_setaffinity(0, sizeof before_, &before_);
  }
  void map_more(size_t count) {
    for (size_t n = 0; n < count; n++)
      mapped_.push_back(map(fd_.get(), mapped_.size() * page));
  }
  /// How many of those from `first` on are known, each with its own place.
  size_t known(size_t first) {
    size_t count = 0;
    for (size_t n = first; n < mapped_.size(); n++)
      count += found(own, mapped_[n], 5) == path_ + "+" + std::to_string(n * page + 5);
    return count;
  }

  const test::TempDir dir_;
  std::string path_;
  UniqueFd fd_;
  std::vector<void *> mapped_;
  cpu_set_t before_;
};

TEST_F(ManyReports, AreReadWhereTheBufferStartsAgain) {
  for (int round = 0; round < 4; round++) {
    const size_t before = mapped_.size();
    map_more(50);
    events->read(mappings);
    EXPECT_EQ(known(before), 50u) << round;
  }
  EXPECT_EQ(events->lost(), 0u);
  EXPECT_FALSE(mappings.is_doubtful(mappings.life(own, 0)));
}

TEST_F(ManyReports, ThatFindNoRoomAreCountedAndMakeMappingsDoubtful) {
  map_more(150);
  events->read(mappings);
  const size_t there = known(0);
  EXPECT_GE(there, 50u);
  EXPECT_LE(there, 80u) << "64 pages have no room for more";
  EXPECT_TRUE(mappings.is_doubtful(mappings.life(own, 0)));
  map_more(1); // with it, the kernel says how many were lost
  events->read(mappings);
  EXPECT_EQ(known(150), 1u);
  const uint64_t lost = events->lost();
  EXPECT_GE(lost, 150 - there);
  map_more(150);
  events->read(mappings);
  map_more(1);
  events->read(mappings);
  EXPECT_GE(events->lost(), lost + 150 - 80) << "of both times";
}

TEST(RefusedReports, SayWhatIsNeeded) {
  EXPECT_EQ(test::status_of([] {
              if (geteuid() == 0 && setuid(65534) != 0)
                return 1;
              try {
                MappingEvents(1);
              } catch (const Error &error) {
                return std::string(error.what()) ==
                               "--stacks: cannot watch what processes map: Permission denied; use "
                               "sudo, or `sysctl kernel.perf_event_paranoid=2`"
                           ? 0
                           : 2;
              }
              return 0; // this machine allows it
            }),
            0);
}

TEST(LivingMappings, HaveTheCodeOfTheKernelForPrograms) {
  const uint64_t address = getauxval(AT_SYSINFO_EHDR);
  if (!address)
    GTEST_SKIP() << "this kernel has none";
  Mappings mappings;
  read_mappings(uint32_t(getpid()), mappings);
  EXPECT_EQ(at(mappings, uint32_t(getpid()), 0, address + 5), "[vdso]+5");
}

TEST(LivingMappings, OfProcessesThatCannotBeListedAreWarnedOf) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  testing::internal::CaptureStderr();
  const rlimit none = {0, before.rlim_max};
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  Mappings mappings;
  read_all_mappings(mappings);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ovnitrace: warning: stacks lack names in programs that began before the capture: "
            "cannot read /proc: Too many open files\n");
}

TEST(LivingMappings, AreReadFromAllProcesses) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) { // lives until the parent closes its end
    close(ends[1]);
    char end;
    _exit(int(read(ends[0], &end, 1)));
  }
  Mappings mappings;
  read_all_mappings(mappings);
  close(ends[0]);
  close(ends[1]);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  const auto address = reinterpret_cast<uint64_t>(&_exit);
  EXPECT_NE(at(mappings, uint32_t(getpid()), 0, address), "?");
  EXPECT_EQ(at(mappings, uint32_t(child), 0, address),
            at(mappings, uint32_t(getpid()), 0, address));
}

} // namespace
} // namespace ovnitrace
