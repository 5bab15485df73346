// SPDX-License-Identifier: BSD-2-Clause
// Functions and lines of a program that a compiler made: emulator/symbols/elf_symbols.
#include "emulator/input/stacks.h"
#include "emulator/symbols/elf_symbols.h"
#include "emulator/symbols/file_symbols.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace ovnitrace {
namespace {

constexpr const char *kSource = R"(#include <stdio.h>
int part(int) __asm__("part.cold.3");
int __attribute__((noinline)) part(int a) {
  return a + 1;
}
static inline __attribute__((always_inline)) int inner(int a) {
  __asm__ volatile("in_inner: nop");
  return a + 2;
}
int __attribute__((noinline)) outer(int a) {
  int b = part(a);
  b += inner(b);
  return b;
}
extern char in_inner[];
int main(int count, char **arguments) {
  (void)arguments;
  printf("%p %p %p %d\n", (void *)part, (void *)outer, (void *)in_inner, outer(count));
  return 0;
}
)";

class CompiledSymbols : public testing::Test {
protected:
  void SetUp() override {
    std::ofstream(dir_ / "app.c") << kSource;
    const std::string program = dir_ / "app";
    ASSERT_EQ(std::system(("gcc -g -O1 -no-pie -Wl,--build-id=0xab12cd34 -o " + program + " " +
                           dir_ / "app.c" + " && " + program + " > " + dir_ / "places")
                              .c_str()),
              0);
    std::ifstream(dir_ / "places") >> std::hex >> part_ >> outer_ >> in_inner_;
    symbols_ = ElfSymbols::open(program, "");
    ASSERT_TRUE(symbols_);
  }
  /// "inner app.c:7", without the folder.
  std::vector<std::string> at(uint64_t address) {
    std::vector<std::string> texts;
    for (const CodePlace &place : symbols_->at(address))
      texts.push_back(place.function + " " +
                      std::string(place.source.substr(place.source.rfind('/') + 1)) + ":" +
                      std::to_string(place.line));
    return texts;
  }
  using Texts = std::vector<std::string>;

  test::TempDir dir_;
  uint64_t part_ = 0, outer_ = 0, in_inner_ = 0;
  std::unique_ptr<ElfSymbols> symbols_;
};

TEST_F(CompiledSymbols, APartOfAFunctionKeepsItsWholeName) {
  ASSERT_EQ(symbols_->at(part_).size(), 1u);
  EXPECT_EQ(symbols_->at(part_)[0].function, "part.cold.3");
}

TEST_F(CompiledSymbols, AnInlinedFunctionIsCalledAtALineOfTheOuterOne) {
  ASSERT_EQ(symbols_->at(outer_).size(), 1u);
  EXPECT_EQ(symbols_->at(outer_)[0].function, "outer");
  EXPECT_EQ(at(in_inner_), (Texts{"inner app.c:7", "outer app.c:12"}));
}

/// Compilers describe a lambda inside the function that has it, although its code is elsewhere.
TEST_F(CompiledSymbols, AFunctionIsAlsoInlinedIntoALambda) {
  std::ofstream(dir_ / "lambda.cpp") << R"(#include <cstdio>
extern char in_inner[];
static inline __attribute__((always_inline)) void inner() {
  asm volatile("in_inner: nop");
}
int main() {
  const auto lambda = [] { inner(); };
  lambda();
  printf("%p", (void *)in_inner);
}
)";
  const std::string program = dir_ / "lambda";
  ASSERT_EQ(std::system(("g++ -g -O0 -no-pie -o " + program + " " + (program + ".cpp") + " && " +
                         program + " > " + dir_ / "place")
                            .c_str()),
            0);
  uint64_t address = 0;
  std::ifstream(dir_ / "place") >> std::hex >> address;
  symbols_ = ElfSymbols::open(program, "");
  ASSERT_TRUE(symbols_);
  EXPECT_EQ(at(address),
            (Texts{"inner lambda.cpp:4", "main::{lambda()#1}::operator() lambda.cpp:7"}));
}

TEST_F(CompiledSymbols, ComeFromTheFileWithTheBuildId) {
  EXPECT_EQ(symbols_->build_id(), "ab12cd34");
  EXPECT_TRUE(ElfSymbols::open(dir_ / "app", "ab12cd34"));
  EXPECT_FALSE(ElfSymbols::open(dir_ / "app", "ab12cd35"));
}

/// As Fedora strips its programs: the symbols are left, compressed.
TEST_F(CompiledSymbols, AreInTheSmallDebugDataOfAStrippedFile) {
  const std::string commands =
      "cd '" + dir_.path() +
      "' && cp app symbols && strip -g symbols && xz symbols && strip -s app && "
      "objcopy --add-section .gnu_debugdata=symbols.xz app";
  ASSERT_EQ(std::system(commands.c_str()), 0);
  symbols_ = ElfSymbols::open(dir_ / "app", "");
  ASSERT_TRUE(symbols_);
  EXPECT_EQ(at(outer_), Texts{"outer :0"});
}

/// What several debug files share is in a file with another build id (dwz).
TEST_F(CompiledSymbols, AreAlsoInAFileThatDebugFilesShare) {
  std::string commands = "cd '" + dir_.path() + "'";
  for (const std::string file : {"app", "two"})
    commands += " && gcc -g -O1 -no-pie -Wl,--build-id=0xab12cd34 -o " + file +
                " app.c && objcopy --only-keep-debug " + file + " " + file + ".debug";
  commands += " && dwz -m shared -M '" + dir_.path() +
              "/shared' app.debug two.debug && strip -s app && "
              "objcopy --add-gnu-debuglink=app.debug app && test -s shared";
  ASSERT_EQ(std::system(commands.c_str()), 0);
  symbols_ = ElfSymbols::open(dir_ / "app", "");
  ASSERT_TRUE(symbols_);
  EXPECT_EQ(at(in_inner_), (Texts{"inner app.c:7", "outer app.c:12"}));
}

// Each file has its own names, also beside one that cannot be read.
TEST_F(CompiledSymbols, EachPlaceOfSeveralFilesHasItsName) {
  PlacesOfFile app{.path = dir_ / "app", .build_id = "", .files = {}, .places = {}};
  app.places = {{.offset = 0, .address = part_}, {.offset = 0, .address = in_inner_}};
  PlacesOfFile none = app;
  none.path = dir_ / "none";
  std::vector<std::string> warnings;
  const auto names = name_places({none, app}, [&](const std::string &w) { warnings.push_back(w); });
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[0].build_id, "");
  ASSERT_EQ(names[0].places.size(), 2u);
  EXPECT_EQ(names[0].places[0].functions.size(), 1u);
  EXPECT_EQ(names[0].places[0].functions[0].function, "");
  EXPECT_EQ(names[1].build_id, "ab12cd34");
  EXPECT_EQ(names[1].places[0].functions[0].function, "part.cold.3");
  EXPECT_EQ(names[1].places[0].address, part_);
  ASSERT_EQ(names[1].places[1].functions.size(), 2u);
  EXPECT_EQ(names[1].places[1].functions[1].function, "outer");
  EXPECT_EQ(names[1].places[1].functions[1].line, 12u);
  EXPECT_TRUE(warnings.empty());
}

// Frames of several files, in an order that is not that of the files.
TEST_F(CompiledSymbols, NameTheFramesOfATraceThatHaveNoName) {
  const std::string json = fmt::format(
      R"({{"version": 1, "stack_files": [{{"path": "{0}/app", "build_id": "ab12cd34"}},
          {{"path": "{0}/none", "build_id": "ab12cd34"}}, {{"path": "{0}/app"}}],
          "stack_frames": [{{"file": 1, "offset": 1}}, {{"file": 2, "address": {1}}},
          {{"file": 0, "address": {1}}}, {{"file": 0, "address": {2}}}],
          "stacks": [{{"user": [0, 1, 2, 3]}}]}})",
      dir_.path(), outer_, in_inner_);
  std::ofstream(dir_ / "trace.json") << json;
  test::CollectingSink sink;
  const StackTable table = StackTable::read(dir_.path(), sink);
  Texts functions;
  for (const uint32_t frame : table.frames(1))
    functions.push_back(table.frame(frame).function);
  EXPECT_EQ(functions, (Texts{"", "", "outer", "inner", "outer"}));
}

/// A file with symbols and without lines. The capture knows one function by another name.
TEST_F(CompiledSymbols, NameFramesAlsoWithoutLinesAndBehindAFileThatIsGone) {
  ASSERT_EQ(std::system(("strip -g '" + dir_.path() + "/app'").c_str()), 0);
  std::ofstream(dir_ / "trace.json") << fmt::format(
      R"({{"version": 1, "stack_files": [{{"path": "{0}/none", "build_id": "ab12cd34"}},
          {{"path": "{0}/app", "build_id": "ab12cd34"}}],
          "stack_frames": [{{"file": 0, "offset": 1}}, {{"file": 1, "address": {1}}},
          {{"file": 1, "address": {1}, "function": "f", "source": "f.c"}}],
          "stacks": [{{"user": [0, 1, 2]}}]}})",
      dir_.path(), outer_);
  test::CollectingSink sink;
  const StackTable table = StackTable::read(dir_.path(), sink);
  Texts functions;
  for (const uint32_t frame : table.frames(1))
    functions.push_back(table.frame(frame).function);
  EXPECT_EQ(functions, (Texts{"", "outer", "f"}));
}

} // namespace
} // namespace ovnitrace
