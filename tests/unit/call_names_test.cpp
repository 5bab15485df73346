// SPDX-License-Identifier: BSD-2-Clause
// The names of system calls, compared with the kernel's headers on this machine.
#include "emulator/format/call_names.h"

#include <gtest/gtest.h>
#include <ovnitrace/ftrace_codes.h>

#include <fstream>
#include <map>
#include <regex>
#include <string>

namespace {

using namespace ovnitrace;

constexpr char kX86[] = "x86_64", kArm[] = "aarch64";

std::string native(std::string_view machine, unsigned number) {
  return std::string(call_name(machine, uint16_t(FTRACE_CALL_NATIVE + number)));
}

std::string compat(std::string_view machine, unsigned number) {
  return std::string(call_name(machine, uint16_t(FTRACE_CALL_COMPAT + number)));
}

/// The numbers that a header defines; none where it is not installed. `__NR3264_` are names that
/// the generic header gives to two calls, of which 64-bit machines have the one of this name.
std::map<unsigned, std::string> numbers_of(const std::string &header) {
  std::map<unsigned, std::string> numbers;
  std::ifstream in("/usr/include/" + header);
  const std::regex define("#define __NR(3264)?_(\\w+)\\s+(\\d+)\\s*");
  std::smatch parts;
  for (std::string line; std::getline(in, line);)
    if (std::regex_match(line, parts, define) && parts[2] != "syscalls")
      numbers.emplace(unsigned(std::stoul(parts[3])), parts[2]);
  return numbers;
}

/// `later`: what newer kernels have put between the numbers of old headers.
void compare(const std::string &header, std::string (*name)(std::string_view, unsigned),
             const std::string &suffix, std::map<unsigned, std::string> later) {
  std::map<unsigned, std::string> expected = numbers_of(header);
  if (expected.empty())
    GTEST_SKIP() << header << " is not installed";
  ASSERT_GT(expected.size(), 300u);
  const unsigned last = expected.rbegin()->first;
  expected.merge(later);
  for (unsigned number = 0; number <= last; number++) {
    const auto it = expected.find(number);
    EXPECT_EQ(name(kX86, number),
              (it == expected.end() ? "call " + std::to_string(number) : it->second) + suffix);
  }
}

TEST(CallNames, MatchTheHeadersOfX86_64) {
  compare("x86_64-linux-gnu/asm/unistd_64.h", native, "", {{335, "uretprobe"}, {336, "uprobe"}});
}

TEST(CallNames, MatchTheHeadersOfI386) {
  compare("x86_64-linux-gnu/asm/unistd_32.h", compat, " (32-bit)", {});
}

/// The generic header is that of 32-bit machines too: they have 403 to 423.
TEST(CallNames, MatchTheGenericHeaders) {
  std::map<unsigned, std::string> numbers = numbers_of("asm-generic/unistd.h");
  if (numbers.empty())
    GTEST_SKIP() << "the generic header is not installed";
  numbers[79] = "newfstatat";      // of 64-bit machines
  numbers[84] = "sync_file_range"; // where the arguments need not be sorted anew
  numbers.erase(244);              // where those of an architecture start: arm64 has none
  ASSERT_GT(numbers.size(), 300u);
  for (unsigned number = 0; number <= numbers.rbegin()->first; number++) {
    const auto it = numbers.find(number);
    const std::string none = "call " + std::to_string(number);
    const std::string name = it == numbers.end() ? none : it->second;
    const bool time64 = number >= 403 && number <= 423;
    EXPECT_EQ(native(kArm, number), time64 ? none : name);
    if (time64) {
      EXPECT_EQ(compat(kArm, number), name + " (32-bit)");
    }
  }
}

/// No header of this machine has them.
TEST(CallNames, NewCallsX32AndArm) {
  for (const char *machine : {kX86, kArm}) {
    EXPECT_EQ(native(machine, 455), "futex_wait");
    EXPECT_EQ(compat(machine, 455), "futex_wait (32-bit)");
    EXPECT_EQ(native(machine, 469), "file_setattr");
    EXPECT_EQ(native(machine, 470), "call 470");
  }
  EXPECT_EQ(native(kX86, 519), "recvmsg (x32)");
  EXPECT_EQ(native(kX86, 547), "pwritev2 (x32)");
  EXPECT_EQ(compat(kArm, 3), "read (32-bit)");
  EXPECT_EQ(compat(kArm, 240), "futex (32-bit)");
  EXPECT_EQ(compat(kArm, 252), "epoll_wait (32-bit)");
  EXPECT_EQ(compat(kArm, 292), "recvfrom (32-bit)");
  EXPECT_EQ(compat(kArm, 401), "kexec_file_load (32-bit)");
}

TEST(CallNames, NumbersWithoutACallOrANameAreCovered) {
  for (const char *machine : {kX86, kArm, "sparc64", ""}) {
    EXPECT_EQ(call_name(machine, FTRACE_CALL_UNKNOWN), "");
    EXPECT_EQ(call_name(machine, FTRACE_CALL_NONE), "no system call");
    EXPECT_EQ(native(machine, 599), "call 599");
    EXPECT_EQ(compat(machine, 599), "call 599 (32-bit)");
    EXPECT_EQ(call_name(machine, 2048), "");
    EXPECT_EQ(call_name(machine, UINT16_MAX), "");
  }
  EXPECT_EQ(native("sparc64", 3), "call 3");
}

} // namespace
