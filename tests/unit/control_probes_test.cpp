// SPDX-License-Identifier: BSD-2-Clause
// Which probes are set in which process, and when they are removed: user/control/arming, with a
// kernel of the test's own.
#include "emulator/base/error.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/waiting_program.h"
#include "user/control/arming.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#if defined(__x86_64__)

namespace ovnitrace::control {
namespace {

using Lines = std::vector<std::string>;
using At = std::vector<std::pair<uint64_t, uint64_t>>; // offset, cookie

/// Programs begin with `tell`, at offset 0x1000. They read bytes (get) and write them (put).
constexpr const char *kStart = R"(
.macro get
  xor %eax, %eax
  xor %edi, %edi
  lea byte(%rip), %rsi
  mov $1, %edx
  syscall
.endm
.macro put
  mov $1, %eax
  mov $1, %edi
  lea byte(%rip), %rsi
  mov $1, %edx
  syscall
.endm
.data
byte: .quad 0
.text
.globl _start, tell
.type tell, @function
tell: nop
  ret
.size tell, 2
.section .note.GNU-stack,"",@progbits
.text
_start:
)";

class Recorder final : public Probes {
public:
  struct Set {
    ProbeKind kind;
    uint32_t pid;
    std::string file;
    At at;
    bool own;
    bool operator==(const Set &) const = default;
  };

  int add_probes(ProbeKind kind, uint32_t pid, const std::string &path,
                 std::span<const UprobeAt> places, bool own) override {
    At at;
    for (const UprobeAt &one : places)
      at.emplace_back(one.offset, one.cookie);
    sets.push_back({kind, pid, std::filesystem::read_symlink(path), at, own});
    return error;
  }
  void drop_probes(uint32_t pid, bool now) override { dropped.emplace_back(pid, now); }
  size_t files_needed(size_t places) const override {
    asked.push_back(places);
    return 0;
  }

  std::vector<Set> sets;
  std::vector<std::pair<uint32_t, bool>> dropped;
  mutable std::vector<size_t> asked;
  int error = 0;
};
using Sets = std::vector<Recorder::Set>;
using Dropped = std::vector<std::pair<uint32_t, bool>>;

class ControlProbes : public testing::Test {
protected:
  /// Makes a program, and returns its path.
  std::string make(const std::string &name, const std::string &code,
                   const std::string &options = "-static -no-pie -Wl,-Ttext=0x401000") {
    std::ofstream(dir_ / "code.s") << kStart << code;
    const std::string build = "gcc -nostdlib -Wl,--build-id=none " + options + " -o " +
                              (dir_ / name) + " " + dir_ / "code.s";
    EXPECT_EQ(std::system(build.c_str()), 0) << build;
    return dir_ / name;
  }
  std::string echo() { return make("echo", "get\nput\njmp _start\n"); }
  void watch(const std::vector<std::string> &chains) {
    plan_ = make_plan(chains);
    arming_ = std::make_unique<Arming>(plan_, &kernel_,
                                       [this](const std::string &line) { said_.push_back(line); });
  }

  const test::TempDir dir_;
  Plan plan_;
  Recorder kernel_;
  Lines said_;
  std::unique_ptr<Arming> arming_;
};

TEST_F(ControlProbes, EachProcessGetsTheProbesOfEachKindOnce) {
  const std::string program = echo();
  const test::WaitingProgram one(program), other(program);
  watch({"start:timeout:1,start:enter_func:tell,stop:exit_func:tell,threadid:address:0x401000"});
  arming_->look_at_process(one.pid());
  const auto sets_of = [&](uint32_t pid) {
    return Sets{{ProbeKind::leave, pid, program, {{0x1001, 4}}, true},
                {ProbeKind::alarm, pid, program, {{0x1000, 14}}, true}};
  };
  EXPECT_EQ(kernel_.sets, sets_of(one.pid()));
  EXPECT_EQ(kernel_.asked, (std::vector<size_t>{1, 1}));
  arming_->look_at_process(one.pid());
  EXPECT_EQ(kernel_.sets.size(), 2u) << "they are there";
  kernel_.sets.clear();
  arming_->look_at_process(other.pid());
  EXPECT_EQ(kernel_.sets, sets_of(other.pid()));
  kernel_.dropped.clear();
  arming_->forget(one.pid());
  arming_->forget(0x7ffffffe); // which was never looked at
  EXPECT_EQ(kernel_.dropped, (Dropped{{one.pid(), false}}));
  kernel_.sets.clear();
  arming_->look_at_process(one.pid());
  EXPECT_EQ(kernel_.sets, sets_of(one.pid())) << "another process with its number";
  arming_->forget(other.pid(), true);
  EXPECT_EQ(kernel_.dropped.back(), std::pair(other.pid(), true));
  EXPECT_FALSE(arming_->has_looked_at(other.pid()));
}

TEST_F(ControlProbes, AnAddressIsFoundWhereTheProcessHasLoadedIt) {
  for (const char *linked : {"0x1000", "0x301000"}) { // both at 0x1000 in the file
    const std::string program = make(std::string("moved") + linked, "get\nput\njmp _start\n",
                                     std::string("-static-pie -Wl,-Ttext=") + linked);
    const test::WaitingProgram process(program);
    uint64_t start = 0, length = 0, offset = 0;
    for (const MappedFile &file : mapped_files(process.pid()))
      if (file.path == program)
        start = file.address, length = file.length, offset = file.offset;
    watch({fmt::format("start:address:{:#x},stop:address:{:#x},threadid:address:{:#x}", start - 1,
                       start + 1, start + length)});
    kernel_.sets.clear();
    arming_->look_at_process(process.pid());
    EXPECT_EQ(kernel_.sets,
              (Sets{{ProbeKind::alarm, process.pid(), program, {{offset + 1, 2}}, true}}))
        << linked;
    EXPECT_EQ(arming_->found(), (std::vector<uint64_t>{0, 1, 0}));
  }
}

// What it maps beside its own file, it may only read.
TEST_F(ControlProbes, AProgramWithoutALoaderIsProbedAlone) {
  const std::string library = make("library", "ret\n", "-shared -Wl,-Ttext=0x1000");
  const std::string program = make("maps", R"(
  get
  mov $2, %eax
  lea path(%rip), %rdi
  xor %esi, %esi
  syscall
  mov %rax, %r8
  mov $9, %eax
  xor %edi, %edi
  mov $8192, %esi
  mov $5, %edx
  mov $2, %r10d
  xor %r9d, %r9d
  syscall
again: put
  get
  jmp again
.data
path: .asciz ")" + library + "\"\n");
  const test::WaitingProgram process(program);
  ASSERT_EQ(mapped_files(process.pid()).size(), 2u);
  watch({"start:enter_func:tell"});
  arming_->look_at_process(process.pid());
  EXPECT_EQ(kernel_.sets, (Sets{{ProbeKind::alarm, process.pid(), program, {{0x1000, 1}}, true}}));
  EXPECT_EQ(arming_->found()[0], 1u);
}

TEST_F(ControlProbes, LibrariesAreProbedTooAndTheLoaderTellsOfMore) {
  const std::string program = make("loads", "get\nput\njmp _start\n", "-pie -Wl,-Ttext=0x1000");
  const test::WaitingProgram process(program);
  watch({"start:enter_func:tell"});
  arming_->look_at_process(process.pid());
  EXPECT_TRUE(arming_->has_loader());
  Sets programs, loaders;
  for (const Recorder::Set &set : kernel_.sets)
    (set.file == program ? programs : loaders).push_back(set);
  EXPECT_EQ(programs, (Sets{{ProbeKind::alarm, process.pid(), program, {{0x1000, 1}}, true}}));
  ASSERT_EQ(loaders.size(), 1u);
  EXPECT_EQ(loaders[0].kind, ProbeKind::library);
  EXPECT_FALSE(loaders[0].own);
  ASSERT_EQ(loaders[0].at.size(), 1u);
  EXPECT_EQ(loaders[0].at[0].second, 0u) << "of no alarm";
  uint64_t address = 0; // of the same place
  for (const MappedFile &file : mapped_files(process.pid()))
    if (file.path == loaders[0].file)
      address = file.address - file.offset + loaders[0].at[0].first;
  watch({fmt::format("start:timeout:1,stop:address:{:#x}", address)});
  kernel_.sets.clear();
  arming_->look_at_process(process.pid());
  const Recorder::Set at_address = {
      ProbeKind::alarm, process.pid(), loaders[0].file, {{loaders[0].at[0].first, 2}}, false};
  EXPECT_EQ(kernel_.sets.back(), at_address);
}

TEST_F(ControlProbes, ANoteOfAFileIsSaidOnce) {
  const std::string program = make("noted", "get\nput\njmp _start\n");
  const test::WaitingProgram one(program), other(program);
  watch({"start:address:noted+1000,stop:address:noted+1002"}); // in `tell`, and behind it
  arming_->look_at_process(one.pid());
  arming_->look_at_process(other.pid());
  EXPECT_EQ(said_, Lines{"--control: 0x401002 in " + program +
                         " is in no known function: a program that reads it as data sees the "
                         "probe"});
}

TEST_F(ControlProbes, AProgramThatIsExecutedLosesTheProbesOfTheOneBefore) {
  const std::string second = make("second", "put\nget\njmp _start\n");
  const std::string first = make("first", R"(
  get
  put
  get
  mov $59, %eax
  lea path(%rip), %rdi
  xor %esi, %esi
  xor %edx, %edx
  syscall
.data
path: .asciz ")" + second + "\"\n");
  const test::WaitingProgram process(first);
  watch({"start:enter_func:tell"});
  arming_->look_at_process(process.pid());
  kernel_.dropped.clear();
  arming_->look_at_process(process.pid());
  EXPECT_EQ(kernel_.dropped, Dropped());
  ASSERT_TRUE(process.turn());
  arming_->look_at_process(process.pid());
  EXPECT_EQ(kernel_.dropped, (Dropped{{process.pid(), true}}));
  ASSERT_EQ(kernel_.sets.size(), 2u);
  EXPECT_EQ(kernel_.sets[0].file, first);
  EXPECT_EQ(kernel_.sets[1].file, second);
}

TEST_F(ControlProbes, WhatARunningProcessHasOnlyAsAChoiceIsRefused) {
  const std::string program = make("choice", "get\nput\njmp _start\n"
                                             ".type choose, @gnu_indirect_function\n"
                                             "choose: ret\n.size choose, 1\n");
  const test::WaitingProgram process(program);
  watch({"start:enter_func:choose"});
  arming_->look_at_process(process.pid());
  try {
    arming_->refuse_impossible();
    ADD_FAILURE();
  } catch (const ovnitrace::Error &error) {
    const std::string why = "--control: choose in " + program + " is an IFUNC: ";
    EXPECT_EQ(std::string(error.what()).substr(0, why.size()), why);
  }
}

TEST_F(ControlProbes, WhatTheKernelRefusesIsSaidOnceForEachFile) {
  const std::string program = echo();
  const test::WaitingProgram one(program), other(program), third(program);
  watch({"start:enter_func:tell"});
  const std::string refuses = "--control: the kernel refuses probes in " + program + ": ";
  kernel_.error = ESRCH;
  arming_->look_at_process(one.pid());
  EXPECT_EQ(said_, Lines()) << "it has ended";
  kernel_.error = ENOSPC;
  arming_->look_at_process(other.pid());
  EXPECT_EQ(said_, Lines{refuses + "No space left on device"});
  arming_->look_at_process(third.pid());
  EXPECT_EQ(said_.size(), 1u);
  kernel_.error = EPERM;
  arming_->forget(one.pid());
  arming_->look_at_process(one.pid());
  EXPECT_EQ(said_,
            (Lines{refuses + "No space left on device", refuses + "Operation not permitted"}));
}

} // namespace
} // namespace ovnitrace::control

#endif
