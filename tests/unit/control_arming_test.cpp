// SPDX-License-Identifier: BSD-2-Clause
// What --control finds in programs, libraries and processes, without probes (control --check).
#include "emulator/base/regular_file.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/waiting_program.h"
#include "user/control/arming.h"
#include "user/control/image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace ovnitrace::control {
namespace {

using Lines = std::vector<std::string>;

/// Programs that are made once: `fixed` needs no loader, `moved` has one.
class ControlArming : public testing::Test {
protected:
  static void SetUpTestSuite() {
    dir_ = new test::TempDir;
    std::ofstream(path("app.s")) << R"(
.text
.globl _start
.type _start, @function
_start: nop
  nop
.size _start, 2
.globl tell
.type tell, @function
tell: nop
  ret
.size tell, 2
.type choose, @gnu_indirect_function
.globl choose
choose: ret
.size choose, 1
.type second, @function
second: nop
  nop
  nop
  ret
.size second, 4
.data
.globl object
.type object, @object
object: .quad 1
.section .note.GNU-stack,"",@progbits
)";
    make("-static -nostdlib -no-pie -Wl,-Ttext=0x401000,--build-id=none -o " + path("fixed"));
    make("-shared -nostdlib -Wl,--build-id=none -o " + path("moved"));
  }
  static void TearDownTestSuite() {
    delete dir_;
    dir_ = nullptr;
  }
  static void make(const std::string &options) {
    const std::string build = "gcc " + path("app.s") + " " + options;
    ASSERT_EQ(std::system(build.c_str()), 0) << build;
  }
  static std::string path(const std::string &name) { return *dir_ / name; }
  Arming arming(const Plan &plan) {
    return Arming(plan, nullptr, [this](const std::string &line) { said_.push_back(line); });
  }
  /// The usage error that the alarms make in a program; empty: none.
  std::string refusal(const Plan &plan, const std::string &program) {
    Arming of = arming(plan);
    return test::error_from([&] {
      of.look_at_program(program, Identity());
      of.refuse_impossible();
    });
  }

  static test::TempDir *dir_;
  Lines said_;
};
test::TempDir *ControlArming::dir_ = nullptr;

const Function *named(const std::vector<Function> &functions, const std::string &name) {
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const Function &one) { return one.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

TEST_F(ControlArming, AnImageHasItsFunctionsAndWhereTheyAre) {
  const UniqueFd fd = open_regular(path("fixed"));
  const auto image = read_image("/as/given", fd.get());
  ASSERT_TRUE(image);
  EXPECT_EQ(image->path, "/as/given");
  struct stat status;
  ASSERT_EQ(stat(path("fixed").c_str(), &status), 0);
  EXPECT_EQ(image->inode, status.st_ino);
  EXPECT_EQ(image->device, status.st_dev);
  EXPECT_TRUE(image->fixed);
  EXPECT_FALSE(image->has_interpreter);
  EXPECT_EQ(image->read_error, 0);
  EXPECT_EQ(image->base, 0x400000u);
  ASSERT_EQ(image->code.size(), 1u);
  EXPECT_EQ(image->code[0].address, 0x401000u);
  EXPECT_EQ(image->code[0].offset, 0x1000u);
  const Function *second = named(image->functions, "second");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->size, 4u);
  EXPECT_EQ(named(image->functions, "object"), nullptr);
  EXPECT_EQ(named(image->functions, "choose"), nullptr);
  ASSERT_EQ(image->indirect.size(), 1u);
  EXPECT_EQ(image->indirect[0].name, "choose");
  EXPECT_EQ(image->indirect[0].size, 1u);
  EXPECT_EQ(image->indirect[0].address + 1, second->address);
  EXPECT_TRUE(std::is_sorted(image->bodies.begin(), image->bodies.end()));
  EXPECT_EQ(image->bodies.back(), (Body{second->address, second->address + 4}));
  EXPECT_EQ(image->bodies.size(), 3u);
}

TEST_F(ControlArming, AnImageThatIsLoadedAnywhereIsNotFixed) {
  const UniqueFd moved = open_regular(path("moved")), shell = open_program("/bin/sh"),
                 text = open_regular(path("app.s"));
  EXPECT_FALSE(read_image("x", moved.get())->fixed);
  EXPECT_EQ(read_image("x", moved.get())->base, 0u);
  EXPECT_FALSE(read_image("x", moved.get())->has_interpreter);
  EXPECT_TRUE(read_image("x", shell.get())->has_interpreter);
  EXPECT_FALSE(read_image("x", shell.get())->bodies.empty()) << "of its unwind information";
  EXPECT_FALSE(read_image("x", text.get()));
}

// Any number of symbols may have one name, which can be as long as the file.
TEST_F(ControlArming, AFunctionWithTooLongANameIsLeftOut) {
  const std::string longest((1 << 14) - 1, 'a'), longer(1 << 14, 'b');
  std::ofstream source(path("long.s"));
  source << ".text\n";
  for (const std::string &name : {longest, longer})
    source << ".type " << name << ", @function\n" << name << ": nop\n";
  source.close();
  const std::string made = path("long.so");
  ASSERT_EQ(std::system(("gcc -shared -nostdlib -o " + made + " " + path("long.s")).c_str()), 0);
  const auto image = read_image(made, open_regular(made).get());
  ASSERT_TRUE(image);
  EXPECT_TRUE(named(image->functions, longest));
  EXPECT_FALSE(named(image->functions, longer));
}

TEST_F(ControlArming, FindsAlarmsInTheProgram) {
  const Plan plan = make_plan({"start:timeout:1,start:enter_func:tell,stop:address:fixed+1000,"
                               "stop:address:0x401001"});
  Arming of = arming(plan);
  EXPECT_TRUE(of.missing());
  of.look_at_program(path("fixed"), Identity());
  EXPECT_EQ(of.found(), (std::vector<uint64_t>{0, 1, 1, 1}));
  EXPECT_FALSE(of.missing()) << "a timeout needs no place";
  EXPECT_FALSE(of.has_loader());
  of.refuse_impossible();
  of.report_missing("it is armed later");
  EXPECT_EQ(said_, Lines());
  of.look_at_program(path("fixed"), Identity());
  EXPECT_EQ(of.found(), (std::vector<uint64_t>{0, 1, 1, 1})) << "it is examined once";
}

TEST_F(ControlArming, AProgramWithALoaderCanLoadMore) {
  const Plan plan = make_plan({"start:enter_func:no_such_function_0"});
  Arming of = arming(plan);
  of.look_at_program("sh", Identity());
  EXPECT_TRUE(of.has_loader());
  EXPECT_TRUE(of.missing());
  EXPECT_NO_THROW(of.refuse_impossible());
  const Plan hook = make_plan({"start:enter_func:printf"});
  Arming library = arming(hook);
  library.look_at_program("sh", Identity());
  EXPECT_GE(library.found()[0], 1u) << "of the libc that it needs";
}

TEST_F(ControlArming, AScriptCanLoadMore) {
  std::ofstream(path("script")) << "#!/bin/sh\n";
  ASSERT_EQ(chmod(path("script").c_str(), 0755), 0);
  const Plan plan = make_plan({"start:enter_func:tell"});
  Arming of = arming(plan);
  of.look_at_program(path("script"), Identity());
  EXPECT_TRUE(of.has_loader());
  EXPECT_TRUE(of.missing());
}

TEST_F(ControlArming, SaysWhatIsMissingAndWhatIsSimilar) {
  const Plan plan =
      make_plan({"start:int3,start:address:tel,stop:address:fixed+1000", "stop:enter_func:sekond",
                 "stop:exit_func:quite_another:count2", "stop:pcontrol:tel"});
  Arming of = arming(plan);
  of.look_at_program(path("fixed"), Identity());
  of.report_missing("it waits");
  const std::string start = "--control: no loaded file contains what ",
                    advice =
                        "if the function is inlined or the file is stripped, give IMAGE+OFFSET";
  EXPECT_EQ(
      said_,
      (Lines{start + "start:address:tel looks for (" + advice + "; similar names: tell); it waits",
             start + "stop:enter_func:sekond looks for (" + advice +
                 "; similar names: second); it waits",
             start + "stop:exit_func:quite_another:count2 looks for (" + advice + "); it waits",
             start + "stop:pcontrol:tel looks for (" + advice + "); it waits"}))
      << "a string is no name";
}

TEST_F(ControlArming, ARefusedPlaceHasItsReasonAndACaret) {
  const Plan choice = make_plan({"start:timeout:1", "stop:int3,stop:enter_func:choose"});
  const std::string why = refusal(choice, path("fixed"));
  EXPECT_EQ(why.find("--control: choose in " + path("fixed") + " is an IFUNC: "), 0u) << why;
  EXPECT_TRUE(
      why.ends_with("\n  stop:int3,stop:enter_func:choose\n" + std::string(28, ' ') + "^~~~~~"))
      << why;
  EXPECT_EQ(refusal(make_plan({"start:enter_func:tell"}), path("fixed")), "");
  const std::string end = refusal(make_plan({"stop:address:fixed+2000"}), path("fixed"));
  EXPECT_EQ(end.find("--control: 0x402000 in " + path("fixed") + " cannot be probed: "), 0u) << end;
}

TEST_F(ControlArming, AnAddressWhereNothingIsLoadedIsRefused) {
  ASSERT_EQ(chmod(path("moved").c_str(), 0755), 0);
  const std::string why =
      refusal(make_plan({"start:timeout:1,stop:address:0x1001"}), path("moved"));
  EXPECT_EQ(why.find("--control: no code is loaded at this address: programs and libraries are "
                     "loaded at random addresses, unless they run under setarch -R or are linked "
                     "with -no-pie: use IMAGE+OFFSET"),
            0u)
      << why;
  EXPECT_TRUE(why.ends_with("^~~~~~")) << why;
  EXPECT_EQ(refusal(make_plan({"start:address:0x555555555000"}), path("moved")), "")
      << "it may be loaded there";
  EXPECT_EQ(refusal(make_plan({"start:address:0x300"}), path("fixed")), "")
      << "no hint of that program";
}

TEST_F(ControlArming, SaysThatAProgramCannotBeFoundOrRead) {
  const Plan plan = make_plan({"start:enter_func:tell"});
  EXPECT_EQ(refusal(plan, "no-such-program-0"), "--control: cannot find no-such-program-0 in PATH");
  EXPECT_EQ(refusal(plan, path("none")),
            "--control: cannot read " + path("none") + ": No such file or directory");
}

TEST_F(ControlArming, AProgramOfAnotherMachineIsRefusedIfProbesAreNeeded) {
  std::filesystem::copy_file(path("fixed"), path("foreign"),
                             std::filesystem::copy_options::overwrite_existing);
  const Elf64_Half machine = EM_RISCV;
  {
    std::fstream file(path("foreign"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offsetof(Elf64_Ehdr, e_machine));
    file.write(reinterpret_cast<const char *>(&machine), sizeof(machine));
  }
  EXPECT_EQ(refusal(make_plan({"start:enter_func:tell"}), path("foreign")),
            "--control: cannot set probes in " + path("foreign") +
                ": it is not a 64-bit program for this machine; timeout, interactive, icount and "
                "int3 work without probes");
  EXPECT_EQ(refusal(make_plan({"start:timeout:1"}), path("foreign")), "");
}

TEST_F(ControlArming, LooksAtWhatAProcessHasLoaded) {
  const Plan plan = make_plan({"start:timeout:1,stop:enter_func:printf"});
  Arming of = arming(plan);
  const test::WaitingProgram one("/bin/cat"), other("/bin/cat");
  EXPECT_FALSE(of.has_looked_at(one.pid()));
  of.look_at_process(one.pid());
  EXPECT_TRUE(of.has_looked_at(one.pid()));
  EXPECT_FALSE(of.has_looked_at(other.pid()));
  EXPECT_TRUE(of.has_loader());
  EXPECT_EQ(of.found()[0], 0u);
  const uint64_t found = of.found()[1];
  EXPECT_GE(found, 1u) << "in the libc";
  of.look_at_process(other.pid());
  EXPECT_EQ(of.found()[1], found) << "each file once";
  of.forget(one.pid());
  EXPECT_FALSE(of.has_looked_at(one.pid()));
  EXPECT_TRUE(of.has_looked_at(other.pid()));
}

#if defined(__x86_64__)
TEST_F(ControlArming, AProcessWithoutALoaderIsLookedAtAlone) {
  std::ofstream(path("waits.s")) << R"(
.text
.globl _start
_start: mov $1, %eax
  mov $1, %edi
  mov $_start, %rsi
  mov $1, %edx
  syscall
again: mov $34, %eax
  syscall
  jmp again
.type tell, @function
tell: ret
.size tell, 1
.section .note.GNU-stack,"",@progbits
)";
  const std::string build =
      "gcc -static -nostdlib -no-pie " + path("waits.s") + " -o " + path("waits");
  ASSERT_EQ(std::system(build.c_str()), 0) << build;
  const test::WaitingProgram process(path("waits"));
  const Plan plan = make_plan({"start:timeout:1,stop:enter_func:tell"});
  Arming of = arming(plan);
  of.look_at_process(process.pid());
  EXPECT_EQ(of.found(), (std::vector<uint64_t>{0, 1}));
  EXPECT_FALSE(of.has_loader());
  EXPECT_TRUE(of.has_looked_at(process.pid()));
}
#endif

TEST_F(ControlArming, WhatALaterFileRefusesIsSaidOnce) {
  ASSERT_EQ(chmod(path("moved").c_str(), 0755), 0);
  const Plan plan = make_plan({"start:address:choose,stop:enter_func:choose"});
  Arming of = arming(plan);
  of.refuse_impossible(); // nothing yet
  of.look_at_program(path("moved"), Identity());
  of.look_at_program(path("fixed"), Identity());
  ASSERT_EQ(said_.size(), 2u);
  EXPECT_EQ(said_[0].find("--control: choose in " + path("moved") + " is an IFUNC"), 0u)
      << said_[0];
  EXPECT_EQ(said_[1].find("--control: choose in " + path("fixed") + " is an IFUNC"), 0u)
      << said_[1];
  of.report_missing("it waits");
  EXPECT_EQ(said_.size(), 2u) << "it has been named";
}

} // namespace
} // namespace ovnitrace::control
