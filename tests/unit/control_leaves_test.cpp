// SPDX-License-Identifier: BSD-2-Clause
// Where functions are left, of code that is written by hand.
#include "tests/unit/support/hex_bytes.h"
#include "user/control/leaves.h"
#include "user/control/scan.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#if defined(__x86_64__)

namespace ovnitrace::control {

namespace {

using test::bytes_of;

using Addresses = std::vector<uint64_t>;

constexpr uint64_t kFoo = 0x1000, kCold = 0x1100, kBar = 0x1200, kStub = 0x1300;

/// foo and its cold part, a function bar, and a stub of the linkage table, which has no name.
Image image_of(std::string_view foo, std::string_view cold = "0f 0b", bool has_size = true) {
  Image image;
  const std::string hot = bytes_of(foo), rest = bytes_of(cold);
  image.functions = {
      {"foo", kFoo, has_size ? hot.size() : 0}, {"foo.cold", kCold, rest.size()}, {"bar", kBar, 1}};
  for (const auto &[address, bytes] :
       {std::pair(kFoo, hot), std::pair(kCold, rest), std::pair(kBar, bytes_of("c3")),
        std::pair(kStub, bytes_of("ff 25 00 01 00 00"))})
    image.code.push_back({address, address, {bytes.begin(), bytes.end()}});
  return image;
}

Addresses leaves_of(std::string_view foo, std::string_view cold = "0f 0b") {
  const Leaves leaves = find_leaves(image_of(foo, cold), kFoo);
  EXPECT_EQ(leaves.refused, "");
  return leaves.at;
}

std::string refusal_of(std::string_view foo) {
  const Leaves leaves = find_leaves(image_of(foo), kFoo);
  EXPECT_TRUE(leaves.at.empty());
  return leaves.refused;
}

} // namespace

TEST(ControlLeaves, Returns) {
  EXPECT_EQ(leaves_of("c3"), Addresses{kFoo});
  EXPECT_EQ(leaves_of("74 01 c3 90 c3"), (Addresses{kFoo + 2, kFoo + 4})); // je, ret, nop, ret
  EXPECT_EQ(leaves_of("f3 c3"), Addresses{kFoo});                          // repz ret
  EXPECT_EQ(leaves_of("c2 08 00"), Addresses{kFoo});                       // ret 8
  EXPECT_EQ(leaves_of("eb fe"), Addresses{});                              // for ever
  EXPECT_EQ(leaves_of("c3 cc"), Addresses{kFoo});                          // padding
}

TEST(ControlLeaves, JumpsToOtherFunctions) {
  EXPECT_EQ(leaves_of("90 e9 fa 01 00 00"), Addresses{kFoo + 1});            // bar
  EXPECT_EQ(leaves_of("0f 84 fa 01 00 00 c3"), (Addresses{kFoo + 6, kBar})); // je bar
  EXPECT_EQ(leaves_of("e9 fb 02 00 00"), Addresses{kFoo}) << "not the stub, which others call";
  EXPECT_EQ(leaves_of("75 fe 90 eb fb"), Addresses{}) << "to its own start";
}

TEST(ControlLeaves, CodeElsewhereBelongsToTheFunction) {
  // jne foo.cold; ret. foo.cold: je back; ret; jmp back
  EXPECT_EQ(leaves_of("0f 85 fa 00 00 00 c3", "0f 84 00 ff ff ff c3 e9 f4 fe ff ff"),
            (Addresses{kFoo + 6, kCold + 6}));
  Image image = image_of("0f 85 fa 00 00 00 c3", "90 c3 c3");
  image.functions.erase(image.functions.begin() + 1); // stripped: it ends where it cannot go on
  EXPECT_EQ(find_leaves(image, kFoo).at, (Addresses{kFoo + 6, kCold + 1}));
  image = image_of("0f 85 fa 00 00 00 c3", "90 c3 c3");
  image.functions.push_back({"foo.cold.1", kCold, 0}); // a second name, without a size
  EXPECT_EQ(find_leaves(image, kFoo).at, (Addresses{kFoo + 6, kCold + 1, kCold + 2}));
}

TEST(ControlLeaves, TablesOfSwitchesStayInside) {
  EXPECT_EQ(leaves_of("3e ff e0 c3"), Addresses{kFoo + 3});                   // notrack jmp *%rax
  EXPECT_EQ(leaves_of("c3 3e ff e0"), Addresses{kFoo});                       // at the end
  EXPECT_EQ(leaves_of("48 63 04 82 48 01 d0 ff e0 c3"), Addresses{kFoo + 9}); // movslq, add, jmp
  // cmp $5, %edi; ja; jmp *table(,%rdi,8); ret
  EXPECT_EQ(leaves_of("83 ff 05 77 07 ff 24 fd 00 20 40 00 c3"), Addresses{kFoo + 12});
}

TEST(ControlLeaves, JumpsThroughPointersLeave) {
  EXPECT_EQ(leaves_of("ff e7"), Addresses{kFoo});                 // jmp *%rdi
  EXPECT_EQ(leaves_of("48 8b 07 ff 60 10"), Addresses{kFoo + 3}); // mov (%rdi), %rax; jmp *16(%rax)
  EXPECT_EQ(leaves_of("ff 25 00 10 00 00"), Addresses{kFoo});     // jmp *pointer(%rip)
  // add; call: what it returns is no sum; jmp *%rax
  EXPECT_EQ(leaves_of("48 01 d0 e8 00 00 00 00 ff e0"), Addresses{kFoo + 8});
}

TEST(ControlLeaves, CodeWithUnclearTargetsIsRefused) {
  EXPECT_NE(refusal_of("ff 24 fd 00 20 40 00").find("0x1000"), std::string::npos); // no bound
  EXPECT_NE(refusal_of("48 8b 04 fa ff e0"), ""); // the same, loaded
  EXPECT_NE(refusal_of("90 06 c3"), "");          // no instruction
  EXPECT_NE(refusal_of("48 89 c7"), "");          // goes on into the next function
  EXPECT_NE(refusal_of("74 00"), "");
  EXPECT_EQ(leaves_of("74 01 c3 e8 00 00 00 00"), Addresses{kFoo + 2}) << "the call never returns";
  EXPECT_NE(find_leaves(image_of("c3", "0f 0b", false), kFoo).refused, "");
}

TEST(ControlLeaves, ATableIsNearTheBoundOfItsIndex) {
  const std::string jump = "ff 24 fd 00 20 40 00 c3"; // jmp *table(,%rdi,8); ret
  std::string nops;
  for (int n = 0; n < 12; n++)
    nops += "90 ";
  EXPECT_EQ(leaves_of("83 ff 05 77 13 " + nops + jump), Addresses{kFoo + 24});
  EXPECT_NE(refusal_of("83 ff 05 77 14 " + nops + "90 " + jump), "");
  EXPECT_NE(refusal_of("77 07 " + jump), "") << "nothing has been compared";
  EXPECT_NE(refusal_of("73 07 " + jump), "");
}

TEST(ControlLeaves, AFunctionEndsWhereTheNextOneBegins) {
  Image image = image_of("eb 00 c3"); // jmp bar
  image.functions = {{"foo", kFoo, 2}, {"bar", kFoo + 2, 1}};
  EXPECT_EQ(find_leaves(image, kFoo).at, Addresses{kFoo});
  image = image_of("e9 fb 01 00 00"); // jmp bar
  image.functions[2].size = 0;
  EXPECT_EQ(find_leaves(image, kFoo).at, Addresses{kFoo}) << "its size is not known";
  image = image_of("e9 f9 01 00 00"); // to code without a name, which goes on into bar
  image.code.push_back({kBar - 2, kBar - 2, {0x90, 0x90}});
  EXPECT_EQ(find_leaves(image, kFoo).at, Addresses{});
  EXPECT_EQ(find_leaves(image_of("e9 fc 00 00 00", "c3"), kFoo).refused,
            "there is no instruction at 0x1101");
}

TEST(ControlLeaves, WhatIsRefusedHasItsAddress) {
  const std::string unclear = "there is a jump through a table or a pointer, which may leave the "
                              "function at ";
  EXPECT_EQ(refusal_of("90 cb"), unclear + "0x1001") << "a far return";
  EXPECT_EQ(refusal_of("ff 2d 00 00 00 00"), unclear + "0x1000") << "a far jump";
  EXPECT_EQ(refusal_of("48 8b 04 fa 50 ff e0"), unclear + "0x1005") << "push only reads it";
  EXPECT_EQ(refusal_of("48 89 c7 90"), "it runs past its end at 0x1004");
  EXPECT_EQ(refusal_of("90 06 c3"), "there is no instruction at 0x1001");
  EXPECT_EQ(find_leaves(image_of("c3", "0f 0b", false), kFoo).refused, "its symbol has no size");
}

} // namespace ovnitrace::control

#elif defined(__aarch64__)

namespace ovnitrace::control {

namespace {

using Addresses = std::vector<uint64_t>;
using Words = std::vector<uint32_t>;

constexpr uint64_t kFoo = 0x1000, kCold = 0x1100, kBar = 0x1200, kStub = 0x1300;
constexpr uint32_t kRet = 0xd65f03c0, kNop = 0xd503201f, kBr = 0xd61f0020 /* x1 */, kTrap = 0;
constexpr uint32_t kAdd = 0x8b21a841; // add x1, x2, w1, sxth #2

/// foo and its cold part, a function bar, and a stub of the linkage table, which has no name.
Image image_of(const Words &foo, const Words &cold = {kTrap}) {
  Image image;
  image.functions = {
      {"foo", kFoo, foo.size() * 4}, {"foo.cold", kCold, cold.size() * 4}, {"bar", kBar, 4}};
  for (const auto &[address, words] :
       {std::pair(kFoo, foo), std::pair(kCold, cold), std::pair(kBar, Words{kRet}),
        std::pair(kStub, Words{0x90000010})}) { // adrp x16, …
    const auto *bytes = reinterpret_cast<const unsigned char *>(words.data());
    image.code.push_back({address, address, {bytes, bytes + words.size() * 4}});
  }
  return image;
}

Addresses leaves_of(const Words &foo, const Words &cold = {kTrap}) {
  const Leaves leaves = find_leaves(image_of(foo, cold), kFoo);
  EXPECT_EQ(leaves.refused, "");
  return leaves.at;
}

std::string refusal_of(const Words &foo) {
  const Leaves leaves = find_leaves(image_of(foo), kFoo);
  EXPECT_TRUE(leaves.at.empty());
  return leaves.refused;
}

std::string why_not(uint32_t word) {
  return why_no_probe({reinterpret_cast<const char *>(&word), sizeof(word)});
}

} // namespace

TEST(ControlLeaves, Returns) {
  EXPECT_EQ(leaves_of({kRet}), Addresses{kFoo});
  EXPECT_EQ(leaves_of({0xb4000040, kRet, kNop, kRet}), (Addresses{kFoo + 4, kFoo + 12})); // cbz
  EXPECT_EQ(leaves_of({0x36180041, 0xd65f0bff, 0xd65f0fff}),
            (Addresses{kFoo + 4, kFoo + 8})); // tbz, retaa, retab
  EXPECT_EQ(leaves_of({0x14000000}), Addresses{}) << "for ever";
  EXPECT_EQ(leaves_of({kRet, 0xd4200020}), Addresses{kFoo}) << "padding: brk";
  EXPECT_EQ(leaves_of({kRet, 0x94000001}), Addresses{kFoo}) << "the call never returns";
}

TEST(ControlLeaves, JumpsToOtherFunctions) {
  EXPECT_EQ(leaves_of({kNop, 0x1400007f}), Addresses{kFoo + 4});         // b bar
  EXPECT_EQ(leaves_of({0x54001000, kRet}), (Addresses{kFoo + 4, kBar})); // b.eq bar
  EXPECT_EQ(leaves_of({0x140000c0}), Addresses{kFoo}) << "not the stub, which others call";
  EXPECT_EQ(leaves_of({kNop, 0x17ffffff}), Addresses{}) << "to its own start";
}

TEST(ControlLeaves, CodeElsewhereBelongsToTheFunction) {
  // cbnz foo.cold; ret. foo.cold: b.eq back; ret; b back
  EXPECT_EQ(leaves_of({0xb5000800, kRet}, {0x54fff800, kRet, 0x17ffffbe}),
            (Addresses{kFoo + 4, kCold + 4}));
  Image image = image_of({0xb5000800, kRet}, {kNop, kRet, kRet});
  image.functions.erase(image.functions.begin() + 1); // stripped: it ends where it cannot go on
  EXPECT_EQ(find_leaves(image, kFoo).at, (Addresses{kFoo + 4, kCold + 4}));
}

TEST(ControlLeaves, OnlyJumpsToSumsAreTablesOfSwitches) {
  EXPECT_EQ(leaves_of({kAdd, kBr, kRet}), Addresses{kFoo + 8});
  EXPECT_NE(refusal_of({kBr, kRet}).find("0x1000"), std::string::npos);
  EXPECT_NE(refusal_of({kAdd, 0xf9400020, kBr, kRet}), ""); // ldr x0, [x1] between
  EXPECT_NE(refusal_of({0xd71f0822, kRet}), "");            // braa x1, x2
}

TEST(ControlLeaves, CodeThatGoesOnBehindItsEndIsRefused) {
  EXPECT_NE(refusal_of({kNop, 0xaa0103e0}), "");
  EXPECT_NE(refusal_of({0xb4000040}), "");
}

TEST(ControlLeaves, InstructionsThatTheKernelCannotProbeAreRefused) {
  // ret, b, bl, cbz, br, blr, adr, mrs, paciasp, bti c, nop, stp, ldr x0, [x1]
  for (const uint32_t word :
       {kRet, 0x14000002u, 0x94000001u, 0xb4000040u, kBr, 0xd63f0060u, 0x10000040u, 0xd53bd040u,
        0xd503233fu, 0xd503245fu, kNop, 0xa9bf7bfdu, 0xf9400020u})
    EXPECT_EQ(why_not(word), "") << std::hex << word;
  // svc, brk, retaa, braa, blraa, ldxr, stlxr, cas, ldr x, ldr q and ldrsw of literals, msr,
  // autiasp, wfi
  for (const uint32_t word :
       {0xd4000001u, 0xd4200020u, 0xd65f0bffu, 0xd71f0822u, 0xd73f0822u, 0xc85f7c20u, 0xc802fc20u,
        0xc8a07c41u, 0x58000040u, 0x9c000040u, 0x98000040u, 0xd51bd040u, 0xd50323bfu, 0xd503207fu})
    EXPECT_NE(why_not(word), "") << std::hex << word;
}

} // namespace ovnitrace::control

#endif
