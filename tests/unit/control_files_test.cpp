// SPDX-License-Identifier: BSD-2-Clause
// What --control finds in several files together: limits, libraries of a program, hints and similar
// names.
#include "emulator/base/error.h"
#include "emulator/base/regular_file.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/waiting_program.h"
#include "user/control/arming.h"
#include "user/control/image.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#if defined(__x86_64__)

namespace ovnitrace::control {
namespace {

using Lines = std::vector<std::string>;

constexpr const char *kProgram = "-static -no-pie -Wl,-Ttext=0x401000";
constexpr const char *kLibrary = "-shared -Wl,-Ttext=0x1000";

class ControlFiles : public testing::Test {
protected:
  std::string make(const std::string &name, const std::string &code, const std::string &options) {
    std::ofstream(dir_ / "code.s") << ".text\n.globl _start\n"
                                   << code << "\n.section .note.GNU-stack,\"\",@progbits\n";
    const std::string build = "gcc -nostdlib -Wl,--build-id=none -o " + (dir_ / name) + " " +
                              (dir_ / "code.s") + " " + options;
    EXPECT_EQ(std::system(build.c_str()), 0) << build;
    return dir_ / name;
  }
  static std::string function(const std::string &name, const std::string &body = "ret") {
    return ".globl " + name + "\n.type " + name + ", @function\n" + name + ": " + body +
           "\n.size " + name + ", .-" + name + "\n";
  }
  /// Makes a program that needs these libraries, which are here.
  std::string make_user(const std::string &code, const std::vector<std::string> &libraries) {
    std::string options = "-pie -Wl,--no-as-needed,-rpath," + dir_.path();
    for (const std::string &library : libraries)
      options += " " + (dir_ / library);
    return make("user", "_start: ret\n" + code, options);
  }
  Arming arming(const Plan &plan) {
    return Arming(plan, nullptr, [this](const std::string &line) { said_.push_back(line); });
  }
  static std::string refusal(Arming &of) {
    try {
      of.refuse_impossible();
    } catch (const ovnitrace::Error &error) {
      return std::string(error.what()).substr(0, std::string(error.what()).find('\n'));
    }
    return "";
  }

  const test::TempDir dir_;
  Lines said_;
};

TEST_F(ControlFiles, AllFilesTogetherHaveALimitedNumberOfProbes) {
  const auto markers = [&](int count) {
    return make("m" + std::to_string(count),
                "_start: .rept " + std::to_string(count) + "\nxchg %ebx, %ebx\n.endr\nret\n",
                kProgram);
  };
  const Plan plan = make_plan({"start:magic:1.2"});
  Arming of = arming(plan);
  const auto refused = [&](int count, int others) {
    return fmt::format("--control: {0} places in {1}{0} are more than can be probed together with "
                       "the {2} of other files (65536 in all): its alarms do not hit there",
                       count, dir_ / "m", others);
  };
  of.look_at_program(markers(65535), Identity());
  of.look_at_program(markers(2), Identity());
  EXPECT_EQ(said_, Lines{refused(2, 65535)});
  of.look_at_program(markers(1), Identity());
  EXPECT_EQ(said_.size(), 1u) << "there is room for one";
  of.look_at_program(markers(3), Identity());
  EXPECT_EQ(said_.back(), refused(3, 65536));
  EXPECT_EQ(of.found()[0], 65535u + 2 + 1 + 3);
}

constexpr const char *kChoice = ".globl choose\n.type choose, @gnu_indirect_function\n"
                                "choose: ret\n.size choose, 1\n";

// The loader, for example, has a strlen of its own, which is not the one of the libc.
TEST_F(ControlFiles, AnotherLibrarysFunctionIsNotTheOneThatEachProcessChooses) {
  make("libchoice.so", kChoice, kLibrary);
  make("libplain.so", function("choose"), kLibrary);
  const Plan plan = make_plan({"start:enter_func:choose"});
  const std::string why = "--control: choose in " + dir_ / "libchoice.so" + " is an IFUNC: ";
  Arming both = arming(plan);
  both.look_at_program(make_user("", {"libplain.so", "libchoice.so"}), Identity());
  EXPECT_EQ(both.found()[0], 1u);
  EXPECT_EQ(refusal(both).substr(0, why.size()), why);
  EXPECT_EQ(said_, Lines());
  Arming own = arming(plan);
  own.look_at_program(make_user(function("choose"), {"libchoice.so"}), Identity());
  EXPECT_EQ(refusal(own), "") << "the program has its own";
  ASSERT_EQ(said_.size(), 1u);
  EXPECT_EQ(said_[0].substr(0, why.size()), why) << "it is said";
}

TEST_F(ControlFiles, AFunctionThatCanBeProbedInOneFileIsNotRefused) {
  make("libgood.so", function("solve"), kLibrary);
  make("libbad.so", function("solve", "jmp solve"), kLibrary);
  const Plan plan = make_plan({"start:timeout:1,stop:exit_func:solve"});
  const std::string why = "--control: the exit of the function at 0x1000 in " + dir_ / "libbad.so" +
                          " cannot be probed: it never returns";
  Arming both = arming(plan);
  both.look_at_program(make_user("", {"libbad.so", "libgood.so"}), Identity());
  EXPECT_EQ(refusal(both), "");
  EXPECT_EQ(said_, Lines{why});
  Arming bad = arming(plan);
  bad.look_at_program(make_user("", {"libbad.so"}), Identity());
  EXPECT_EQ(refusal(bad), why);
}

TEST_F(ControlFiles, TheHintIsThatOfTheFirstFileThatHasTheAddress) {
  const auto library = [&](const std::string &name, const std::string &code) {
    const std::string made = make(name, code, kLibrary);
    std::filesystem::permissions(made, std::filesystem::perms::owner_all);
    return made;
  };
  const std::string small = library("small.so", function("one")),
                    large = library("large.so", ".skip 0x20000, 0x90\nret\n"),
                    other = library("other.so", ".skip 0x30000, 0x90\nret\n");
  const Plan plan = make_plan({"start:address:0x20000"});
  const auto hint = [&](const std::vector<std::string> &files) {
    Arming of = arming(plan);
    for (const std::string &file : files)
      of.look_at_program(file, Identity());
    const std::string why = refusal(of);
    return why.substr(std::min(why.size(), why.rfind("IMAGE+OFFSET")));
  };
  EXPECT_EQ(hint({small}), "") << "a program that is loaded later may have it";
  EXPECT_EQ(hint({small, large, other}), "IMAGE+OFFSET, such as large.so+20000");
  EXPECT_EQ(hint({other, large, small}), "IMAGE+OFFSET, such as other.so+20000");
}

TEST_F(ControlFiles, FiveSimilarNamesOfAllFilesAreSaidOnceEach) {
  const std::string one = make("one",
                               "_start: ret\n" + function("tel1") + function("tel2") +
                                   function("tel3"),
                               kProgram),
                    two = make("two",
                               "_start: ret\n" + function("tel2") + function("tel4") +
                                   function("tel5") + function("tel6"),
                               kProgram);
  const Plan plan =
      make_plan({"start:timeout:1", "stop:address:0x7fff00000000,stop:exit_func:tell"});
  Arming of = arming(plan);
  of.look_at_program(one, Identity());
  of.look_at_program(two, Identity());
  of.report_missing("it waits");
  ASSERT_EQ(said_.size(), 2u);
  EXPECT_TRUE(said_[1].ends_with("; similar names: tel1, tel2, tel3, tel4, tel5); it waits"))
      << said_[1];
  EXPECT_EQ(said_[0].find("similar"), std::string::npos) << "an address has no name";
}

TEST_F(ControlFiles, AMappedFileOfAnotherMachineIsSaidToHaveNoProbes) {
  const std::string foreign = make("foreign", function("tell"), kLibrary);
  {
    const Elf64_Half machine = EM_RISCV;
    std::fstream file(foreign, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offsetof(Elf64_Ehdr, e_machine));
    file.write(reinterpret_cast<const char *>(&machine), sizeof(machine));
  }
  const std::string maps = make("maps", R"(
_start: xor %eax, %eax
  xor %edi, %edi
  lea byte(%rip), %rsi
  mov $1, %edx
  syscall
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
again: mov $1, %eax
  mov $1, %edi
  lea byte(%rip), %rsi
  mov $1, %edx
  syscall
wait: mov $34, %eax
  syscall
  jmp wait
.data
byte: .quad 0
path: .asciz ")" + foreign + "\"\n",
                                "-pie");
  const test::WaitingProgram process(maps);
  const Plan none = make_plan({"start:timeout:1"}), needed = make_plan({"start:enter_func:tell"});
  Arming without = arming(none);
  without.look_at_process(process.pid());
  EXPECT_EQ(said_, Lines());
  Arming of = arming(needed);
  of.look_at_process(process.pid());
  EXPECT_EQ(said_, Lines{"--control: alarms that need probes do not hit in " + foreign +
                         ": it is not a 64-bit program for this machine"});
}

TEST_F(ControlFiles, AProgramIsOpenedWithTheRightsOfItsUser) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can act as another user";
  const std::string program = make("private", "_start: ret\n", kProgram);
  std::filesystem::permissions(dir_.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(program, std::filesystem::perms(0711));
  Identity nobody;
  nobody.uid = nobody.gid = 65534;
  nobody.change = true;
  const Plan plan = make_plan({"start:timeout:1"});
  Arming of = arming(plan);
  EXPECT_NO_THROW(of.look_at_program(program, Identity()));
  try {
    of.look_at_program(program, nobody);
    ADD_FAILURE();
  } catch (const ovnitrace::Error &error) {
    EXPECT_EQ(std::string(error.what()),
              "--control: cannot read " + program + ": Permission denied");
  }
  EXPECT_EQ(geteuid(), 0u);
}

// ld -N puts the segment where the code is, which need not be the start of a page.
TEST_F(ControlFiles, TheBaseOfAFileIsTheStartOfItsFirstPage) {
  const std::string packed =
      make("packed", "_start: ret\n", "-static -no-pie -Wl,-N,-Ttext=0x401234");
  const auto image = read_image(packed, open_regular(packed).get());
  ASSERT_TRUE(image);
  EXPECT_EQ(image->code.at(0).address, 0x401234u);
  EXPECT_EQ(image->base, 0x401000u);
}

} // namespace
} // namespace ovnitrace::control

#endif
