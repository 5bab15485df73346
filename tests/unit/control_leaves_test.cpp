// SPDX-License-Identifier: BSD-2-Clause
// Where functions are left, of code that is written by hand.
#include "user/control/leaves.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#if defined(__x86_64__)

namespace ovnitrace::control {

namespace {

using Addresses = std::vector<uint64_t>;

constexpr uint64_t kFoo = 0x1000, kCold = 0x1100, kBar = 0x1200, kStub = 0x1300;

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (size_t at = 0; at + 1 < hex.size(); at += 3)
    bytes += char(std::stoi(std::string(hex.substr(at, 2)), nullptr, 16));
  return bytes;
}

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
}

TEST(ControlLeaves, TablesOfSwitchesStayInside) {
  EXPECT_EQ(leaves_of("3e ff e0 c3"), Addresses{kFoo + 3});                   // notrack jmp *%rax
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

} // namespace ovnitrace::control

#endif
