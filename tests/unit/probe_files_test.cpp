// SPDX-License-Identifier: BSD-2-Clause
// What is read of files with probes: arguments in their order, no more than a limit, and the files
// that a process has really mapped.
#include "emulator/base/regular_file.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/project_file.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/work_in.h"
#include "user/probe/elf_file.h"
#include "user/probe/find_probes.h"
#include "user/probe/mapped_files.h"
#include "user/probe/needed_libraries.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace ovnitrace {
namespace {

namespace fs = std::filesystem;

class ProbeFiles : public testing::Test {
protected:
  /// Makes a library of C code.
  std::string make(const std::string &name, const std::string &code) {
    std::ofstream(dir_ / "code.c") << "#include <ovnitrace/user_event.h>\n" << code;
    const std::string made = dir_ / name, build = "gcc -O2 -shared -fPIC -I " +
                                                  test::project_path("include").string() + " -o " +
                                                  made + " " + dir_ / "code.c";
    EXPECT_EQ(std::system(build.c_str()), 0) << build;
    return made;
  }
  const test::TempDir dir_;
};

using Values = std::vector<uint32_t>;

TEST_F(ProbeFiles, AProbeHasItsKindAndItsArgumentsInOrder) {
  const std::string made = make("events.so", R"(
void one(void) { TRACER_LOGEVENT(121, 54321, 0xfffffff0u); }
void two(void) { FTrace_set_filter(9, 4); }
void three(void) { FTrace_fire(3, 77, 5); }
void four(void) { FTrace_enable(); }
void five(void) { FTrace_disable(); }
void six(uint32_t a, uint32_t b) { FTrace_fire(8, b, a); }
)");
  const auto file = read_elf_file(open_regular(made).get());
  ASSERT_TRUE(file);
  EXPECT_EQ(file->not_understood, 0u);
  std::multimap<uint32_t, Values> constants; // by kind
  size_t registers = 0;
  for (const Probe &probe : file->probes) {
    Values values;
    for (const user_argument &argument : probe.what.arguments)
      if (argument.in_register)
        registers++;
      else
        values.push_back(argument.value);
    constants.emplace(probe.what.kind, values);
  }
  EXPECT_EQ(constants,
            (std::multimap<uint32_t, Values>{{USER_PROBE_EVENT, {121, 54321, 0xfffffff0}},
                                             {USER_PROBE_EVENT, {9, 4, 0}},
                                             {USER_PROBE_ENABLE, {0, 0, 0}},
                                             {USER_PROBE_DISABLE, {0, 0, 0}},
                                             {USER_PROBE_FIRE, {3, 77, 1}},
                                             {USER_PROBE_FIRE, {8}}}));
  EXPECT_EQ(registers, 2u);
}

#if defined(__x86_64__)
TEST_F(ProbeFiles, ArgumentsInRegistersAreInOrderToo) {
  const std::string made =
      make("fire.so", "void fire(uint32_t a, uint32_t b, uint32_t c) {\n"
                      "  OVNITRACE_USDT3(\"ovnitrace\", \"fire\", b, 5, a);\n (void)c; }\n");
  const auto file = read_elf_file(open_regular(made).get());
  ASSERT_EQ(file->probes.size(), 1u);
  const user_argument *arguments = file->probes[0].what.arguments;
  EXPECT_EQ(arguments[0].value, 13u * 8) << "struct pt_regs: rsi is the fourteenth";
  EXPECT_EQ(arguments[1].value, 5u);
  EXPECT_EQ(arguments[1].in_register, 0u);
  EXPECT_EQ(arguments[2].value, 14u * 8) << "rdi";
}
#endif

// The rest is not read, so that a process with many files costs a bounded time.
TEST_F(ProbeFiles, FilesAreReadUpToALimitOfBytes) {
  const std::string first = make("one.so", "void one(void) { FTrace_enable(); }\n");
  const uint64_t each = read_elf_file(open_regular(first).get())->bytes_read;
  ASSERT_GT(each, sizeof(Elf64_Shdr));
  std::vector<void *> mapped;
  for (const char *name : {"one.so", "two.so", "three.so", "four.so"}) {
    const std::string path = dir_ / name;
    if (path != first)
      fs::copy_file(first, path);
    const UniqueFd fd = open_regular(path);
    mapped.push_back(mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 0));
    ASSERT_NE(mapped.back(), MAP_FAILED);
  }
  const auto self = uint32_t(getpid());
  const auto found = [&](const std::string &named, uint64_t most) {
    size_t count = 0;
    for (const ProbedFile &file :
         find_probes({.pids = {self}, .files = {named}, .most_bytes = most}).files)
      count += file.path.starts_with(dir_.path());
    return count;
  };
  EXPECT_EQ(found(first, each), 1u) << "those that are named are read";
  EXPECT_EQ(found(first, UINT64_MAX), 4u);
  for (void *place : mapped)
    munmap(place, 4096);
}

TEST_F(ProbeFiles, TheBytesOfAllFilesCountTogether) {
  const std::string first = make("libone.so", "void one(void) { FTrace_enable(); }\n");
  for (const char *name : {"libtwo.so", "libthree.so"})
    fs::copy_file(first, dir_ / name);
  std::ofstream(dir_ / "app.c") << "int main(void) { return 0; }\n";
  const std::string build = "gcc -o " + dir_ / "app" + " " +
                            dir_ / "app.c -Wl,--no-as-needed,-rpath," + dir_.path() + " " + first +
                            " " + dir_ / "libtwo.so" + " " + dir_ / "libthree.so";
  ASSERT_EQ(std::system(build.c_str()), 0) << build;
  const uint64_t app = read_elf_file(open_regular(dir_ / "app").get())->bytes_read,
                 each = read_elf_file(open_regular(first).get())->bytes_read;
  const auto found = [&](uint64_t most) {
    return find_probes({.program = dir_ / "app", .most_bytes = most}).files.size();
  };
  EXPECT_EQ(found(app), 0u) << "the program has no probes";
  EXPECT_EQ(found(app + 1), 1u);
  EXPECT_EQ(found(app + each), 1u);
  EXPECT_EQ(found(app + each + 1), 2u);
  EXPECT_EQ(found(app + 2 * each), 2u);
  EXPECT_EQ(found(app + 2 * each + 1), 3u);
}

TEST(NeededLibrary, TheLoaderIsToldToListTheProgramAndHasNoTerminal) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only a loader of root's is run";
  test::TempDir dir;
  std::ofstream(dir / "loader") << "#!/bin/sh\n"
                                   "echo \" => /$1/$2/$# (0x1)\"\n"
                                   "cat\n"
                                   "echo ' => /wrong (0x1)' >&2\n"
                                   "echo \" => /$(cut -d' ' -f6 /proc/$$/stat)/$$ (0x2)\"\n";
  ASSERT_EQ(chmod((dir / "loader").c_str(), 0755), 0);
  const auto paths = needed_libraries(dir / "loader", "prog", Identity());
  ASSERT_EQ(paths.size(), 2u);
  EXPECT_EQ(paths[0], "/--list/prog/2");
  const std::string session = paths[1].substr(1, paths[1].rfind('/') - 1);
  EXPECT_EQ("/" + session + "/" + session, paths[1]) << "a session of its own";
}

TEST(NeededLibrary, TheLoaderRunsAsTheUserOfTheProgram) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can become another user";
  test::TempDir dir;
  std::ofstream(dir / "loader") << "#!/bin/sh\necho \" => /$(id -u)/$(id -g)$HOME/$USER (0x1)\"\n";
  ASSERT_EQ(chmod((dir / "loader").c_str(), 0755), 0);
  ASSERT_EQ(chmod(dir.path().c_str(), 0755), 0);
  Identity other;
  other.uid = 65534;
  other.gid = 65533;
  other.name = "someone";
  other.home = "/nowhere";
  other.change = true;
  EXPECT_EQ(needed_libraries(dir / "loader", "prog", other),
            std::vector<std::string>{"/65534/65533/nowhere/someone"});
}

TEST(ProgramWithoutPath, IsTheOneThatExecvpFinds) {
  const test::TempDir dir;
  std::ofstream(dir / "app") << "";
  fs::permissions(dir / "app", fs::perms::owner_all);
  const std::string path = getenv("PATH");
  const test::WorkIn here(dir.path());
  unsetenv("PATH");
  const std::string shell = path_of_program("sh"), own = path_of_program("app");
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(shell, "/bin/sh");
  EXPECT_EQ(own, "") << "the working directory is not in the list";
}

/// What is in the file of that name that the process has mapped.
std::string text_of_mapped(const std::string &path) {
  for (const MappedFile &file : mapped_files(uint32_t(getpid())))
    if (file.path.starts_with(path)) {
      char text[16] = {};
      return pread(file.fd.get(), text, sizeof text - 1, 0) > 0 ? text : "nothing";
    }
  return "no such file";
}

class MappedProgram : public testing::Test {
protected:
  void SetUp() override {
    std::ofstream(path_) << "old";
    const UniqueFd fd = open_regular(path_);
    memory_ = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 0);
    ASSERT_NE(memory_, MAP_FAILED);
  }
  void TearDown() override { munmap(memory_, 4096); }

  const test::TempDir dir_;
  const std::string path_ = dir_ / "code";
  void *memory_ = nullptr;
};

TEST_F(MappedProgram, IsTheOneThatIsMappedEvenIfAnotherHasReplacedIt) {
  if (geteuid() != 0)
    GTEST_SKIP() << "needs the right to open what is mapped";
  std::ofstream(dir_ / "new") << "new";
  fs::rename(dir_ / "new", path_);
  EXPECT_EQ(text_of_mapped(path_), "old");
}

TEST_F(MappedProgram, IsOpenedByItsPathWithoutThatRight) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can become another user";
  fs::permissions(dir_.path(), fs::perms(0755));
  fs::permissions(path_, fs::perms(0644));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::string text = "no";
    if (setuid(65534) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0)
      text = text_of_mapped(path_);
    (void)!write(ends[1], text.data(), text.size());
    _exit(0);
  }
  close(ends[1]);
  char text[32] = {};
  (void)!read(ends[0], text, sizeof text - 1);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  EXPECT_STREQ(text, "old");
}

TEST_F(MappedProgram, IsListedOnce) {
  const UniqueFd fd = open_regular(path_);
  void *again = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 0);
  size_t count = 0;
  for (const MappedFile &file : mapped_files(uint32_t(getpid()))) {
    count += file.path == path_;
    EXPECT_EQ(file.path.substr(0, 1), "/");
  }
  munmap(again, 4096);
  EXPECT_EQ(count, 1u);
}

} // namespace
} // namespace ovnitrace
