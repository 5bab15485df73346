// SPDX-License-Identifier: BSD-2-Clause
// Where probes of user events are found: notes, arguments, libraries, command lines; and files that
// lie.
#include "emulator/base/error.h"
#include "tests/unit/support/temp_dir.h"
#include "user/probe/arguments.h"
#include "user/probe/command_words.h"
#include "user/probe/elf_file.h"
#include "user/probe/find_probes.h"
#include "user/probe/mapped_files.h"
#include "user/probe/regular_file.h"
#include "user/probe/search_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

namespace ovnitrace {
namespace {

namespace fs = std::filesystem;

std::string library() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "libovnitrace.so.0";
}

std::string bytes_of(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::optional<ElfFile> read_bytes(const std::string &bytes) {
  test::TempDir dir;
  std::ofstream(dir / "file", std::ios::binary) << bytes;
  UniqueFd fd = open_regular(dir / "file");
  return read_elf_file(fd.get());
}

#if defined(__x86_64__)
TEST(ProbeArguments, AreRegistersAndConstants) {
  user_argument found[3];
  ASSERT_TRUE(parse_arguments("4@%edi 4@$-16 4@%r8d", found));
  EXPECT_EQ(found[0].in_register, 1u);
  EXPECT_EQ(found[0].value, 14u * 8) << "struct pt_regs: rdi is the fifteenth";
  EXPECT_EQ(found[1].in_register, 0u);
  EXPECT_EQ(found[1].value, 0xfffffff0u);
  EXPECT_EQ(found[2].value, 9u * 8);
  ASSERT_TRUE(parse_arguments("4@$4294967295 4@$0 4@%r15d", found));
  EXPECT_EQ(found[0].value, 0xffffffffu);
  EXPECT_EQ(found[2].value, 0u);
}

TEST(ProbeArguments, RefuseEverythingElseAndLeaveWhatWasThere) {
  user_argument found[3] = {{7, 7}, {7, 7}, {7, 7}};
  for (const char *text :
       {"", "4@%edi", "4@%edi 4@$1", "4@%edi 4@$1 4@$2 4@$3", "4@%edi 4@$1 4@$2 ",
        " 4@%edi 4@$1 4@$2", "8@%rdi 4@$1 4@$2", "4@%rdi 4@$1 4@$2", "4@%edi  4@$1 4@$2",
        "4@-4(%rbp) 4@$1 4@$2", "4@$ 4@$1 4@$2", "4@$1x 4@$1 4@$2", "4@$4294967296 4@$1 4@$2",
        "4@$-2147483649 4@$1 4@$2", "4@% 4@$1 4@$2", "4@$1 4@$1 4@edi",
        "4@$99999999999999999999999 4@$1 4@$1", "-4@%edi 4@$1 4@$1"})
    EXPECT_FALSE(parse_arguments(text, found)) << text;
  EXPECT_EQ(found[0].value, 7u);
}
#endif

TEST(ElfFile, TellsTheProbesOfTheLibrary) {
  UniqueFd fd = open_regular(library());
  ASSERT_TRUE(fd) << library();
  const auto file = read_elf_file(fd.get());
  ASSERT_TRUE(file);
  EXPECT_EQ(file->not_understood, 0u);
  int kinds[3] = {0, 0, 0};
  for (const Probe &probe : file->probes)
    kinds[probe.what.kind]++;
  EXPECT_GE(kinds[USER_PROBE_EVENT], 1);
  EXPECT_EQ(kinds[USER_PROBE_ENABLE], 1);
  EXPECT_EQ(kinds[USER_PROBE_DISABLE], 1);
  EXPECT_NE(std::find(file->needed.begin(), file->needed.end(), "libc.so.6"), file->needed.end());
  EXPECT_TRUE(std::is_sorted(file->probes.begin(), file->probes.end(),
                             [](const Probe &a, const Probe &b) { return a.offset < b.offset; }));
}

TEST(ElfFile, OtherFilesAreNone) {
  EXPECT_FALSE(read_bytes(""));
  EXPECT_FALSE(read_bytes("#!/bin/sh\n"));
  EXPECT_FALSE(read_bytes(std::string(4096, '\0')));
  const std::string good = bytes_of(library());
  for (size_t at : {size_t(EI_CLASS), size_t(EI_DATA), offsetof(Elf64_Ehdr, e_machine),
                    offsetof(Elf64_Ehdr, e_type)}) {
    std::string other = good;
    other[at] = char(0x77);
    EXPECT_FALSE(read_bytes(other)) << at;
  }
}

TEST(ElfFile, AProbeThatIsNotOnANopIsNoUse) {
  std::string bytes = bytes_of(library());
  UniqueFd fd = open_regular(library());
  const auto before = read_elf_file(fd.get());
  ASSERT_TRUE(before);
  bytes[before->probes[0].offset] = char(0xcc);
  const auto after = read_bytes(bytes);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->probes.size() + 1, before->probes.size());
  EXPECT_EQ(after->not_understood, 1u);
}

TEST(ElfFile, SurvivesFilesThatWereCut) {
  const std::string good = bytes_of(library());
  for (size_t length = 0; length < good.size(); length += length < 256 ? 1 : good.size() / 97)
    read_bytes(good.substr(0, length));
}

TEST(ElfFile, SurvivesLies) {
  const std::string good = bytes_of(library());
  Elf64_Ehdr header;
  std::memcpy(&header, good.data(), sizeof(header));
  std::vector<std::pair<size_t, size_t>> places = {
      {0, sizeof(header)}}; // and all section and program headers
  places.push_back({header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)});
  places.push_back({header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)});
  test::TempDir dir;
  for (const auto &[begin, size] : places)
    for (size_t at = begin; at < begin + size; at += 4)
      for (const char *lie :
           {"\xff\xff\xff\xff", "\x00\x00\x00\x80", "\x00\x00\x00\x00", "\x01\x00\x00\x00"}) {
        std::string bad = good;
        bad.replace(at, 4, lie, 4);
        const auto file = read_bytes(bad);
        if (file) {
          EXPECT_LE(file->probes.size(), 16u);
        }
      }
}

/// An ld.so.cache with these libraries.
std::string cache_of(const std::vector<std::pair<std::string, std::string>> &libraries) {
  std::string head = "glibc-ld.so.cache1.1", entries, strings;
  const uint32_t count = uint32_t(libraries.size());
  head.append(reinterpret_cast<const char *>(&count), 4).resize(48);
  const uint32_t text = uint32_t(48 + 24 * libraries.size());
  for (const auto &[name, path] : libraries) {
    uint32_t entry[6] = {0x303, text + uint32_t(strings.size()), 0, 0, 0, 0};
    strings += name + '\0';
    entry[2] = text + uint32_t(strings.size());
    strings += path + '\0';
    entries.append(reinterpret_cast<const char *>(entry), sizeof(entry));
  }
  return head + entries + strings;
}

TEST(LibraryCache, FindsEveryPathOfAName) {
  const LibraryCache cache(cache_of(
      {{"liba.so.1", "/x/liba.so.1"}, {"libb.so", "/y/libb.so"}, {"liba.so.1", "/z/liba.so.1"}}));
  EXPECT_EQ(cache.find("liba.so.1"), (std::vector<std::string>{"/x/liba.so.1", "/z/liba.so.1"}));
  EXPECT_EQ(cache.find("libb.so"), (std::vector<std::string>{"/y/libb.so"}));
  EXPECT_TRUE(cache.find("libc.so").empty());
  EXPECT_TRUE(cache.find("").empty());
}

TEST(LibraryCache, ThatIsDamagedIsEmptyThere) {
  const std::string good = cache_of({{"liba.so", "/x/liba.so"}});
  EXPECT_TRUE(LibraryCache("").find("liba.so").empty());
  EXPECT_TRUE(LibraryCache("ld.so-1.7.0" + good).find("liba.so").empty());
  for (size_t length = 0; length < good.size(); length++)
    EXPECT_TRUE(LibraryCache(good.substr(0, length)).find("liba.so").empty()) << length;
  for (size_t at = 20; at < good.size(); at++) {
    std::string bad = good;
    bad[at] = char(0xff);
    LibraryCache(bad).find("liba.so");
  }
  EXPECT_TRUE(LibraryCache(cache_of({{"liba.so", "x/liba.so"}})).find("liba.so").empty())
      << "a relative path";
}

TEST(SearchPath, HasTheListsAndTheDirectoriesOfEveryLoader) {
  SearchPath path(LibraryCache(cache_of({{"liba.so", "/cached/liba.so"}})));
  path.add("/one:$ORIGIN/../two;${ORIGIN}/three:/$LIB/x", "/prog/bin");
  const auto places = path.candidates("liba.so");
  for (const char *place : {"/cached/liba.so", "/one/liba.so", "/prog/bin/../two/liba.so",
                            "/prog/bin/three/liba.so", "/lib64/x/liba.so", "/usr/lib/liba.so"})
    EXPECT_NE(std::find(places.begin(), places.end(), place), places.end()) << place;
  EXPECT_EQ(path.candidates("./dir/liba.so"), (std::vector<std::string>{"./dir/liba.so"}));
}

TEST(SearchPath, IsBounded) {
  SearchPath path{LibraryCache("")};
  for (int n = 0; n < 5000; n++)
    path.add("/d" + std::to_string(n), "/");
  EXPECT_LE(path.candidates("liba.so").size(), 4096u);
}

TEST(SearchPath, HoldsNothingThatIsTooLongForAPath) {
  SearchPath path{LibraryCache("")};
  std::string list;
  for (int n = 0; n < 500; n++)
    list += "$ORIGIN";
  path.add(list, "/" + std::string(4000, 'd'));
  for (const std::string &place : path.candidates("liba.so"))
    EXPECT_LT(place.size(), size_t(2 * PATH_MAX));
}

TEST(CommandWords, AreTheArgumentsAndTheWordsInThem) {
  const CommandWords words = command_words({"env", "LD_LIBRARY_PATH=/a:/b", "LD_PRELOAD=/x.so y.so",
                                            "sh", "-c", "cd /tmp; exec './app' >out"});
  for (const char *word : {"env", "sh", "-c", "cd", "/tmp", "exec", "./app", "out"})
    EXPECT_NE(std::find(words.programs.begin(), words.programs.end(), word), words.programs.end())
        << word;
  EXPECT_EQ(words.library_paths, (std::vector<std::string>{"/a:/b"}));
  EXPECT_EQ(words.preloads, (std::vector<std::string>{"/x.so", "y.so"}));
}

TEST(RegularFile, NothingElseIsOpened) {
  test::TempDir dir;
  ASSERT_EQ(mkfifo((dir / "fifo").c_str(), 0600), 0);
  fs::create_symlink("fifo", dir / "link");
  for (const std::string &path :
       {dir / "fifo", dir / "link", dir.path(), std::string("/dev/null"), dir / "none"})
    EXPECT_FALSE(open_regular(path)) << path;
}

TEST(RegularFile, AProgramIsOneThatSomebodyMayExecute) {
  test::TempDir dir;
  std::ofstream(dir / "file") << "text";
  EXPECT_TRUE(open_regular(dir / "file"));
  EXPECT_FALSE(open_program(dir / "file"));
  ASSERT_EQ(chmod((dir / "file").c_str(), 0744), 0);
  EXPECT_TRUE(open_program(dir / "file"));
}

TEST(MappedFiles, AreThoseThatThisProcessExecutes) {
  const auto files = mapped_files(uint32_t(getpid()));
  const std::string self = fs::read_symlink("/proc/self/exe");
  EXPECT_EQ(std::count_if(files.begin(), files.end(),
                          [&](const MappedFile &file) { return file.path == self; }),
            1);
  EXPECT_TRUE(mapped_files(UINT32_MAX).empty());
}

TEST(FindProbes, FollowsRpathToALibraryThatAProgramNeeds) {
  test::TempDir dir;
  fs::copy_file(library(), dir / "libovnitrace.so.0");
  std::ofstream(dir / "app.c")
      << "int FTrace_disable(void); int main(void) { return FTrace_disable(); }\n";
  const std::string build = "gcc -o " + dir / "app" + " " + dir / "app.c" + " " +
                            dir / "libovnitrace.so.0" + " -Wl,-rpath,'$ORIGIN'";
  ASSERT_EQ(std::system(build.c_str()), 0) << build;
  const auto [found, cut_short] = find_probes({.command = {"env", dir / "app"}});
  EXPECT_FALSE(cut_short);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(fs::path(found[0].path).filename(), "libovnitrace.so.0");
  EXPECT_GE(found[0].probes.size(), 3u);
}

/// A library that needs others and says where they are.
std::string library_that_needs(const std::vector<std::string> &needed,
                               const std::vector<std::string> &rpaths) {
  std::string strings(1, '\0'), entries;
  const auto add = [&](int64_t tag, const std::string &text) {
    const Elf64_Dyn entry = {tag, {strings.size()}};
    entries.append(reinterpret_cast<const char *>(&entry), sizeof(entry));
    strings += text + '\0';
  };
  for (const std::string &name : needed)
    add(DT_NEEDED, name);
  for (const std::string &list : rpaths)
    add(DT_RPATH, list);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes_of(library()).data(), sizeof(header));
  Elf64_Phdr segment = {};
  Elf64_Shdr sections[3] = {};
  sections[1].sh_type = SHT_DYNAMIC;
  sections[1].sh_offset = sizeof(header) + sizeof(segment) + sizeof(sections);
  sections[1].sh_size = entries.size();
  sections[1].sh_entsize = sizeof(Elf64_Dyn);
  sections[1].sh_link = 2;
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = sections[1].sh_offset + entries.size();
  sections[2].sh_size = strings.size();
  header.e_phoff = sizeof(header);
  header.e_phnum = 1;
  header.e_shoff = sizeof(header) + sizeof(segment);
  header.e_shnum = 3;
  header.e_shstrndx = 0;
  std::string file(reinterpret_cast<const char *>(&header), sizeof(header));
  file.append(reinterpret_cast<const char *>(&segment), sizeof(segment));
  file.append(reinterpret_cast<const char *>(sections), sizeof(sections));
  return file + entries + strings;
}

// Each of a thousand libraries needs a thousand more: to look for them at all places would take
// hours.
TEST(FindProbes, EndsAlsoWhereEveryLibraryNeedsAThousandMore) {
  test::TempDir dir;
  std::vector<std::string> libraries;
  for (int n = 0; n < 1000; n++) {
    std::vector<std::string> names;
    for (int m = 0; m < 1000; m++)
      names.push_back(std::to_string(n) + "-" + std::to_string(m));
    libraries.push_back("lib" + std::to_string(n));
    std::ofstream(dir / libraries.back(), std::ios::binary) << library_that_needs(names, {});
  }
  libraries.push_back("libovnitrace.so.0");
  fs::copy_file(library(), dir / "libovnitrace.so.0");
  std::ofstream(dir / "app", std::ios::binary)
      << library_that_needs(libraries, {"$ORIGIN", "/a", "/b"});
  ASSERT_EQ(chmod((dir / "app").c_str(), 0755), 0);
  const auto [found, cut_short] = find_probes({.command = {dir / "app"}});
  EXPECT_EQ(found.size(), 1u) << "what is nearest is found";
  EXPECT_TRUE(cut_short);
}

TEST(FindProbes, FindsNoneWhereThereAreNone) {
  EXPECT_TRUE(find_probes({.command = {"sh", "-c", "ls /; no-such-program 7"}}).files.empty());
  EXPECT_TRUE(find_probes({}).files.empty());
}

TEST(FindProbes, AFileThatWasNamedMustHaveSome) {
  EXPECT_EQ(find_probes({.files = {library()}}).files.size(), 1u);
  EXPECT_EQ(find_probes({.files = {library(), library()}}).files.size(), 1u) << "once";
  for (const char *file : {"/bin/sh", "/etc/passwd", "/", "/no/such/file", ""})
    EXPECT_THROW(find_probes({.files = {file}}), Error) << file;
}

} // namespace
} // namespace ovnitrace
