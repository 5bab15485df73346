// SPDX-License-Identifier: BSD-2-Clause
// Code as --control sees it: functions inside others, the ends of functions, tables of unwind
// information, and how this machine steps over cpuid.
#include "emulator/base/error.h"
#include "tests/unit/support/hex_bytes.h"
#include "user/control/bodies.h"
#include "user/control/cpuid_step.h"
#include "user/control/instruction_groups.h"
#include "user/control/leaves.h"
#include "user/control/places.h"
#include "user/control/scan.h"

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace::control {
namespace {

using test::bytes_of;

Code code_at(uint64_t address, std::string_view hex) {
  const std::string bytes = bytes_of(hex);
  return {address, address, {bytes.begin(), bytes.end()}};
}

TEST(ControlScan, AFunctionInsideAnotherDoesNotEndIt) {
  Image image;
  image.code = {code_at(0x1000, "87 db 87 db 87 db 87 db")};
  image.bodies = {{0x1000, 0x1006}, {0x1002, 0x1004}};
  std::vector<bool> in_function;
  for (const Marker &marker : scan(make_plan({"start:magic:1.2"}), image))
    in_function.push_back(marker.in_function);
  EXPECT_EQ(in_function, (std::vector<bool>{true, true, true, false}));
}

TEST(ControlGroups, ANameOfXedIsTheGroupOfTheDecoder) {
  constexpr control_type kExtension = CONTROL_ISA_EXTENSION, kCategory = CONTROL_ISA_CATEGORY;
  const std::pair<const char *, const char *> extensions[] = {
      {"3DNOW", "AMD3DNOW"}, {"3DNOW_PREFETCH", "AMD3DNOW_PREFETCH"}, {"PTWRITE", "PT"}};
  for (const auto &[xed, zydis] : extensions) {
    EXPECT_NE(group_of(kExtension, xed), 0) << xed;
    EXPECT_EQ(group_of(kExtension, xed), group_of(kExtension, zydis)) << xed;
  }
  EXPECT_NE(group_of(kExtension, "3DNOW"), group_of(kExtension, "3DNOW_PREFETCH"));
  const std::pair<const char *, const char *> categories[] = {
      {"3DNOW", "AMD3DNOW"}, {"PTWRITE", "PT"}, {"VIA_PADLOCK", "PADLOCK"}};
  for (const auto &[xed, zydis] : categories) {
    EXPECT_NE(group_of(kCategory, xed), 0) << xed;
    EXPECT_EQ(group_of(kCategory, xed), group_of(kCategory, zydis)) << xed;
  }
}

TEST(ControlGroups, AllThatThereAreAreListed) {
  const std::string why = why_no_group(CONTROL_ISA_EXTENSION, "AVY");
  EXPECT_TRUE(why.starts_with("the decoder, Zydis ")) << why;
  const std::string start = ", knows no such extension; there are ";
  const size_t list = why.find(start) + start.size();
  ASSERT_GT(list, start.size()) << why;
  EXPECT_NE(why[list], ',');
  EXPECT_NE(why.find(", AVX2, "), std::string::npos) << why;
}

TEST(ControlGroups, OneThatIsNotKnownIsShownInItsOwnChain) {
  try {
    check_groups(make_plan({"start:isa-extension:AVX2", "start:int3,stop:isa-extension:AVY"}));
    FAIL();
  } catch (const ovnitrace::Error &error) {
    const std::string text = error.what();
    EXPECT_TRUE(
        text.ends_with("\n  start:int3,stop:isa-extension:AVY\n" + std::string(32, ' ') + "^~~"))
        << text;
  }
}

TEST(ControlBodies, EachFunctionHasTheEncodingOfItsOwnCommonEntry) {
  const auto raw = [](auto value) {
    return std::string(reinterpret_cast<const char *>(&value), sizeof(value));
  };
  std::string frames;
  const auto add = [&](const std::string &content) {
    const size_t at = frames.size();
    frames += raw(uint32_t(content.size())) + content;
    return uint32_t(at);
  };
  const auto common = [&](char encoding) {
    return add(raw(0u) + std::string("\1zR\0\1\x78\x10\1", 8) + encoding);
  };
  const auto function = [&](uint32_t of, const std::string &place) {
    add(raw(uint32_t(frames.size()) + 4 - of) + place);
  };
  const uint32_t eight = common('\0'), four = common('\3');
  function(four, raw(0x500u) + raw(0x20u));
  function(eight, raw(uint64_t(0x600)) + raw(uint64_t(0x30)));
  function(four, raw(0x700u) + raw(0x40u));
  function(eight + 4, raw(0x800u) + raw(0x40u));              // no common entry
  function(eight, raw(~uint64_t(0xf)) + raw(uint64_t(0x10))); // ends behind the last address
  function(eight, raw(uint64_t(0)) + raw(uint64_t(0x10)));    // removed by the linker
  function(eight, raw(uint64_t(0x900)) + raw(uint64_t(0)));
  const std::vector<Body> all = {{0x500, 0x520}, {0x600, 0x630}, {0x700, 0x740}};
  EXPECT_EQ(bodies_of_frames(frames, 0x10000), all);
  frames += raw(0u); // the end
  function(four, raw(0xa00u) + raw(0x10u));
  EXPECT_EQ(bodies_of_frames(frames, 0x10000), all);
}

TEST(ControlBodies, AFunctionOfManyPartsIsFoundBehindThem) {
  Image image;
  image.code = {code_at(0x1000, "06 90 90 48 89 c7 90 90")};
  for (uint64_t n = 0; n < 3; n++)
    image.bodies.push_back({0x1001, 0x1001 + n}); // names for the same place
  EXPECT_EQ(instruction_at(image, 0x1004), 0x1003u) << "from the end of the longest one";
  image.bodies.push_back({0x1002, 0x1008});
  EXPECT_EQ(instruction_at(image, 0x1005), 0x1003u);
  EXPECT_EQ(instruction_at(image, 0x1000), std::nullopt);
}

#if defined(__x86_64__)

// Functions do not overlap, but for the names of their parts.
TEST(ControlBodies, OnlyThe65FunctionsBeforeAnAddressCount) {
  Image image;
  image.code = {code_at(0x1000, "90 90 b8 90 90 90 90 90")}; // nops; mov of 5 bytes; nop
  image.bodies = {{0x1000, 0x1003}};
  image.bodies.resize(65, {0x1001, 0x1002});
  EXPECT_EQ(instruction_at(image, 0x1004), 0x1004u) << "decoded from the end of the first";
  image.bodies.resize(66, {0x1001, 0x1002});
  EXPECT_EQ(instruction_at(image, 0x1004), 0x1002u);
}

using Addresses = std::vector<uint64_t>;

constexpr uint64_t kFoo = 0x1000, kCold = 0x1100, kBar = 0x1200;

/// foo, its cold part of 3 bytes, and bar of 4 bytes.
Image functions(std::string_view foo) {
  Image image;
  image.code = {code_at(kFoo, foo), code_at(kCold, "90 90 c3 c3"), code_at(kBar, "90 90 90 c3 c3")};
  image.functions = {
      {"foo", kFoo, image.code[0].bytes.size()}, {"foo.cold", kCold, 3}, {"bar", kBar, 4}};
  return image;
}

Leaves leaves_of(std::string_view foo) {
  return find_leaves(functions(foo), kFoo);
}

TEST(ControlLeaves, ASwitchIsBoundByEachKindOfComparison) {
  const std::string jump = " ff 24 fd 00 20 40 00 c3"; // jmp *table(,%rdi,8); ret
  const std::pair<std::string, size_t> bounds[] = {{"83 ff 05 77 07", 5},  // cmp $5, %edi; ja
                                                   {"83 ff 05 73 07", 5},  // cmp; jae
                                                   {"83 ef 05 77 07", 5},  // sub
                                                   {"83 e7 05 77 07", 5}}; // and
  for (const auto &[bound, length] : bounds) {
    const Leaves leaves = leaves_of(bound + jump);
    EXPECT_EQ(leaves.refused, "") << bound;
    EXPECT_EQ(leaves.at, Addresses{kFoo + length + 7}) << bound;
  }
  EXPECT_NE(leaves_of("83 ff 05 74 07" + jump).refused, "") << "je is no bound";
  EXPECT_NE(leaves_of("83 c7 05 77 07" + jump).refused, "") << "add compares nothing";
}

TEST(ControlLeaves, ARegisterHasWhatWasPutIntoItLast) {
  // add %rdx, %rax; mov %rcx, %rax; jmp *%rax
  EXPECT_EQ(leaves_of("48 01 d0 48 89 c8 ff e0").at, Addresses{kFoo + 6});
  EXPECT_EQ(leaves_of("01 d0 ff e0 c3").at, Addresses{kFoo + 4}) << "a half is of the whole";
  EXPECT_EQ(leaves_of("48 01 d0 ff e1").at, Addresses{kFoo + 3}) << "of another register";
  EXPECT_EQ(leaves_of("48 01 d0 48 39 c8 ff e0 c3").at, Addresses{kFoo + 8}) << "cmp only reads it";
  // mov (%rdx,%rdi,8), %rax; add %rdx, %rax; jmp *%rax; ret
  EXPECT_EQ(leaves_of("48 8b 04 fa 48 01 d0 ff e0 c3").at, Addresses{kFoo + 9});
  EXPECT_EQ(leaves_of("48 8b 04 fa 48 8b 00 ff e0").at, Addresses{kFoo + 7}) << "loaded again";
  EXPECT_EQ(leaves_of("48 01 d0 0f 05 ff e0").at, Addresses{kFoo + 5}) << "of a system call";
}

TEST(ControlLeaves, InstructionsThatEndAFunctionEndIt) {
  for (const char *end : {"f4", "cc", "0f 0b", "0f ff c0", "0f b9 c0", "e8 00 00 00 00", "0f 05",
                          "0f 34", "eb fb", "f4 0f 1f 00", "f4 66 90"}) {
    const Leaves leaves = leaves_of("74 01 c3 " + std::string(end));
    EXPECT_EQ(leaves.refused, "") << end;
    EXPECT_EQ(leaves.at.at(0), kFoo + 2) << end;
  }
  for (const char *goes_on : {"48 89 c7", "74 fb", "48 89 c7 0f 1f 00", "e3 fb", "e2 fb"}) {
    const std::string code = "74 01 c3 " + std::string(goes_on);
    const Leaves leaves = leaves_of(code);
    EXPECT_EQ(leaves.refused.substr(0, 21), "it runs past its end ") << goes_on;
  }
}

TEST(ControlLeaves, AStubMayBeginWithAMark) {
  for (const char *stub : {"ff 25 00 01 00 00", "f3 0f 1e fa ff 25 00 01 00 00",
                           "f3 0f 1e fa f2 ff 25 00 01 00 00", "f2 ff 25 00 01 00 00"}) {
    Image image = functions("e9 fb 02 00 00"); // jmp to 0x1300
    image.code.push_back(code_at(0x1300, stub));
    EXPECT_EQ(find_leaves(image, kFoo).at, Addresses{kFoo}) << stub;
    image = functions("0f 84 fa 02 00 00 c3"); // je: the stub is decoded as a part of it
    image.code.push_back(code_at(0x1300, stub));
    EXPECT_EQ(find_leaves(image, kFoo).at.at(0), kFoo + 6) << stub;
  }
}

TEST(ControlLeaves, APartOrAnotherFunctionGoesUpToItsLastByte) {
  const auto jump_to = [](uint64_t target) { // jmp
    const auto distance = uint32_t(target - kFoo - 5);
    Image image = functions("e9 00 00 00 00");
    for (int n = 0; n < 4; n++)
      image.code[0].bytes[size_t(n) + 1] = uint8_t(distance >> 8 * n);
    return find_leaves(image, kFoo).at;
  };
  EXPECT_EQ(jump_to(kCold), Addresses{kCold + 2});
  EXPECT_EQ(jump_to(kCold + 2), Addresses{kCold + 2}) << "the whole part is decoded";
  EXPECT_EQ(jump_to(kCold + 3), Addresses{kCold + 3}) << "code without a name behind it";
  EXPECT_EQ(jump_to(kBar), Addresses{kFoo});
  EXPECT_EQ(jump_to(kBar + 3), Addresses{kFoo}) << "in another function";
  EXPECT_EQ(jump_to(kBar + 4), Addresses{kBar + 4});
}

TEST(ControlLeaves, OfTwoSymbolsTheLargerSizeCounts) {
  Image image = functions("74 01 c3 c3");
  for (const bool reversed : {false, true}) {
    image.functions = {{"alias", kFoo, 3}, {"foo", kFoo, 4}, {"foo", kFoo, 0}};
    if (reversed)
      std::swap(image.functions[0], image.functions[2]);
    EXPECT_EQ(find_leaves(image, kFoo).at, (Addresses{kFoo + 2, kFoo + 3}));
  }
  // jmp to the last byte of bar, and of the cold part
  image = functions("74 05 e9 fc 01 00 00 e9 f6 00 00 00");
  for (const bool reversed : {false, true}) {
    image.functions = {{"foo", kFoo, 12},
                       {"bar", kBar, 1},
                       {"bar", kBar, 4},
                       {"foo.cold.1", kCold, 1},
                       {"foo.cold", kCold, 3}};
    if (reversed)
      std::swap(image.functions[1], image.functions[2]),
          std::swap(image.functions[3], image.functions[4]);
    EXPECT_EQ(find_leaves(image, kFoo).at, (Addresses{kFoo + 2, kCold + 2}));
  }
}

TEST(ControlLeaves, AFunctionThatIsTooLongIsRefused) {
  constexpr size_t kMost = (1 << 20) + 1;
  Image image;
  image.code.push_back({kFoo, kFoo, std::vector<uint8_t>(kMost + 2, 0x90)}); // nops
  image.functions = {{"foo", kFoo, kMost + 2}};
  EXPECT_EQ(find_leaves(image, kFoo).refused, "it is too long at 0x101001");
}

/// Steps over a cpuid in a child, as a debugger does. Returns whether it stops behind it.
bool stops_behind_cpuid() {
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    asm volatile("int3\n"
                 "cpuid\n"
                 "nop\n"
                 "nop\n" ::"a"(0)
                 : "rbx", "rcx", "rdx");
    _exit(0);
  }
  int status = 0;
  user_regs_struct before = {}, after = {};
  waitpid(child, &status, 0);
  ptrace(PTRACE_GETREGS, child, nullptr, &before);
  ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr);
  waitpid(child, &status, 0);
  ptrace(PTRACE_GETREGS, child, nullptr, &after);
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return after.rip == before.rip + 2;
}

TEST(CpuidStep, KnowsHowThisMachineStepsOverIt) {
  EXPECT_EQ(stops_after_cpuid(), stops_behind_cpuid());
}

// It is tried once in a process: this one is executed for it.
TEST(CpuidStep, LeavesTheSignalAsItWas) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto try_it = [] {
    static volatile sig_atomic_t came = 0;
    std::signal(SIGTRAP, [](int) { came = came + 1; });
    sigset_t trap, mask;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    sigprocmask(SIG_BLOCK, &trap, nullptr);
    stops_after_cpuid();
    sigprocmask(SIG_SETMASK, nullptr, &mask);
    const bool blocked = sigismember(&mask, SIGTRAP) == 1 && sigismember(&mask, SIGUSR1) == 0;
    const int during = came;
    raise(SIGTRAP);
    sigprocmask(SIG_UNBLOCK, &trap, nullptr);
    _exit(blocked && during == 0 && came == 1 ? 0 : 1);
  };
  EXPECT_EXIT(try_it(), testing::ExitedWithCode(0), "");
  GTEST_FLAG_SET(death_test_style, "fast");
}

#endif

} // namespace
} // namespace ovnitrace::control
