// SPDX-License-Identifier: BSD-2-Clause
// Names of the frames that are in files, and the debug data that is fetched or in a container:
// user/stacks/name_stacks and code_files.
#include "emulator/base/regular_file.h"
#include "tests/unit/support/temp_dir.h"
#include "user/control/image.h"
#include "user/stacks/code_files.h"
#include "user/stacks/name_stacks.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

using Texts = std::vector<std::string>;

constexpr const char *kBuildId = "ab12cd34";

class FileNames : public testing::Test {
protected:
  void run(const std::string &command) const {
    const std::string all = "cd " + dir_.path() + " && " + command;
    ASSERT_EQ(std::system(all.c_str()), 0) << all;
  }
  /// Makes a library with these two functions, and separate debug data.
  void make(const std::string &name, const std::string &first, const std::string &second,
            const std::string &build_id) {
    std::ofstream(dir_ / "code.c") << "int " << first << "(int a) {\n  return a + 1;\n}\nint "
                                   << second << "(int a) {\n  return a * 3;\n}\n";
    run("gcc -g -O1 -shared -nostdlib -Wl,--build-id=" + build_id + " -o whole code.c");
    run("objcopy --only-keep-debug whole " + name + ".debug");
    run("objcopy --strip-debug --add-gnu-debuglink=" + name + ".debug whole " + name);
  }
  CodeFile file(const std::string &name) const {
    struct stat status = {};
    EXPECT_EQ(stat((dir_ / name).c_str(), &status), 0);
    return {dir_ / name, status.st_ino, status.st_dev};
  }
  /// The offset of a function's second byte in the file, and its address.
  std::pair<uint64_t, uint64_t> place(const std::string &name, const std::string &function) const {
    const auto image = control::read_image(name, open_regular(dir_ / name).get());
    const uint64_t address =
        control::find_functions(*image, function, control::Naming::bare).at(0) + 1;
    return {*image->offset_of(address), address};
  }
  void hide_debug_data(const std::string &name) const { run("mv " + name + ".debug data"); }

  const test::TempDir dir_;
};

TEST_F(FileNames, EachFrameHasTheFunctionOfItsOwnFile) {
  make("one.so", "alpha", "beta", std::string("0x") + kBuildId);
  make("two.so", "third", "fourth", "none");
  CapturedStacks captured;
  captured.files = {file("two.so"), file("one.so")};
  captured.first_uses = {{uint32_t(getpid()), 0}, {uint32_t(getpid()), 0}};
  const std::pair<uint64_t, uint64_t> places[] = {place("one.so", "beta"), place("two.so", "third"),
                                                  place("one.so", "alpha"),
                                                  place("two.so", "fourth")};
  for (const uint32_t n : {0u, 1u, 2u, 3u})
    captured.frames.push_back({CapturedFrame::file, n % 2 ? 0u : 1u, places[n].first});
  captured.frames.push_back({CapturedFrame::kernel, 0, 0x1000});
  NamedStacks all = name_stacks(std::move(captured), -1, 0);
  CodeFiles files;
  Texts warnings;
  name_files(all, files, nullptr, [&](const std::string &text) { warnings.push_back(text); });
  EXPECT_EQ(warnings, Texts());
  EXPECT_EQ(all.build_ids, (Texts{"", kBuildId}));
  Texts functions;
  for (const NamedFrame &frame : all.frames)
    functions.push_back(frame.places.back().function);
  EXPECT_EQ(functions, (Texts{"beta", "third", "alpha", "fourth", "", ""}));
  for (const size_t n : {0, 1, 2, 3})
    EXPECT_EQ(all.frames[n].address, places[n].second) << n;
  EXPECT_EQ(all.frames[4].address, std::nullopt);
  EXPECT_EQ(all.frames[0].places.back().line, 5u) << "of the debug data beside it";
}

TEST_F(FileNames, DebugDataIsFetchedForFilesThatHaveNone) {
  make("one.so", "alpha", "beta", std::string("0x") + kBuildId);
  hide_debug_data("one.so");
  make("two.so", "third", "fourth", "0xcd34ab12");
  make("three.so", "f", "g", "none");
  hide_debug_data("three.so");
  make("data.so", "alpha", "beta", std::string("0x") + kBuildId);
  const std::vector<CodeFile> all = {file("three.so"), file("two.so"), file("one.so")};
  CodeFiles files;
  std::vector<CodeFiles::Use> uses;
  for (const CodeFile &one : all)
    uses.push_back({&one, {uint32_t(getpid()), 0}});
  files.open(uses);
  Texts fetched;
  files.find_debug_data(all, [&](const std::string &build_id) {
    fetched.push_back(build_id);
    return open_regular(dir_ / "data.so.debug");
  });
  EXPECT_EQ(fetched, Texts{kBuildId}) << "one has its data, and one no name for it";
  const CodeFiles::Opened found = files.find(all[2]);
  ASSERT_GE(found.files.debug, 0);
  EXPECT_EQ(files.find(all[0]).files.debug, -1);
  EXPECT_EQ(files.find(all[1]).files.debug, -1);
  const auto symbols = ElfSymbols::open(all[2].path, "", found.files);
  ASSERT_TRUE(symbols);
  EXPECT_EQ(symbols->at(place("one.so", "beta").second).back().line, 5u);
  fetched.clear();
  files.find_debug_data(all, [&](const std::string &build_id) {
    fetched.push_back(build_id);
    return UniqueFd();
  });
  EXPECT_EQ(fetched, Texts()) << "it is there now";
}

// A container can end: its debug data is opened soon.
TEST_F(FileNames, DebugDataOfAContainerIsOpened) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can make a container";
  make("one.so", "alpha", "beta", std::string("0x") + kBuildId);
  make("two.so", "third", "fourth", "0xcd34ab12");
  int ends[2];
  char byte = 0;
  ASSERT_EQ(pipe(ends), 0);
  const pid_t container = fork();
  if (container == 0) {
    byte = unshare(CLONE_NEWNS) == 0 ? 'y' : 'n';
    (void)!write(ends[1], &byte, 1);
    for (;;)
      pause();
  }
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  close(ends[0]), close(ends[1]);
  const CodeFile inside = file("one.so"), outside = file("two.so");
  CodeFiles files;
  files.open({{&inside, {uint32_t(container), 0}}, {&outside, {uint32_t(getpid()), 0}}});
  EXPECT_EQ(files.find(inside).files.debug, -1);
  files.look_into_containers();
  kill(container, SIGKILL);
  waitpid(container, nullptr, 0);
  if (byte == 'n')
    GTEST_SKIP() << "no container can be made here";
  struct stat opened = {}, expected = {};
  EXPECT_EQ(fstat(files.find(inside).files.debug, &opened), 0);
  EXPECT_EQ(stat((dir_ / "one.so.debug").c_str(), &expected), 0);
  EXPECT_EQ(opened.st_ino, expected.st_ino);
  EXPECT_EQ(files.find(outside).files.debug, -1) << "it is found when it is needed";
}

} // namespace
} // namespace ovnitrace
