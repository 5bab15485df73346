// SPDX-License-Identifier: BSD-2-Clause
// Rules of unwinding from call-frame information, good and hostile.
#include "tests/unit/support/call_frame_files.h"

#include <ovnitrace/unwind.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace ovnitrace {
namespace {

using test::bytes_of;
using test::CallFrameFiles;
using test::EhFrame;

constexpr uint64_t kCalled = UNWIND_RULE(UNWIND_SP, 8, UNWIND_BP_KEPT, 0);

TEST_F(CallFrameFiles, FollowAFunctionThatSetsItsFramePointer) {
  const std::string push_and_set("\x41\x0e\x10\x86\2\x43\x0d\6", 8); // push %rbp; mov %rsp,%rbp
  const auto frames = open(EhFrame().common().function(0x100, 0x50, push_and_set));
  ASSERT_TRUE(frames);
  EXPECT_EQ(frames->rule_at(0x100, false), kCalled);
  EXPECT_EQ(frames->rule_at(0x101, false), UNWIND_RULE(UNWIND_SP, 16, UNWIND_BP_SAVED, 2));
  EXPECT_EQ(frames->rule_at(0x104, false), UNWIND_RULE(UNWIND_BP, 16, UNWIND_BP_SAVED, 2));
  EXPECT_EQ(frames->rule_at(0x14f, false), UNWIND_RULE(UNWIND_BP, 16, UNWIND_BP_SAVED, 2));
  for (const uint64_t outside : {0xffu, 0x150u, 0x5000u})
    EXPECT_EQ(frames->rule_at(outside, false), uint64_t(UNWIND_STOP)) << outside;
}

TEST_F(CallFrameFiles, SayWhereAStackStarts) {
  const auto frames = open(EhFrame().common().function(0x100, 0x10, "\7\x10"));
  ASSERT_TRUE(frames);
  EXPECT_EQ(frames->rule_at(0x100, false), uint64_t(UNWIND_END));
}

TEST_F(CallFrameFiles, KnowTheFrameOfASignal) {
  // The end of the frame is loaded from 160 bytes above the stack pointer.
  const std::string loaded("\x0f\4\x77\xa0\1\6", 6);
  const auto frames = open(EhFrame().common("", "zRS").function(0x100, 0x10, loaded));
  ASSERT_TRUE(frames);
  EXPECT_EQ(frames->rule_at(0x100, false), uint64_t(UNWIND_SIGNAL));
}

TEST_F(CallFrameFiles, KnowAReturnAddressInARegister) {
  // vfork() keeps its return address in rdi: the child process overwrites the stack.
  const std::string popped("\x0e\0\x09\x10\5", 5);
  const auto frames = open(EhFrame().common().function(0x100, 0x10, popped));
  ASSERT_TRUE(frames);
  EXPECT_EQ(frames->rule_at(0x100, false), UNWIND_RULE(UNWIND_IN_LINK, 0, UNWIND_BP_KEPT, 0));
}

TEST_F(CallFrameFiles, KnowAFrameThatWasAligned) {
  // The end of the frame is stored below the frame pointer, which points to the caller's.
  const std::string aligned("\x0f\3\x76\x78\6\x10\6\2\x76\0", 10);
  const auto frames = open(EhFrame().common().function(0x100, 0x10, aligned));
  ASSERT_TRUE(frames);
  EXPECT_EQ(frames->rule_at(0x100, false), UNWIND_RULE(UNWIND_AT_BP, -8, UNWIND_BP_AT_BP, 0));
}

TEST_F(CallFrameFiles, KnowLinkageTables) {
  const std::string table("\x0f\x0b\x77\x8\x80\0\x3f\x1a\x3b\x2a\x33\x24\x22", 13);
  const auto frames = open(EhFrame().common().function(0x100, 0x40, table));
  ASSERT_TRUE(frames);
  EXPECT_EQ(frames->rule_at(0x110, false), uint64_t(UNWIND_PLT));
}

TEST_F(CallFrameFiles, HaveFramesUpToTheLimitsOfARule) {
  const auto rule = [&](const std::string &instructions) {
    return open(EhFrame().common().function(0x100, 0x10, instructions))->rule_at(0x100, false);
  };
  // The caller's frame pointer: words below the end of the frame.
  EXPECT_EQ(rule("\x86\1"), UNWIND_RULE(UNWIND_SP, 8, UNWIND_BP_SAVED, 1));
  EXPECT_EQ(rule("\x86\xff\xff\3"), UNWIND_RULE(UNWIND_SP, 8, UNWIND_BP_SAVED, 0xffff));
  EXPECT_EQ(rule("\x86\x80\x80\4"), UNWIND_RULE(UNWIND_SP, 8, UNWIND_BP_LOST, 0));
  EXPECT_EQ(rule(std::string("\x86\0", 2)), UNWIND_RULE(UNWIND_SP, 8, UNWIND_BP_LOST, 0));
  // The size of the frame, bytes.
  EXPECT_EQ(rule("\x0e\xff\xff\xff\xff\7"), UNWIND_RULE(UNWIND_SP, 0x7fffffff, UNWIND_BP_KEPT, 0));
  EXPECT_EQ(rule("\x0e\x80\x80\x80\x80\x08"), uint64_t(UNWIND_STOP));
}

/// Only the signal frame of the kernel has its registers where they are expected.
TEST_F(CallFrameFiles, StopAtASignalFrameOfAnotherForm) {
  const std::pair<const char *, std::string> cases[] = {
      {"not loaded", std::string("\x0f\3\x77\xa0\1", 5)},
      {"from elsewhere", std::string("\x0f\4\x77\xa8\1\6", 6)},
      {"from the frame pointer", std::string("\x0f\4\x76\xa0\1\6", 6)}};
  for (const auto &[what, instructions] : cases) {
    const auto frames = open(EhFrame().common("", "zRS").function(0x100, 0x10, instructions));
    EXPECT_EQ(frames->rule_at(0x100, false), uint64_t(UNWIND_STOP)) << what;
  }
}

/// Each instruction of the expression says how the linkage table is laid out.
TEST_F(CallFrameFiles, StopAtOtherTables) {
  const std::string table("\x0f\x0b\x77\x8\x80\0\x3f\x1a\x3b\x2a\x33\x24\x22", 13);
  for (size_t n = 2; n < table.size(); n++) {
    std::string other = table;
    other[n] = char(other[n] ^ 1); // another operation or number
    const auto frames = open(EhFrame().common().function(0x100, 0x40, other));
    EXPECT_NE(frames->rule_at(0x110, false), uint64_t(UNWIND_PLT)) << n;
  }
}

/// A frame that a rule cannot describe is where a walk stops: it does not go astray.
TEST_F(CallFrameFiles, StopAtFramesThatNoRuleDescribes) {
  const std::pair<const char *, std::string> cases[] = {
      {"the end of the frame is in another register", std::string("\x0c\3\x10", 3)},
      {"a 4 GiB frame", std::string("\x0c\7\x80\x80\x80\x80\x20", 7)},
      {"the return address is elsewhere", std::string("\x90\2", 2)},
      {"the return address is in a register", std::string("\x09\x10\3", 3)},
      {"and the end of the frame, too", std::string("\x0c\3\x10\x09\x10\5", 6)},
      {"the end of the frame is computed", std::string("\x0f\4\x77\x8\x23\x10", 6)},
  };
  for (const auto &[what, instructions] : cases) {
    const auto frames = open(EhFrame().common().function(0x100, 0x10, instructions));
    ASSERT_TRUE(frames);
    EXPECT_EQ(frames->rule_at(0x100, false), uint64_t(UNWIND_STOP)) << what;
  }
  const auto other = open(EhFrame().common("", "zR", 17).function(0x100, 0x10, ""));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->rule_at(0x100, false), uint64_t(UNWIND_STOP))
      << "another return address register";
}

/// The caller's stack pointer is the end of the frame, unless the function has switched stacks.
TEST_F(CallFrameFiles, StopWhereTheStackPointerIsSaved) {
  const std::string end("\x0e\x10\x90\1", 4); // 16 bytes
  const std::pair<const char *, std::string> cases[] = {
      {"saved on the stack", end + std::string("\x87\2", 2)},
      {"in a register", end + std::string("\x09\7\3", 3)},
      {"another value", end + std::string("\x14\7\2", 3)}};
  for (const auto &[where, instructions] : cases) {
    const auto frames = open(EhFrame().common().function(0x100, 0x10, instructions));
    ASSERT_TRUE(frames);
    EXPECT_EQ(frames->rule_at(0x100, false), uint64_t(UNWIND_STOP)) << where;
  }
  const auto frames = open(EhFrame().common().function(0x100, 0x10, end));
  ASSERT_TRUE(frames);
  EXPECT_EQ(frames->rule_at(0x100, false), UNWIND_RULE(UNWIND_SP, 16, UNWIND_BP_KEPT, 0));
}

/// Where nothing calls, the walk has gone wrong.
TEST_F(CallFrameFiles, StopWhereThereIsNoCall) {
  const std::string calls[] = {
      {"\xe8\0\0\0\0", 5},             // f
      {"\xff\xd0", 2},                 // *%rax
      {"\x41\xff\xd4", 3},             // *%r12
      {"\x3e\xff\xd0", 3},             // notrack *%rax
      {"\xff\x10", 2},                 // *(%rax)
      {"\xff\x50\x18", 3},             // *24(%rax)
      {"\xff\x92\0\1\0\0", 6},         // *256(%rdx)
      {"\xff\x15\0\0\0\0", 6},         // *0(%rip)
      {"\xff\x14\xd8", 3},             // *(%rax,%rbx,8)
      {"\xff\x14\xc5\0\0\0\0", 7},     // *0(,%rax,8)
      {"\xff\x54\x24\x08", 4},         // *8(%rsp)
      {"\x41\xff\x94\xdc\0\1\0\0", 8}, // *256(%r12,%rbx,8)
      {"\x0f\x05", 2},                 // syscall
      {"\x66\x48\xe8\0\0\0\0", 7},     // of __tls_get_addr
  };
  const std::string others[] = {
      {"\x90", 1},             // nop
      {"\xff\xe0", 2},         // jmp *%rax
      {"\xff\xd0\x90", 3},     // call *%rax; nop
      {"\xff\x50", 2},         // half of one
      {"\xe8\0\0\0", 4},       // half of one
      {"\xe9\0\0\0\0", 5},     // jmp
      {"\xff\x74\x24\x08", 4}, // push 8(%rsp)
      {"\x0f\x0b", 2},         // ud2
  };
  call_ = '\x90'; // nop
  const auto rule = [&](const std::string &code) {
    code_ = code;
    const auto frames = open(EhFrame().common().function(0x7f0, 0x20, ""));
    EXPECT_EQ(frames->rule_at(0x800 + code.size() - 1, true), kCalled) << "it needs none";
    return frames->rule_at(0x800 + code.size() - 1, false);
  };
  for (size_t n = 0; n < std::size(calls); n++)
    EXPECT_EQ(rule(calls[n]), kCalled) << n;
  for (size_t n = 0; n < std::size(others); n++)
    EXPECT_EQ(rule(others[n]), uint64_t(UNWIND_STOP)) << n;
}

TEST_F(CallFrameFiles, NeedNoCallWhereNothingCalls) {
  call_ = '\x90'; // nop
  const auto start = open(EhFrame().common().function(0x100, 0x10, "\7\x10"));
  const std::string loaded("\x0f\4\x77\xa0\1\6", 6);
  const auto signal = open(EhFrame().common("", "zRS").function(0x100, 0x10, loaded));
  EXPECT_EQ(start->rule_at(0x100, false), uint64_t(UNWIND_END));
  EXPECT_EQ(signal->rule_at(0x100, false), uint64_t(UNWIND_SIGNAL));
}

TEST_F(CallFrameFiles, EndWhereACoroutineDoes) {
  call_ = '\x90';         // nop
  code_ = "\x48\x89\xdc"; // mov %rbx,%rsp
  const auto frames = open(EhFrame().common().function(0x800, 0x10, ""));
  ASSERT_TRUE(frames);
  EXPECT_EQ(frames->rule_at(0x7ff, false), uint64_t(UNWIND_ENTRY)) << "returned to, but not called";
  EXPECT_EQ(frames->rule_at(0x7ff, true), uint64_t(UNWIND_STOP));
}

/// It aligns its stack, and keeps the old one in rbx.
TEST_F(CallFrameFiles, DoNotEndBehindACall) {
  code_ = "\xff\xd7\x48\x89\xdc"; // call *%rdi; mov %rbx,%rsp
  const auto frames = open(EhFrame().common());
  ASSERT_TRUE(frames);
  EXPECT_EQ(frames->rule_at(0x801, false), uint64_t(UNWIND_STOP));
}

TEST_F(CallFrameFiles, EndBeforeACallThatCreatesAThread) {
  code_ = "\x90\x0f\x05"; // nop; syscall
  const auto frames = open(EhFrame().common().function(0x7f0, 0x11, ""));
  ASSERT_TRUE(frames);
  EXPECT_EQ(frames->rule_at(0x802, false), UNWIND_RULE(UNWIND_CLONE, 8, UNWIND_BP_KEPT, 0));
  EXPECT_EQ(frames->rule_at(0x802, true), uint64_t(UNWIND_STOP));
  EXPECT_EQ(frames->rule_at(0x803, false), uint64_t(UNWIND_STOP)) << "behind the call";
}

TEST_F(CallFrameFiles, LoseAFramePointerThatTheyCannotFollow) {
  const auto frames = open(EhFrame().common().function(0x100, 0x10, std::string("\x09\6\3", 3)));
  ASSERT_TRUE(frames);
  EXPECT_EQ(frames->rule_at(0x100, false), UNWIND_RULE(UNWIND_SP, 8, UNWIND_BP_LOST, 0));
}

TEST_F(CallFrameFiles, MayBeDamaged) {
  const std::string huge(4, '\xff'), endless = bytes_of(uint32_t(0xfffffff0));
  const EhFrame cases[] = {
      EhFrame().raw(huge + huge + huge),
      EhFrame().raw(endless),
      EhFrame().common().raw(bytes_of(uint32_t(20)) + bytes_of(uint32_t(0x7fffffff)) +
                             std::string(16, 'x')),
      EhFrame().common().function(0x100, 0x10, std::string(100, '\x0a')), // remember_state
      EhFrame().common().function(0x100, 0x10, std::string(100, '\x0b')), // restore_state
      EhFrame().common(std::string("\x0f\xff\xff\xff\xff\x0f", 6)).function(0x100, 0x10, ""),
  };
  for (const EhFrame &damaged : cases) {
    const auto frames = open(damaged);
    ASSERT_TRUE(frames);
    const uint64_t kind = UNWIND_KIND(frames->rule_at(0x100, false));
    EXPECT_TRUE(kind == UNWIND_STOP || kind == UNWIND_SP) << kind;
  }
}

TEST_F(CallFrameFiles, OfAnotherMachineAreRefused) {
  EXPECT_FALSE(open(EhFrame().common(), EM_PPC64));
  ASSERT_TRUE(open(EhFrame().common()));
  EXPECT_FALSE(CallFrames::open(UniqueFd()));
}

/// Returns the bytes of instructions of arm64.
std::string code_arm64(std::initializer_list<uint32_t> instructions) {
  std::string code;
  for (const uint32_t instruction : instructions)
    code += bytes_of(instruction);
  return code;
}

constexpr uint64_t kLeafArm64 = UNWIND_RULE_ARM64(UNWIND_SP, 0, UNWIND_BP_KEPT, 0, 0);

class CallFrameFilesOfArm64 : public CallFrameFiles {
protected:
  /// Returns the rule of a function that starts with these instructions, 4 bytes into it.
  uint64_t rule_of(const std::string &instructions) {
    const auto frames =
        open(EhFrame().common_arm64().function(0x100, 0x10, std::string("\x44") + instructions),
             EM_AARCH64);
    EXPECT_TRUE(frames);
    EXPECT_EQ(frames->rule_at(0x103, false), kLeafArm64);
    return frames->rule_at(0x104, false);
  }
};

TEST_F(CallFrameFilesOfArm64, SayWhereTheReturnAddressIs) {
  const std::string pushed("\x0e\x20\x9d\4\x9e\3", 6); // stp x29, x30, [sp, #-32]!
  EXPECT_EQ(rule_of(pushed), UNWIND_RULE_ARM64(UNWIND_SP, 32, UNWIND_BP_SAVED, 3, 1));
  EXPECT_EQ(rule_of(pushed + "\x0d\x1d"), // mov x29, sp
            UNWIND_RULE_ARM64(UNWIND_BP, 32, UNWIND_BP_SAVED, 3, 1));
  EXPECT_EQ(rule_of(std::string("\x0e\x20\x9e\4", 4)), // str x30, [sp, #-32]!
            UNWIND_RULE_ARM64(UNWIND_SP, 32, UNWIND_BP_KEPT, 4, 0));
  EXPECT_EQ(rule_of(std::string("\x0e\x20", 2)), // sub sp, sp, #32
            UNWIND_RULE_ARM64(UNWIND_SP, 32, UNWIND_BP_KEPT, 0, 0));
  EXPECT_EQ(rule_of(std::string("\x07\x1e", 2)), uint64_t(UNWIND_END));
}

TEST_F(CallFrameFilesOfArm64, SaveTheTwoRegistersUpTo511WordsApart) {
  EXPECT_EQ(rule_of("\x9e\1\x9d\x80\4"), UNWIND_RULE_ARM64(UNWIND_SP, 0, UNWIND_BP_SAVED, 1, 511));
  EXPECT_EQ(rule_of("\x9e\x81\4\x9d\2"),
            UNWIND_RULE_ARM64(UNWIND_SP, 0, UNWIND_BP_SAVED, 513, -511));
  for (const char *farther : {"\x9e\1\x9d\x81\4", "\x9e\x81\4\x9d\1"})
    EXPECT_EQ(UNWIND_BP_RULE(rule_of(farther)), UNWIND_BP_LOST);
}

/// The instruction that signs the link register (paciasp) has a mark, which says no more.
TEST_F(CallFrameFilesOfArm64, MayHaveSignedReturnAddresses) {
  EXPECT_EQ(rule_of("\x2d"), kLeafArm64);
  EXPECT_EQ(rule_of(std::string("\x2d\x0e\x20\x9d\4\x9e\3", 7)),
            UNWIND_RULE_ARM64(UNWIND_SP, 32, UNWIND_BP_SAVED, 3, 1));
}

TEST_F(CallFrameFilesOfArm64, StopAtFramesThatNoRuleDescribes) {
  const std::pair<const char *, std::string> cases[] = {
      {"the end of the frame is in another register", std::string("\x0c\3\x10", 3)},
      {"a 4 GiB frame", std::string("\x0c\x1f\x80\x80\x80\x80\x20", 7)},
      {"the return address is in another register", std::string("\x09\x1e\3", 3)},
      {"the stack pointer is saved", std::string("\x9f\1", 2)},
      {"it is 1 MiB below the end", std::string("\x9e\x80\x80\x08", 4)},
      {"the end of the frame is computed", std::string("\x0f\4\x8f\x8\x23\x10", 6)},
  };
  for (const auto &[what, instructions] : cases)
    EXPECT_EQ(rule_of(instructions), uint64_t(UNWIND_STOP)) << what;
  EXPECT_EQ(UNWIND_BP_RULE(rule_of(std::string("\x9e\1\x9d\x80\x20", 5))), UNWIND_BP_LOST)
      << "too far from the return address";
  const auto other =
      open(EhFrame().common_arm64("", "zR", 29).function(0x100, 0x10, ""), EM_AARCH64);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->rule_at(0x100, false), uint64_t(UNWIND_STOP))
      << "another return address register";
}

/// The information says that the frame is that of a signal, but not where its registers are.
TEST_F(CallFrameFilesOfArm64, KnowTheFrameOfASignalByItsCode) {
  code_ = code_arm64({0xd2801168, 0xd4000001}); // mov x8, #139; svc #0
  const auto frames =
      open(EhFrame().common_arm64("", "zRS").function(0x7fc, 0x100, ""), EM_AARCH64);
  ASSERT_TRUE(frames);
  EXPECT_EQ(frames->rule_at(0x7ff, false), uint64_t(UNWIND_SIGNAL));
  EXPECT_EQ(frames->rule_at(0x800, true), uint64_t(UNWIND_SIGNAL)) << "it was interrupted there";
  EXPECT_EQ(frames->rule_at(0x803, false), uint64_t(UNWIND_STOP));
}

TEST_F(CallFrameFilesOfArm64, EndWhereACoroutineDoes) {
  code_ = code_arm64({0xd503201f, 0xaa1303e0, 0xb5fff9c0}); // nop; mov x0, x19; cbnz x0, ...
  const auto frames = open(EhFrame().common_arm64().function(0x800, 0x10, ""), EM_AARCH64);
  ASSERT_TRUE(frames);
  EXPECT_EQ(frames->rule_at(0x7ff, false), uint64_t(UNWIND_ENTRY)) << "returned to, but not called";
  EXPECT_EQ(frames->rule_at(0x7ff, true), uint64_t(UNWIND_STOP));
  EXPECT_EQ(frames->rule_at(0x803, false), kLeafArm64);
}

#if defined(__x86_64__)
/// Assembly code has labels of functions that have no size.
TEST(CallFrames, ALabelInAFunctionDoesNotHideIt) {
  test::TempDir dir;
  std::ofstream(dir / "label.s") << ".type f,@function\n.globl f, label\n"
                                    "f: push %rbp\nmov %rsp,%rbp\n"
                                    ".type label,@function\nlabel: call *%rax\nret\n.size f,.-f\n";
  ASSERT_EQ(std::system(("gcc -shared -nostdlib -Wl,--section-start=.text=0x1000 -o " +
                         (dir / "label.so") + " " + (dir / "label.s"))
                            .c_str()),
            0);
  const auto frames = CallFrames::open(open_regular(dir / "label.so"));
  ASSERT_TRUE(frames);
  EXPECT_EQ(frames->rule_at(0x1005, false), UNWIND_RULE(UNWIND_BP, 16, UNWIND_BP_SAVED, 2));
}

TEST(CallFrames, TheCodeThatTheKernelMapsHasSome) {
  const auto frames = CallFrames::open_vdso();
  ASSERT_TRUE(frames);
  int known = 0;
  for (uint64_t offset = 0; offset < 0x4000; offset += 16)
    known += UNWIND_KIND(frames->rule_at(offset, true)) == UNWIND_SP;
  EXPECT_GT(known, 0);
}
#endif

} // namespace
} // namespace ovnitrace
