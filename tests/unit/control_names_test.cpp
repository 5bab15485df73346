// SPDX-License-Identifier: BSD-2-Clause
// Functions by the names that people give them: user/control/function_names.
#include "user/control/image.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ovnitrace::control {
namespace {

using Addresses = std::vector<uint64_t>;
using Names = std::vector<std::string>;

/// The functions are one byte each, from 0x1000 on.
Image image_of(const Names &functions) {
  Image image;
  image.code.push_back({0x1000, 0x1000, std::vector<uint8_t>(functions.size(), 0xc3)});
  for (size_t n = 0; n < functions.size(); n++)
    image.functions.push_back({functions[n], 0x1000 + n, 1});
  return image;
}

/// Which of the functions have the name, counted from 0.
Addresses found(const Names &functions, const char *name, Naming naming = Naming::any) {
  Addresses numbers;
  for (const uint64_t address : find_functions(image_of(functions), name, naming))
    numbers.push_back(address - 0x1000);
  return numbers;
}

TEST(ControlNames, ClonesAndFortranNamesAreTheFunction) {
  const Names functions = {"foo",         "foo_",       "foo__",      "foo.constprop.0",
                           "foo.isra.1",  "foo.cold",   "foo.part.0", "__mod_MOD_foo",
                           "mod_MOD_foo", "__x_MOD_fo", "xfoo",       "foox"};
  for (const Naming naming : {Naming::any, Naming::bare})
    EXPECT_EQ(found(functions, "foo", naming), (Addresses{0, 1, 3, 4, 7}));
  EXPECT_EQ(found(functions, "foo.isra.1"), Addresses{4}) << "as the linker has it";
  EXPECT_EQ(found(functions, "foo.part.0"), Addresses{6});
  EXPECT_EQ(found(functions, "mod"), Addresses());
  EXPECT_EQ(found({".foo", "foo.constprop.0.isra.1"}, "foo"), Addresses{1});
}

TEST(ControlNames, OfCodeOnly) {
  Image image = image_of({"foo", "bar"});
  image.functions.push_back({"foo", 0x2000, 8}); // its section was not read
  image.functions.push_back({"foo", 0x1000, 1}); // of the other table of symbols
  image.functions.insert(image.functions.begin(), {"foo", 0x1001, 1});
  EXPECT_EQ(find_functions(image, "foo", Naming::bare), (Addresses{0x1000, 0x1001}));
}

// a::f(int), a::f(), void a::g<int>(int), a::operator+(int), (anonymous namespace)::h(),
// b::(anonymous namespace)::h(int)
const Names kCpp = {"_ZN1a1fEi",
                    "_ZN1a1fEv",
                    "_ZN1a1gIiEEvT_",
                    "_ZN1aplEi",
                    "_ZN12_GLOBAL__N_11hEv",
                    "_ZN1b12_GLOBAL__N_11hEi"};

TEST(ControlNames, ABareNameIsTheLastPartOfACppName) {
  for (const Naming naming : {Naming::any, Naming::bare}) {
    EXPECT_EQ(found(kCpp, "f", naming), (Addresses{0, 1}));
    EXPECT_EQ(found(kCpp, "g", naming), Addresses{2}) << "void is its result";
    EXPECT_EQ(found(kCpp, "operator+", naming), Addresses{3});
    EXPECT_EQ(found(kCpp, "h", naming), (Addresses{4, 5}));
    EXPECT_EQ(found(kCpp, "a", naming), Addresses());
    EXPECT_EQ(found(kCpp, "int", naming), Addresses());
  }
}

TEST(ControlNames, TheBracketsOfACallOperatorAreOfItsName) {
  const Names functions = {"_ZN1aclEi", "_ZN1a1fEi"}; // a::operator()(int), a::f(int)
  for (const char *name : {"a::operator()", "operator()", "a::operator()(int)"})
    EXPECT_EQ(found(functions, name), Addresses{0}) << name;
  EXPECT_EQ(found(functions, "operator"), Addresses());
}

TEST(ControlNames, TheAngleBracketsOfAnOperatorAreOfItsName) {
  // a::operator<<(int), a::operator<(int), a::operator>(int), a::operator->()
  const Names functions = {"_ZN1alsEi", "_ZN1altEi", "_ZN1agtEi", "_ZN1aptEv"};
  for (const Naming naming : {Naming::any, Naming::bare}) {
    EXPECT_EQ(found(functions, "operator<<", naming), Addresses{0});
    EXPECT_EQ(found(functions, "operator<", naming), Addresses{1});
    EXPECT_EQ(found(functions, "operator>", naming), Addresses{2});
    EXPECT_EQ(found(functions, "operator->", naming), Addresses{3});
  }
}

TEST(ControlNames, AQualifiedNameMayHaveParametersAndBlanks) {
  EXPECT_EQ(found(kCpp, "a::f"), (Addresses{0, 1}));
  EXPECT_EQ(found(kCpp, "a::f(int)"), Addresses{0});
  EXPECT_EQ(found(kCpp, "a::f( int )"), Addresses{0});
  EXPECT_EQ(found(kCpp, "a::f()"), Addresses{1});
  EXPECT_EQ(found(kCpp, "a::f(long)"), Addresses());
  EXPECT_EQ(found(kCpp, "a::g<int>"), Addresses{2});
  EXPECT_EQ(found(kCpp, "a::g<long>"), Addresses());
  EXPECT_EQ(found(kCpp, "a::operator+"), Addresses{3});
  EXPECT_EQ(found(kCpp, "a::operator+(int)"), Addresses{3});
  EXPECT_EQ(found(kCpp, "(anonymous namespace)::h"), Addresses{4});
  EXPECT_EQ(found(kCpp, "b::(anonymous namespace)::h"), Addresses{5});
  EXPECT_EQ(found(kCpp, "b::f"), Addresses());
  EXPECT_EQ(found(kCpp, "_ZN1a1fEv"), Addresses{1}) << "as the linker has it";
  for (const char *name : {"a::f", "a::f(int)", "a::g<int>", "a::operator+"})
    EXPECT_EQ(found(kCpp, name, Naming::bare), Addresses()) << name;
}

TEST(ControlNames, ATemplateArgumentMayHaveColonsAndBlanks) {
  // void a::g<b::c>(b::c), and a::t<unsigned long>::run(int)
  const Names functions = {"_ZN1a1gIN1b1cEEEvT_", "_ZN1a1tImE3runEi", "_ZN1a3runEi.constprop.0"};
  EXPECT_EQ(found(functions, "g", Naming::bare), Addresses{0});
  EXPECT_EQ(found(functions, "a::g<b::c>"), Addresses{0});
  EXPECT_EQ(found(functions, "run", Naming::bare), (Addresses{1, 2}));
  EXPECT_EQ(found(functions, "a::t<unsigned long>::run"), Addresses{1});
  EXPECT_EQ(found(functions, "a::run"), Addresses{2});
  EXPECT_EQ(found(functions, "c", Naming::bare), Addresses());
}

TEST(ControlNames, AFunctionIsIndirectIfNoOtherHasItsName) {
  Image image = image_of({"foo"});
  image.indirect = {{"foo", 0x1000, 1}, {"copy", 0x1000, 1}};
  EXPECT_FALSE(is_indirect(image, "foo", Naming::bare));
  EXPECT_TRUE(is_indirect(image, "copy", Naming::bare));
  EXPECT_FALSE(is_indirect(image, "cop", Naming::bare));
}

TEST(ControlNames, ImplementationsHaveTheNameInTheirs) {
  Image image = image_of({"__copy_b.constprop.0", "__copy_a", "move", "copy_of", "copy"});
  image.functions.push_back({"copy_elsewhere", 0x2000, 1});
  image.indirect = {{"move", 0x1002, 1}, {"copy", 0x1004, 1}};
  EXPECT_EQ(implementations(image, "copy", 5), (Names{"__copy_a", "__copy_b", "copy_of"}));
  EXPECT_EQ(implementations(image, "copy", 2), (Names{"__copy_a", "__copy_b"}));
  EXPECT_EQ(implementations(image, "none", 2), Names());
}

TEST(ControlNames, TheNearestOnesComeFirst) {
  const Image image = image_of({"matmuxx", "matmul_", "matmul", "transpose", "matmulxyz", "atmu1",
                                "_ZN1a5matmuEi", "matmull.isra.0"});
  EXPECT_EQ(nearest_names(image, "matmu1", 9),
            (Names{"atmu1", "matmu", "matmul", "matmul_", "matmull", "matmuxx"}));
  EXPECT_EQ(nearest_names(image, "matmu1", 2), (Names{"atmu1", "matmu"}));
  EXPECT_EQ(nearest_names(image, "b::matmu(int)", 1), Names{"matmu"});
}

// A third of its letters may be wrong, and one in any case.
TEST(ControlNames, ANearNameHasTwoThirdsOfTheLetters) {
  const Image image = image_of({"abcdef", "ab"});
  EXPECT_EQ(nearest_names(image, "abcdxx", 5), Names{"abcdef"});
  EXPECT_EQ(nearest_names(image, "abcxxx", 5), Names());
  EXPECT_EQ(nearest_names(image, "abcd", 5), Names()) << "two are missing of four";
  EXPECT_EQ(nearest_names(image, "ax", 5), Names{"ab"});
  EXPECT_EQ(nearest_names(image, "xx", 5), Names());
  EXPECT_EQ(nearest_names(image, "abcdefgh", 5), Names{"abcdef"});
}

} // namespace
} // namespace ovnitrace::control
