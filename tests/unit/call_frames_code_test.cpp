// SPDX-License-Identifier: BSD-2-Clause
// Rules of unwinding that the code itself shows, where there is no call-frame information.
#include "tests/unit/support/call_frame_files.h"

#include <ovnitrace/unwind.h>

#include <cstdlib>
#include <fstream>

namespace ovnitrace {
namespace {

using test::bytes_of;
using test::CallFrameFiles;
using test::EhFrame;

constexpr uint64_t kStop = UNWIND_STOP;
constexpr uint64_t kHasFramePointer = UNWIND_RULE(UNWIND_BP, 16, UNWIND_BP_SAVED, 2);
constexpr uint64_t kCalled = UNWIND_RULE(UNWIND_SP, 8, UNWIND_BP_KEPT, 0);

std::string code_arm64(std::initializer_list<uint32_t> instructions) {
  std::string code;
  for (const uint32_t instruction : instructions)
    code += bytes_of(instruction);
  return code;
}

class CodeWithoutFrames : public CallFrameFiles {
protected:
  /// Puts bytes at an offset from 0x800 on.
  void put(uint64_t offset, const std::string &bytes) {
    code_.resize(std::max<size_t>(code_.size(), offset - 0x800 + bytes.size()), call_);
    code_.replace(offset - 0x800, bytes.size(), bytes);
  }
  uint64_t rule(uint64_t offset, bool interrupted = false, uint16_t machine = EM_X86_64) {
    const auto frames = open(EhFrame().common(), machine);
    return frames ? frames->rule_at(offset, interrupted) : UINT64_MAX;
  }
};

TEST_F(CodeWithoutFrames, HasAFramePointerIfItsFunctionStartsBySettingIt) {
  put(0x800, "\x55\x48\x89\xe5");                 // push %rbp; mov %rsp,%rbp
  put(0x820, "\xf3\x0f\x1e\xfa\x55\x48\x89\xe5"); // endbr64, and the same
  put(0x840, "\x90\x55\x48\x89\xe5");
  functions_ = {{0x840, 0x10}, {0x820, 0x10}, {0x800, 0x10}}; // in any order
  EXPECT_EQ(rule(0x80f), kHasFramePointer);
  EXPECT_EQ(rule(0x82f), kHasFramePointer);
  EXPECT_EQ(rule(0x84f), kStop);
  for (const uint64_t outside : {0x7ff, 0x810, 0x81f, 0x830})
    EXPECT_EQ(rule(outside), kStop) << outside;
  // It may not have set it yet.
  EXPECT_EQ(rule(0x800, true), uint64_t(UNWIND_GUESS));
  EXPECT_EQ(rule(0x82f, true), uint64_t(UNWIND_GUESS));
  EXPECT_EQ(rule(0x840, true), kStop);
  EXPECT_EQ(rule(0x810, true), kStop);
}

TEST_F(CodeWithoutFrames, IsNotReadBeforeItsSegment) {
  put(0x800, "\x55\x48\x89\xe5");
  functions_ = {{0x800, 0x20}};
  first_ = 0x800;
  EXPECT_EQ(rule(0x81f), kHasFramePointer);
  first_ = 0x801;
  EXPECT_EQ(rule(0x81f), kStop);
}

TEST_F(CodeWithoutFrames, OfArm64HasAFramePointerToo) {
  put(0x800, code_arm64({0xa9bd7bfd, 0x910003fd})); // stp x29, x30, [sp, #-48]!; mov x29, sp
  put(0x820, code_arm64({0xd503245f, 0xa9b87bfd, 0x910003fd})); // bti c; …, [sp, #-128]!
  put(0x840, code_arm64({0xd503233f, 0xa9bf7bfd, 0x910003fd})); // paciasp; …, [sp, #-16]!
  put(0x860, code_arm64({0xd503201f, 0xa9bf7bfd, 0x910003fd})); // nop
  put(0x880, code_arm64({0xa9bf7bfd, 0x910043fd}));             // add x29, sp, #16
  put(0x8a0, code_arm64({0xa93f7bfd, 0x910003fd}));             // stp x29, x30, [sp, #-16]
  functions_ = {{0x800, 32}, {0x820, 32}, {0x840, 32}, {0x860, 32}, {0x880, 32}, {0x8a0, 32}};
  const auto saved = [](int words) {
    return UNWIND_RULE_ARM64(UNWIND_BP, 8 * words, UNWIND_BP_SAVED, words - 1, 1);
  };
  const auto arm64 = [&](uint64_t offset) { return rule(offset, false, EM_AARCH64); };
  EXPECT_EQ(arm64(0x80f), saved(6));
  EXPECT_EQ(arm64(0x82f), saved(16));
  EXPECT_EQ(arm64(0x84f), saved(2));
  for (const uint64_t other : {0x86f, 0x88f, 0x8af})
    EXPECT_EQ(arm64(other), kStop) << other;
}

TEST_F(CodeWithoutFrames, EndsOnlyWhereItLeavesItsStack) {
  call_ = '\x90';         // nop
  code_ = "\x48\x89\xdd"; // mov %rbx,%rbp
  EXPECT_EQ(rule(0x7ff), kStop);
  code_ = "\x0f\x05\x48\x89\xdc"; // syscall; mov %rbx,%rsp
  EXPECT_EQ(rule(0x801), uint64_t(UNWIND_ENTRY)) << "no function was called";
}

TEST_F(CodeWithoutFrames, OfArm64EndsWhereItLeavesItsStack) {
  const auto after = [&](std::initializer_list<uint32_t> instructions) {
    code_ = code_arm64(instructions);
    return rule(0x7ff, false, EM_AARCH64);
  };
  constexpr uint64_t kEntry = UNWIND_ENTRY;
  EXPECT_EQ(after({0xd503201f, 0xaa1303e0, 0xb5fff9c0}), kEntry); // nop
  EXPECT_EQ(after({0xd503245f, 0xaa1303e0, 0xb5000000}), kEntry); // bti c
  EXPECT_EQ(after({0xd503233f, 0xaa1303e0, 0xb5fff9c0}), kStop);
  EXPECT_EQ(after({0xd503201f, 0xaa1403e0, 0xb5fff9c0}), kStop);
  EXPECT_EQ(after({0xd503201f, 0xaa1303e0, 0xb5fff9c1}), kStop);
  EXPECT_EQ(after({0xd503201f, 0xaa1303e0, 0xb4fff9c0}), kStop);
}

TEST_F(CodeWithoutFrames, ReturnsFromASignalOnArm64ByTwoInstructions) {
  const auto after = [&](std::initializer_list<uint32_t> instructions, uint16_t machine) {
    code_ = code_arm64(instructions);
    return rule(0x7ff, false, machine);
  };
  EXPECT_EQ(after({0xd2801168, 0xd4000001}, EM_AARCH64), uint64_t(UNWIND_SIGNAL));
  EXPECT_EQ(after({0xd2801168, 0xd4000002}, EM_AARCH64), kStop);
  EXPECT_EQ(after({0xd2801169, 0xd4000001}, EM_AARCH64), kStop);
  EXPECT_EQ(after({0xd2801168, 0xd4000001}, EM_X86_64), kStop);
}

/// A call of the kernel has the rule of the code before it, if that ends at the stack pointer.
TEST_F(CodeWithoutFrames, ThatCreatesAThreadNeedsAFrameBeforeIt) {
  put(0x800, "\x90\x0f\x05"); // nop; syscall
  const std::string set_frame_pointer("\x0d\6", 2);
  const auto rule_of = [&](const EhFrame &frames, uint16_t machine) {
    return open(frames, machine)->rule_at(0x802, false);
  };
  EXPECT_EQ(rule_of(EhFrame().common().function(0x7f0, 0x11, ""), EM_X86_64),
            UNWIND_RULE(UNWIND_CLONE, 8, UNWIND_BP_KEPT, 0));
  EXPECT_EQ(rule_of(EhFrame().common().function(0x7f0, 0x10, ""), EM_X86_64), kStop);
  EXPECT_EQ(rule_of(EhFrame().common().function(0x7f0, 0x11, set_frame_pointer), EM_X86_64), kStop);
  EXPECT_EQ(rule_of(EhFrame().common_arm64().function(0x7f0, 0x11, ""), EM_AARCH64), kStop);
}

/// Another segment is data, though the file says how to unwind there.
TEST_F(CallFrameFiles, HaveRulesOnlyInASegmentThatIsExecuted) {
  const EhFrame frames = EhFrame().common().function(0x800, 0x1000, "");
  first_ = 0x900;
  EXPECT_EQ(open(frames)->rule_at(0x8ff, true), kStop);
  EXPECT_EQ(open(frames)->rule_at(0x900, true), kCalled);
  EXPECT_EQ(open(frames)->rule_at(0xfff, true), kCalled);
  EXPECT_EQ(open(frames)->rule_at(0x1000, true), kStop);
  flags_ = PF_R | PF_W;
  EXPECT_EQ(open(frames)->rule_at(0x900, true), kStop);
}

#if defined(__x86_64__)
/// Assembles code, whose .text is at 0x1000 of the file.
std::unique_ptr<CallFrames> assembled(const test::TempDir &dir, const std::string &text) {
  std::ofstream(dir / "code.s") << text;
  const std::string build = "gcc -shared -nostdlib -Wl,--section-start=.text=0x1000 -o " +
                            (dir / "code.so") + " " + (dir / "code.s");
  EXPECT_EQ(std::system(build.c_str()), 0);
  return CallFrames::open(open_regular(dir / "code.so"));
}

TEST(CallFrames, MayBeInDebugDataOnly) {
  test::TempDir dir;
  const auto frames = assembled(dir, ".cfi_sections .debug_frame\n.type f,@function\nf:\n"
                                     ".cfi_startproc\ncall *%rax\n.cfi_endproc\n.size f,2\n");
  ASSERT_TRUE(frames);
  EXPECT_EQ(frames->rule_at(0x1001, false), kCalled);
}

/// What is on the new stack is not what their call-frame information says.
TEST(CallFrames, GosFunctionsThatChangeStacksHaveNoKnownCaller) {
  const std::pair<const char *, uint32_t> functions[] = {
      {"runtime.mcall", UNWIND_END},
      {"runtime.morestack", UNWIND_END},
      {"runtime.morestack.abi0", UNWIND_END},
      {"runtime.systemstack", UNWIND_STOP},
      {"runtime.systemstack.abi0", UNWIND_STOP},
      {"runtime.asmcgocall", UNWIND_STOP},
      {"runtime.cgocallback", UNWIND_STOP},
      {"runtime.newstack", UNWIND_STOP},
      {"runtime.nanotime1", UNWIND_STOP}, // calls the vdso, as those below
      {"runtime.walltime", UNWIND_STOP},
      {"runtime.walltime1", UNWIND_STOP},
      {"time.now", UNWIND_STOP},
      {"main.mcall", UNWIND_SP},
      {"runtime.mcall.abi1", UNWIND_SP},
  };
  // Only a program of Go has these functions.
  for (const std::string section : {".gopclntab", ".of.gopclntab", ".gopclntab.other", ".other"}) {
    const bool is_of_go = section.ends_with(".gopclntab");
    std::string text = ".section " + section + ",\"a\"\n.byte 0\n.text\n";
    for (const auto &[name, kind] : functions)
      text += ".balign 16\n.type \"" + std::string(name) + "\",@function\n\"" + name +
              "\":\n.cfi_startproc\ncall *%rax\n.cfi_endproc\n.size \"" + name + "\",2\n";
    test::TempDir dir;
    const auto frames = assembled(dir, text);
    ASSERT_TRUE(frames);
    uint64_t offset = 0x1001;
    for (const auto &[name, kind] : functions) {
      EXPECT_EQ(UNWIND_KIND(frames->rule_at(offset, false)), is_of_go ? kind : uint32_t(UNWIND_SP))
          << name << " in a program with " << section;
      offset += 16;
    }
  }
}
#endif

} // namespace
} // namespace ovnitrace
