// SPDX-License-Identifier: BSD-2-Clause
// Names of the frames of stacks, and which stacks are taken for cut: user/stacks/name_stacks.
#include "emulator/base/clock.h"
#include "tests/unit/support/temp_dir.h"
#include "user/stacks/name_stacks.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace ovnitrace {
namespace {

using Texts = std::vector<std::string>;

class NameStacks : public ::testing::Test {
protected:
  NameStacks() { start(); }
  /// Starts with no stack.
  void start() {
    captured = {};
    captured.files = {{"/usr/bin/app", 1}, {"/lib/libc.so.6", 2}};
    captured.first_uses.resize(2);
  }
  /// Adds a stack of kernel addresses, then of offsets in a file. Returns it.
  CapturedStacks::Stack &add(const std::vector<uint64_t> &kernel, uint32_t file = 0,
                             const std::vector<uint64_t> &user = {}) {
    CapturedStacks::Stack stack;
    stack.first = captured.places.size();
    stack.kernel = uint32_t(kernel.size());
    stack.user = uint32_t(user.size());
    for (const uint64_t address : kernel)
      add_frame({CapturedFrame::kernel, 0, address});
    for (const uint64_t offset : user)
      add_frame({CapturedFrame::file, file, offset});
    captured.stacks.push_back(stack);
    return captured.stacks.back();
  }
  void add_frame(const CapturedFrame &frame) {
    captured.places.push_back(uint32_t(captured.frames.size()));
    captured.frames.push_back(frame);
  }
  NamedStacks named(const std::string &kallsyms = "") {
    std::ofstream(dir / "kallsyms") << kallsyms;
    const UniqueFd file(open((dir / "kallsyms").c_str(), O_RDONLY | O_CLOEXEC));
    return name_stacks(std::move(captured), kallsyms.empty() ? -1 : file.get(), 0);
  }
  /// The functions of the kernel's part of the first stack.
  static Texts kernel_part(const NamedStacks &all) {
    const CapturedStacks::Stack &stack = all.captured.stacks.at(0);
    Texts functions;
    for (uint32_t n = 0; n < stack.kernel; n++)
      functions.push_back(all.frames[all.captured.places[stack.first + n]].places.front().function);
    return functions;
  }

  test::TempDir dir;
  CapturedStacks captured;
};

TEST_F(NameStacks, TheKernelsFramesHaveItsNamesAndModules) {
  add({0x1008, 0x2010, 0x2020});
  const NamedStacks all = named("1000 T schedule\n2000 t wait_on\t[ext4]\n3000 T last\n");
  EXPECT_EQ(kernel_part(all), (Texts{"schedule", "wait_on", "wait_on"}));
  EXPECT_EQ(all.frames[0].offset, 8u);
  EXPECT_EQ(all.frames[0].module, std::nullopt);
  EXPECT_EQ(all.frames[1].offset, 0x10u);
  EXPECT_EQ(all.frames[1].module, 2u) << "after the two files";
  EXPECT_EQ(all.frames[2].module, 2u) << "the same module";
  ASSERT_EQ(all.captured.files.size(), 3u);
  EXPECT_EQ(all.captured.files[2].path, "[ext4]");
  EXPECT_EQ(all.build_ids.size(), 3u);
}

TEST_F(NameStacks, FramesOfFilesHaveTheirOffsetAndOneMoreFrameIsMissing) {
  add({}, 0, {0x70, 0x80});
  const NamedStacks all = named();
  EXPECT_EQ(all.frames.at(1).offset, 0x80u);
  EXPECT_EQ(all.frames.at(1).places.front().function, "");
  EXPECT_EQ(all.missing, 2u);
  EXPECT_EQ(all.captured.frames.at(2).kind, CapturedFrame::missing);
  EXPECT_EQ(all.frames.size(), 3u);
}

TEST_F(NameStacks, TheTracersOwnFramesAreLeftOut) {
  for (const std::string own :
       {"bpf_prog_1", "__bpf_prog_enter", "__traceiter_sched_switch", "trace_call_bpf_faultable"}) {
    start();
    add({0x1000, 0x2000, 0x3000});
    EXPECT_EQ(kernel_part(named("1000 T first\n2000 T " + own + "\n3000 T schedule\n4000 T end\n")),
              Texts{"schedule"})
        << own << ": what is further inside is its, too";
  }
}

TEST_F(NameStacks, OnlyTheInnermostFramesOfTheTracerAreRemoved) {
  add({0x1000, 0x2000, 0x3000, 0x1000});
  const NamedStacks all = named("1000 T bpf_prog\n2000 T schedule\n3000 T do_wait\n4000 T end\n");
  EXPECT_EQ(kernel_part(all), (Texts{"schedule", "do_wait", "bpf_prog"})) << "a system call bpf()";
  EXPECT_EQ(all.captured.stacks[0].first, 1u);
}

/// Which stacks are taken for cut, once functions have names.
class CutStacks : public NameStacks {
protected:
  /// Names the frames of the program, the innermost first, and looks again. No file is read.
  static std::vector<bool> cut(NamedStacks all, const Texts &functions) {
    for (size_t n = 0; n < functions.size(); n++)
      all.frames.at(n).places.back().function = functions[n];
    find_cuts(all);
    return all.cut;
  }
};

TEST_F(CutStacks, OneThatEndsWhereThreadsStartIsWhole) {
  for (const char *first : {"_start", "__libc_start_main", "__libc_start_call_main", "start_thread",
                            "clone", "clone3", "__clone", "__clone3", "_dl_start_user", "_start_c",
                            "__libc_start_main_impl", "thread_start"}) {
    start();
    add({}, 1, {1, 2});
    EXPECT_EQ(cut(named(), {"work", first}), std::vector<bool>{false}) << first;
  }
  for (const char *in_program : {"_start", "__libc_start_call_main", "__clone3", "runtime.goexit",
                                 "runtime.mstart", "runtime.rt0_go"}) {
    start();
    add({}, 0, {1, 2});
    EXPECT_EQ(cut(named(), {"work", in_program}), std::vector<bool>{false}) << in_program;
  }
}

TEST_F(CutStacks, AFunctionOfTheProgramStartsNoThreadByItsName) {
  for (const char *users : {"clone", "clone3", "thread_start", "start_thread", "_start_c"}) {
    start();
    add({}, 0, {1, 2});
    EXPECT_EQ(cut(named(), {"work", users}), std::vector<bool>{true}) << users;
  }
}

/// posix_spawn() waits in clone().
TEST_F(CutStacks, OnlyTheOutermostFunctionShowsThatTheStackIsWhole) {
  add({}, 1, {1, 2, 3}).stuck = true;
  EXPECT_EQ(cut(named(), {"__clone3", "__spawnix", "posix_spawnp"}), std::vector<bool>{true});
  start();
  add({}, 1, {1, 2, 3}).stuck = true;
  EXPECT_EQ(cut(named(), {"__clone3", "__spawnix", ""}), std::vector<bool>{true});
}

/// It may be the caller that waits there, as in posix_spawn().
TEST_F(CutStacks, OneThatGotStuckInItsInnermostFunctionIsNotWhole) {
  add({}, 1, {1}).stuck = true;
  EXPECT_EQ(cut(named(), {"__clone3"}), std::vector<bool>{true});
  start();
  add({}, 1, {1, 2}).stuck = true;
  EXPECT_EQ(cut(named(), {"work", "clone"}), std::vector<bool>{false});
}

TEST_F(CutStacks, OneThatEndsElsewhereIsNot) {
  add({}, 0, {1, 2});
  EXPECT_EQ(cut(named(), {"work", "main"}), std::vector<bool>{true});
}

TEST_F(CutStacks, TheResultOfTheWalkOverridesNames) {
  add({}, 0, {1, 2}).whole = true;
  add({}, 0, {3, 4}).deep = true;
  add({5}); // the kernel's part alone
  add({}, 1, {6, 7}).stuck = true;
  EXPECT_EQ(named().cut, (std::vector<bool>{false, true, false, true}));
}

TEST_F(CutStacks, TheCLibraryCountsAsTheStartWithoutNames) {
  add({}, 1, {1, 2});
  add({}, 1, {3});
  add({}, 0, {4, 5});
  EXPECT_EQ(named().cut, (std::vector<bool>{false, true, true}));
}

TEST_F(NameStacks, EachOfThreeFilesThatWereChangedIsNamed) {
  captured.files.clear();
  captured.first_uses.clear();
  for (int n = 0; n < 5; n++) {
    const std::string path = dir / ("file\x1b" + std::to_string(n));
    std::ofstream(path) << "x";
    captured.files.push_back({path, 1}); // the number of another file
    captured.first_uses.push_back({uint32_t(getpid()), 0});
    add({}, uint32_t(n), {uint64_t(n)});
  }
  NamedStacks all = named();
  CodeFiles files;
  Texts warnings;
  const auto warn = [&](const std::string &text) { warnings.push_back(text); };
  name_files(all, files, nullptr, warn);
  ASSERT_EQ(warnings.size(), 4u);
  EXPECT_EQ(warnings[2], dir / "file?2" +
                             " was changed or replaced after a process mapped it: its functions "
                             "have addresses and no names");
  EXPECT_EQ(warnings[3], "2 more files were changed or replaced, too");
  all.captured.frames.resize(3); // of three files
  all.frames.resize(3);
  all.captured.stacks.clear();
  warnings.clear();
  name_files(all, files, nullptr, warn);
  EXPECT_EQ(warnings.size(), 3u) << "no others";
}

#if defined(__x86_64__)

/// Code with two functions of 16 bytes each, and a build id.
CodeFile make_code(const test::TempDir &dir, const std::string &name, const std::string &options) {
  std::ofstream(dir / name + ".s") << ".text\n.p2align 4\n.globl " << name << "_1, " << name
                                   << "_2\n.type " << name << "_1, @function\n"
                                   << name << "_1: nop\n.p2align 4\n.size " << name
                                   << "_1, 16\n.type " << name << "_2, @function\n"
                                   << name << "_2: nop\n.p2align 4\n.size " << name
                                   << "_2, 16\n.section .note.GNU-stack,\"\",@progbits\n";
  const std::string build = "gcc -shared -nostdlib -Wl,-Ttext=0x3000 " + options + " -o " +
                            (dir / name) + " " + (dir / name + ".s");
  EXPECT_EQ(std::system(build.c_str()), 0) << build;
  struct stat status = {};
  stat((dir / name).c_str(), &status);
  return {dir / name, status.st_ino, status.st_dev};
}

TEST_F(NameStacks, EachFrameHasTheFunctionOfItsOwnFile) {
  captured.files = {make_code(dir, "none", "-Wl,--build-id=none"),
                    make_code(dir, "one", "-Wl,--build-id=0x0a1b2c3d"),
                    make_code(dir, "two", "-Wl,--build-id=0x0c2d4e5f")};
  captured.first_uses.resize(3);
  for (FirstUse &use : captured.first_uses)
    use = {uint32_t(getpid()), monotonic_ns()};
  uint64_t text = 0; // where it is in each file
  const UniqueFd file(open(captured.files[1].path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto symbols = ElfSymbols::open("/", "", {.file = file.get()});
  ASSERT_TRUE(symbols);
  while (symbols->address_of(text) != 0x3000)
    ASSERT_LT(text += 16, 0x10000u);
  add({}, 2, {text + 17});
  add({}, 1, {text, text + 16});
  add({}, 2, {text + 15});
  add({}, 1, {text + 31});
  NamedStacks all = named();
  CodeFiles files;
  Texts asked;
  name_files(
      all, files,
      [&](const std::string &build_id) {
        asked.push_back(build_id);
        return UniqueFd();
      },
      [](const std::string &text) { ADD_FAILURE() << text; });
  Texts functions;
  std::vector<uint64_t> addresses;
  for (size_t n = 0; n < 5; n++) {
    functions.push_back(all.frames[n].places.at(0).function);
    addresses.push_back(all.frames[n].address.value_or(0));
  }
  EXPECT_EQ(functions, (Texts{"two_2", "one_1", "one_2", "two_1", "one_2"}));
  EXPECT_EQ(addresses, (std::vector<uint64_t>{0x3011, 0x3000, 0x3010, 0x300f, 0x301f}));
  EXPECT_EQ(all.build_ids, (Texts{"", "0a1b2c3d", "0c2d4e5f"}));
  EXPECT_EQ(asked, (Texts{"0a1b2c3d", "0c2d4e5f"}))
      << "those with frames, which have no debug data";
}

// Another file is at its path by now.
TEST_F(NameStacks, FramesOfAFileThatWasChangedHaveNoNames) {
  captured.files = {make_code(dir, "one", "-Wl,--build-id=0x0a1b2c3d")};
  captured.files[0].inode++;
  captured.first_uses = {{uint32_t(getpid()), monotonic_ns()}};
  for (uint64_t offset = 0; offset < 0x4000; offset += 16)
    add({}, 0, {offset});
  NamedStacks all = named();
  CodeFiles files;
  name_files(all, files, nullptr, [](const std::string &) {});
  for (const NamedFrame &frame : all.frames)
    ASSERT_EQ(frame.places.at(0).function, "");
  EXPECT_EQ(all.build_ids, Texts{""});
}

TEST_F(NameStacks, DebugDataIsAskedForOnceAndKept) {
  const CodeFile plain = make_code(dir, "plain", "-Wl,--build-id=0x0a1b2c3d"),
                 full = make_code(dir, "full", "-g -Wl,--build-id=0x0c2d4e5f"),
                 data = make_code(dir, "data", "-g -Wl,--build-id=0x0a1b2c3d"),
                 closed = {dir / "closed", 1, 1};
  CodeFiles files;
  const FirstUse now = {uint32_t(getpid()), monotonic_ns()};
  files.open({{&plain, now}, {&full, now}});
  EXPECT_EQ(files.find(plain).files.debug, -1);
  Texts asked;
  files.find_debug_data({plain, closed, full}, [&](const std::string &build_id) {
    asked.push_back(build_id);
    return UniqueFd(open(data.path.c_str(), O_RDONLY | O_CLOEXEC));
  });
  EXPECT_EQ(asked, Texts{"0a1b2c3d"}) << "the other has debug data";
  struct stat status = {};
  ASSERT_EQ(fstat(files.find(plain).files.debug, &status), 0);
  EXPECT_EQ(status.st_ino, data.inode);
  EXPECT_EQ(files.find(full).files.debug, -1);
  files.find_debug_data({plain}, [&](const std::string &) {
    ADD_FAILURE() << "it is there";
    return UniqueFd();
  });
}

#endif

} // namespace
} // namespace ovnitrace
