// SPDX-License-Identifier: BSD-2-Clause
// Symbols of files that want to keep us from reading them.
#include "emulator/symbols/demangle.h"
#include "emulator/symbols/elf_symbols.h"
#include "emulator/symbols/file_symbols.h"
#include "tests/unit/support/debug_data.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {
namespace {

using test::DebugData;
using test::ElfStart;
using test::program_with;
using test::program_with_debug_link;

constexpr char kBuildId[] = "abcdef01";

class ElfFiles : public ::testing::Test {
protected:
  std::string write_program(const std::string &link) {
    return write_bytes(program_with_debug_link(link));
  }
  std::string write_bytes(const std::string &bytes) {
    const std::string path = dir.path() + "/program";
    test::TraceBuilder::write_file(path, bytes.data(), bytes.size());
    return path;
  }
  test::TempDir dir;
};

TEST_F(ElfFiles, SayWhereTheirBytesAreMapped) {
  const auto symbols = ElfSymbols::open(write_program("not-there"), "");
  ASSERT_TRUE(symbols);
  EXPECT_EQ(symbols->build_id(), kBuildId);
  EXPECT_EQ(symbols->address_of(0x10), 0x400010u);
  EXPECT_EQ(symbols->address_of(0xfff), 0x400fffu);
  EXPECT_FALSE(symbols->address_of(0x1000));
  EXPECT_FALSE(symbols->address_of(0x5000));
  ASSERT_EQ(symbols->at(0x400010).size(), 1u);
  EXPECT_EQ(symbols->at(0x400010)[0].function, "");
}

TEST_F(ElfFiles, OnlyAByteOfASegmentHasAnAddress) {
  const std::string bytes = program_with_debug_link("not-there");
  const auto address_of = [&](uint64_t offset) {
    ElfStart start;
    std::memcpy(&start, bytes.data(), sizeof(start));
    start.code.p_offset = 0x100;
    start.code.p_filesz = 0x20;
    std::string changed = bytes;
    std::memcpy(changed.data(), &start, sizeof(start));
    const auto symbols = ElfSymbols::open(write_bytes(changed), "");
    return symbols ? symbols->address_of(offset) : 1;
  };
  EXPECT_EQ(address_of(0x100), 0x400000u);
  EXPECT_EQ(address_of(0x11f), 0x40001fu);
  EXPECT_EQ(address_of(0x120), std::nullopt);
  EXPECT_EQ(address_of(0xff), std::nullopt);
}

TEST_F(ElfFiles, NameTheirDebugFile) {
  const auto symbols = ElfSymbols::open(write_program("not-there"), "");
  ASSERT_TRUE(symbols);
  EXPECT_EQ(symbols->debug_link(), "not-there");
  EXPECT_FALSE(symbols->has_debug_data());
}

TEST_F(ElfFiles, OfAnotherBuildIdAreNotUsed) {
  const std::string path = write_program("not-there");
  EXPECT_TRUE(ElfSymbols::open(path, kBuildId));
  EXPECT_FALSE(ElfSymbols::open(path, "abcdef02"));
}

/// Who opens it for reading waits until somebody writes there.
TEST_F(ElfFiles, AreReadAlsoWhereTheirDebugLinkIsAFifo) {
  const std::string path = write_program("debug-data");
  ASSERT_EQ(mkfifo((dir.path() + "/debug-data").c_str(), 0600), 0);
  const auto symbols = ElfSymbols::open(path, "");
  ASSERT_TRUE(symbols);
  EXPECT_EQ(symbols->at(0x400010).size(), 1u);
}

TEST_F(ElfFiles, AreRegularFilesOnly) {
  const std::string fifo = dir.path() + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string &path : {fifo, dir.path(), std::string("/dev/zero")})
    EXPECT_FALSE(ElfSymbols::open(path, ""));
}

std::string functions(const std::vector<CodePlace> &places) {
  std::string text;
  for (const CodePlace &place : places)
    text += (text.empty() ? "" : " ") + place.function;
  return text;
}

TEST_F(ElfFiles, HaveInlinedFunctions) {
  using D = DebugData;
  const std::string path = write_bytes(program_with(D().open(D::function, "outer")
                                                        .open(D::block)
                                                        .open(D::inlined, "middle")
                                                        .open(D::inlined, "inner")));
  const auto symbols = ElfSymbols::open(path, "");
  ASSERT_TRUE(symbols);
  EXPECT_EQ(functions(symbols->at(0x400010)), "inner middle outer");
  EXPECT_EQ(functions(symbols->at(0x500000)), "");
}

TEST_F(ElfFiles, AFunctionEndsBeforeTheByteBehindIt) {
  using D = DebugData;
  const auto symbols = ElfSymbols::open(write_bytes(program_with(D().open(D::function, "f"))), "");
  ASSERT_TRUE(symbols);
  EXPECT_EQ(functions(symbols->at(0x400000)), "f");
  EXPECT_EQ(functions(symbols->at(0x400fff)), "f");
  EXPECT_EQ(functions(symbols->at(0x401000)), "");
  EXPECT_EQ(functions(symbols->at(0x3fffff)), "");
  EXPECT_TRUE(symbols->has_debug_data());
  EXPECT_EQ(symbols->debug_link(), "");
  EXPECT_EQ(symbols->build_id(), "");
}

/// The innermost 64 functions, and the one that was called, are named.
TEST_F(ElfFiles, HaveAtMost64InlinedFunctionsAtAPlace) {
  for (const int count : {64, 65, 66}) {
    DebugData data;
    data.open(DebugData::function, "outer");
    for (int n = 0; n < count; n++)
      data.open(DebugData::inlined, "i" + std::to_string(n));
    const auto symbols = ElfSymbols::open(write_bytes(program_with(data)), "");
    ASSERT_TRUE(symbols);
    const std::vector<CodePlace> places = symbols->at(0x400010);
    ASSERT_EQ(places.size(), 65u) << count;
    EXPECT_EQ(places[0].function, "i" + std::to_string(count - 1));
    EXPECT_EQ(places[63].function, "i" + std::to_string(count - 64));
    EXPECT_EQ(places[64].function, "outer");
  }
}

TEST_F(ElfFiles, HaveInlinedFunctionsInUpTo255Scopes) {
  for (const int blocks : {254, 255}) {
    DebugData data;
    data.open(DebugData::function, "outer");
    for (int n = 0; n < blocks; n++)
      data.open(DebugData::block);
    data.open(DebugData::inlined, "inner");
    const auto symbols = ElfSymbols::open(write_bytes(program_with(data)), "");
    ASSERT_TRUE(symbols);
    EXPECT_EQ(functions(symbols->at(0x400010)), blocks == 254 ? "inner outer" : "");
  }
}

TEST_F(ElfFiles, HaveFunctionsInUpTo32Namespaces) {
  for (const int count : {32, 33}) {
    DebugData data;
    for (int n = 0; n < count; n++)
      data.open(DebugData::name_space);
    data.open(DebugData::function, "f");
    const auto symbols = ElfSymbols::open(write_bytes(program_with(data)), "");
    ASSERT_TRUE(symbols);
    EXPECT_EQ(functions(symbols->at(0x400010)), count == 32 ? "f" : "");
  }
}

/// As member functions, those of Fortran's modules, and lambdas. Only the debug data's other
/// entries have none.
TEST_F(ElfFiles, HaveFunctionsInScopesOfAllKinds) {
  using D = DebugData;
  for (const D::Scope scope : {D::name_space, D::module, D::structure, D::class_type, D::union_type,
                               D::enumeration, D::function, D::block}) {
    const std::string path =
        write_bytes(program_with(D().open(scope, "outer").open(D::function, "f")));
    const auto symbols = ElfSymbols::open(path, "");
    ASSERT_TRUE(symbols);
    EXPECT_EQ(functions(symbols->at(0x400010)), "f") << int(scope);
  }
  const auto symbols = ElfSymbols::open(
      write_bytes(program_with(D().open(D::subroutine_type).open(D::function, "f"))), "");
  ASSERT_TRUE(symbols);
  EXPECT_EQ(functions(symbols->at(0x400010)), "");
}

/// As those of Rust and of Fortran's modules.
TEST_F(ElfFiles, HaveInlinedFunctionsInNamespaces) {
  using D = DebugData;
  const auto symbols = ElfSymbols::open(write_bytes(program_with(D().open(D::name_space)
                                                                     .open(D::name_space)
                                                                     .open(D::function, "outer")
                                                                     .open(D::inlined, "inner"))),
                                        "");
  ASSERT_TRUE(symbols);
  EXPECT_EQ(functions(symbols->at(0x400010)), "inner outer");
}

TEST_F(ElfFiles, NameThe64InnermostInlinedFunctions) {
  using D = DebugData;
  for (const int count : {64, 65}) {
    DebugData data;
    data.open(D::function, "outer");
    for (int n = count; n-- > 0;)
      data.open(D::inlined, "i" + std::to_string(n));
    const auto symbols = ElfSymbols::open(write_bytes(program_with(data)), "");
    const std::vector<CodePlace> places = symbols->at(0x400010);
    ASSERT_EQ(places.size(), 65u) << count;
    EXPECT_EQ(places[0].function, "i0");
    EXPECT_EQ(places[63].function, "i63");
    EXPECT_EQ(places[64].function, "outer");
  }
}

TEST_F(ElfFiles, MayNestTheirNamespacesAsDeepAsTheyLike) {
  DebugData data;
  for (int n = 0; n < 300'000; n++)
    data.open(DebugData::name_space);
  const auto symbols = ElfSymbols::open(write_bytes(program_with(data)), "");
  ASSERT_TRUE(symbols);
  EXPECT_EQ(symbols->at(0x400010).size(), 1u);
}

// Each level took a part of the stack.
TEST_F(ElfFiles, MayNestTheirScopesAsDeepAsTheyLike) {
  DebugData data;
  data.open(DebugData::function, "outer");
  for (int n = 0; n < 300'000; n++)
    data.open(DebugData::block);
  const auto symbols = ElfSymbols::open(write_bytes(program_with(data)), "");
  ASSERT_TRUE(symbols);
  EXPECT_EQ(symbols->at(0x400010).size(), 1u);
}

// A trace could name one that came with it.
TEST_F(ElfFiles, HaveAbsolutePaths) {
  write_program("not-there");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(dir.path());
  EXPECT_FALSE(ElfSymbols::open("program", kBuildId));
  EXPECT_TRUE(ElfSymbols::open(dir.path() + "/program", kBuildId));
  std::filesystem::current_path(before);
}

// elfutils maps the file.
TEST_F(ElfFiles, ThatCannotBeReadLoseOnlyTheirNames) {
  const std::string good = write_bytes(program_with(DebugData().open(DebugData::function, "f")));
  const PlacesOfFile file = {
      .path = good, .build_id = "", .places = {{.offset = 0x10}, {.offset = 0x20}}};
  PlacesOfFile relative = file;
  relative.path = "program";
  std::vector<std::string> warnings;
  const std::vector<NamesOfFile> names = name_places(
      {file, relative, file}, [&](const std::string &warning) { warnings.push_back(warning); });
  EXPECT_EQ(warnings, std::vector<std::string>());
  ASSERT_EQ(names.size(), 3u);
  EXPECT_EQ(names[0].places[1].address, 0x400020u);
  EXPECT_EQ(functions(names[0].places[1].functions), "f");
  ASSERT_EQ(names[1].places.size(), 2u);
  EXPECT_EQ(names[1].places[1].address, std::nullopt);
  EXPECT_EQ(functions(names[1].places[1].functions), "");
  EXPECT_EQ(functions(names[2].places[0].functions), "f");
}

/// Types of which each is made of two of the one before. `first`: std::pair<int, int>.
std::string doubling_types(int count, std::string first = "St4pairIiiE") {
  std::string types = std::move(first);
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (int n = 1; n <= count; n++) {
    const std::string last = std::string("S") + digits[size_t(n)] + "_";
    types += "S0_I" + last + last + "E";
  }
  return types;
}

/// Gigabytes, in hardly 300 bytes.
const std::string kTooLong = "_Z1fI" + doubling_types(30) + "EvT_";
/// The same where it is searched for what is not there, before anything is written.
const std::string kEndless = "_Z1fIDpSt4pairI" + doubling_types(34, "S0_IiiE") + "EEvT_";

TEST(Demangle, LeavesWhatWouldBeTooLongAsItIs) {
  EXPECT_EQ(demangle("_ZN3app6Worker4stepEi"), "app::Worker::step");
  EXPECT_EQ(demangle("_ZN3app6Worker4stepEi", Demangled::signature), "app::Worker::step(int)");
  EXPECT_EQ(demangle("main", Demangled::signature), "");
  EXPECT_EQ(demangle("_Z1fI" + doubling_types(1) + "EvT_"),
            "f<std::pair<int, int>, std::pair<std::pair<int, int>, std::pair<int, int> > >");
  EXPECT_EQ(demangle(kTooLong), kTooLong);
  EXPECT_EQ(demangle(kTooLong, Demangled::signature), "");
}

TEST(Demangle, LosesOnlyOneNameOverOne) {
  const std::vector<std::string> symbols = {"_ZN3app6Worker4stepEi", kEndless, "main", "_Z1fi"};
  EXPECT_EQ(demangle_all(symbols, Demangled::name),
            (std::vector<std::string>{"app::Worker::step", symbols[1], "main", "f"}));
  EXPECT_EQ(demangle_all(symbols, Demangled::signature),
            (std::vector<std::string>{"app::Worker::step(int)", "", "", "f(int)"}));
}

} // namespace
} // namespace ovnitrace
