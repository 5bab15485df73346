// SPDX-License-Identifier: BSD-2-Clause
// Where probes of user events are found: notes, arguments, libraries; and files that lie.
#include "emulator/base/error.h"
#include "emulator/base/regular_file.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/project_file.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/work_in.h"
#include "user/probe/arguments.h"
#include "user/probe/elf_file.h"
#include "user/probe/find_probes.h"
#include "user/probe/mapped_files.h"
#include "user/probe/needed_libraries.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ovnitrace {
namespace {

namespace fs = std::filesystem;

std::string library() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "libovnitrace.so.0";
}

std::optional<ElfFile> read_bytes(const std::string &bytes) {
  const UniqueFd fd(memfd_create("file", MFD_CLOEXEC));
  EXPECT_EQ(write(fd.get(), bytes.data(), bytes.size()), ssize_t(bytes.size()));
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

TEST(ProbeArguments, RefuseOtherTextsAndLeaveTheirOutput) {
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
#elif defined(__aarch64__)
TEST(ProbeArguments, AreRegistersAndConstants) {
  user_argument found[3];
  ASSERT_TRUE(parse_arguments("4@x7 4@-16 4@x30", found));
  EXPECT_EQ(found[0].in_register, 1u);
  EXPECT_EQ(found[0].value, 7u * 8);
  EXPECT_EQ(found[1].in_register, 0u);
  EXPECT_EQ(found[1].value, 0xfffffff0u);
  EXPECT_EQ(found[2].value, 30u * 8);
}

TEST(ProbeArguments, RefuseOtherTextsAndLeaveTheirOutput) {
  user_argument found[3] = {{7, 7}, {7, 7}, {7, 7}};
  for (const char *text : {"", "4@x0", "4@x0 4@1", "4@x0 4@1 4@2 4@3", "8@x0 4@1 4@2",
                           "4@w0 4@1 4@2", "4@x31 4@1 4@2", "4@x-1 4@1 4@2", "4@x 4@1 4@2",
                           "4@sp 4@1 4@2", "4@[sp, 12] 4@1 4@2", "4@4294967296 4@1 4@2"})
    EXPECT_FALSE(parse_arguments(text, found)) << text;
  EXPECT_EQ(found[0].value, 7u);
}
#endif

TEST(ElfFile, ReportsTheProbesOfTheLibrary) {
  UniqueFd fd = open_regular(library());
  ASSERT_TRUE(fd) << library();
  const auto file = read_elf_file(fd.get());
  ASSERT_TRUE(file);
  EXPECT_EQ(file->not_understood, 0u);
  std::map<int, int> kinds;
  for (const Probe &probe : file->probes)
    kinds[probe.what.kind]++;
  EXPECT_GE(kinds[USER_PROBE_EVENT], 1);
  EXPECT_GE(kinds[USER_PROBE_FIRE], 1);
  EXPECT_EQ(kinds[USER_PROBE_ENABLE], 1);
  EXPECT_EQ(kinds[USER_PROBE_DISABLE], 1);
  EXPECT_TRUE(std::is_sorted(file->probes.begin(), file->probes.end(),
                             [](const Probe &a, const Probe &b) { return a.offset < b.offset; }));
}

TEST(ElfFile, ReportsTheDynamicLoaderOfAProgram) {
  UniqueFd fd = open_regular("/proc/self/exe");
  const auto file = read_elf_file(fd.get());
  ASSERT_TRUE(file);
  EXPECT_TRUE(fs::exists(file->interpreter)) << file->interpreter;
  std::string bytes = test::text_of("/proc/self/exe");
  bytes[bytes.find(file->interpreter)] = 'x';
  EXPECT_EQ(read_bytes(bytes)->interpreter, "") << "a relative path";
}

TEST(ElfFile, OtherFilesAreNotRead) {
  EXPECT_FALSE(read_bytes(""));
  EXPECT_FALSE(read_bytes("#!/bin/sh\n"));
  EXPECT_FALSE(read_bytes(std::string(4096, '\0')));
  const std::string good = test::text_of(library());
  for (size_t at : {size_t(EI_CLASS), size_t(EI_DATA), offsetof(Elf64_Ehdr, e_machine),
                    offsetof(Elf64_Ehdr, e_type)}) {
    std::string other = good;
    other[at] = char(0x77);
    EXPECT_FALSE(read_bytes(other)) << at;
  }
}

TEST(ElfFile, AProbeThatIsNotOnANopIsIgnored) {
  std::string bytes = test::text_of(library());
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
  const std::string good = test::text_of(library());
  for (size_t length = 0; length < good.size(); length += length < 256 ? 1 : good.size() / 97)
    read_bytes(good.substr(0, length));
}

TEST(ElfFile, SurvivesWrongFields) {
  const std::string good = test::text_of(library());
  Elf64_Ehdr header;
  std::memcpy(&header, good.data(), sizeof(header));
  std::vector<std::pair<size_t, size_t>> places = {
      {0, sizeof(header)}}; // and all section and program headers
  places.push_back({header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)});
  places.push_back({header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)});
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

TEST(NeededLibraries, AreThePathsThatALoaderLists) {
  EXPECT_EQ(listed_libraries("\tlinux-vdso.so.1 (0x00007ffd0)\n"
                             "\tliba.so => /a => b/li (0x1)ba.so (0x00007f1)\n"
                             "\tlibnone.so => not found\n"
                             "\trelative.so => x/relative.so (0x00007f1)\n"
                             "\t/lib64/ld-linux-x86-64.so.2 (0x00007f2)\n"
                             "\t/lib/cut"),
            (std::vector<std::string>{"/a => b/li (0x1)ba.so", "/lib64/ld-linux-x86-64.so.2"}));
  EXPECT_TRUE(listed_libraries("").empty());
  EXPECT_TRUE(listed_libraries("\tstatically linked\n").empty());
}

TEST(NeededLibraries, LoaderThatFailsGivesNone) {
  EXPECT_TRUE(needed_libraries("/bin/false", "/bin/sh", Identity()).empty());
  EXPECT_TRUE(needed_libraries("/no/such/loader", "/bin/sh", Identity()).empty());
}

// A program can name any file.
TEST(NeededLibraries, ALoaderThatOthersThanRootCanChangeIsNotRun) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can make a loader of root's";
  test::TempDir dir;
  const std::string loader = dir / "loader", ran = dir / "ran";
  std::ofstream(loader) << "#!/bin/sh\n: >" + ran + "\necho ' => /x (0x1)'\n";
  for (const mode_t mode : {0775, 0757}) {
    ASSERT_EQ(chmod(loader.c_str(), mode), 0);
    EXPECT_TRUE(needed_libraries(loader, "x", Identity()).empty());
  }
  ASSERT_EQ(chmod(loader.c_str(), 0755), 0);
  ASSERT_EQ(chown(loader.c_str(), 65534, 65534), 0);
  EXPECT_TRUE(needed_libraries(loader, "x", Identity()).empty());
  EXPECT_FALSE(fs::exists(ran));
  ASSERT_EQ(chown(loader.c_str(), 0, 0), 0);
  EXPECT_EQ(needed_libraries(loader, "x", Identity()), std::vector<std::string>{"/x"});
}

// A loader that writes for ever is stopped.
TEST(NeededLibraries, OutputOfALoaderThatNeverEndsIsBounded) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only a loader of root's is run";
  test::TempDir dir;
  std::ofstream(dir / "loader") << "#!/bin/sh\nexec yes ' => /x (0x1)'\n";
  ASSERT_EQ(chmod((dir / "loader").c_str(), 0755), 0);
  const auto libraries = needed_libraries(dir / "loader", "x", Identity());
  constexpr size_t kLine = 13, kMost = 1 << 20, kPart = 4096; // bytes
  EXPECT_GE(libraries.size(), kMost / kLine);
  EXPECT_LE(libraries.size(), (kMost + kPart) / kLine + 1);
  EXPECT_EQ(libraries[0], "/x");
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

TEST(MappedFiles, AreTheExecutableMappingsOfTheProcess) {
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
  const auto [found, left_out] = find_probes({.program = dir / "app"});
  EXPECT_EQ(left_out, 0u);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(fs::path(found[0].path).filename(), "libovnitrace.so.0");
  EXPECT_GE(found[0].probes.size(), 3u);
  EXPECT_EQ(find_probes({.program = dir / "app", .files = {library()}}).files.size(), 2u);
}

TEST(FindProbes, LibrariesOfAProgramThatIsNamedAreLookedAtToo) {
  test::TempDir dir;
  fs::copy_file(library(), dir / "libovnitrace.so.0");
  std::ofstream(dir / "app.c") << "#include <ovnitrace/user_event.h>\n"
                                  "int main(void) { FTrace_enable(); return 0; }\n";
  const std::string build = "gcc -I " + test::project_path("include").string() + " -o " +
                            dir / "app" + " " + dir / "app.c -Wl,--no-as-needed " +
                            dir / "libovnitrace.so.0" + " -Wl,-rpath,'$ORIGIN'";
  ASSERT_EQ(std::system(build.c_str()), 0) << build;
  const auto found = find_probes({.program = dir / "app", .files = {dir / "app"}}).files;
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].path, dir / "app");
  EXPECT_EQ(found[1].path, dir / "libovnitrace.so.0");
}

// As execvp() has it: an empty part of PATH is the working directory.
TEST(FindProbes, LooksForAProgramAsAShellDoes) {
  test::TempDir dir;
  fs::copy_file(library(), dir / "app");
  fs::permissions(dir / "app", fs::perms::owner_all);
  const std::string path = getenv("PATH");
  const test::WorkIn here(dir.path());
  for (const char *list : {"", ":/nowhere", "/nowhere:", "/nowhere::/elsewhere"}) {
    setenv("PATH", list, 1);
    EXPECT_EQ(find_probes({.program = "app"}).files.size(), 1u) << list;
  }
  setenv("PATH", "/nowhere", 1);
  EXPECT_TRUE(find_probes({.program = "app"}).files.empty());
  setenv("PATH", path.c_str(), 1);
}

// Another program of that name, later in PATH, is not the one that will run.
TEST(FindProbes, AProgramThatMayBeThereIsNotLookedForElsewhere) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const std::string path = getenv("PATH");
  setenv("PATH", "/one:/two", 1);
  const rlimit none = {0, before.rlim_max};
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const std::string error = test::error_from([] { path_of_program("app"); });
  setrlimit(RLIMIT_NOFILE, &before);
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(error, "cannot read /one/app: Too many open files");
}

// Each costs time at the start and at the end: of those that are found, only some are watched.
TEST(FindProbes, WatchesABoundedNumberOfFiles) {
  test::TempDir dir;
  std::vector<std::string> copies;
  for (size_t n = 0; n < kMostFoundFiles + 3; n++) {
    copies.push_back(dir / ("lib" + std::to_string(n)));
    fs::copy_file(library(), copies.back());
    const UniqueFd fd = open_regular(copies.back());
    ASSERT_NE(mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 0), MAP_FAILED);
  }
  const auto self = uint32_t(getpid());
  const FoundProbes found = find_probes({.pids = {self, self}});
  EXPECT_EQ(found.files.size(), kMostFoundFiles);
  EXPECT_GE(found.left_out, 3u);
  const FoundProbes named = find_probes({.pids = {self}, .files = copies});
  EXPECT_EQ(named.files.size(), copies.size()) << "those that are named all are";
}

TEST(FindProbes, WatchesABoundedNumberOfProbesInAllFiles) {
  constexpr size_t kEach = 40000;
  const test::TempDir dir;
  std::ofstream(dir / "many.c") << fmt::format(
      "#include <ovnitrace/usdt.h>\n__asm__(\".text\\n.rept {}\\n\" "
      "OVNITRACE_USDT_ASM(\"ovnitrace\", \"enable\", \"\") \".endr\\n\");\n",
      kEach);
  const std::string build = "gcc -shared -I " + test::project_path("include").string() + " -o " +
                            dir / "one.so" + " " + dir / "many.c";
  ASSERT_EQ(std::system(build.c_str()), 0) << build;
  fs::copy_file(dir / "one.so", dir / "two.so");
  fs::copy_file(dir / "one.so", dir / "three.so");
  const auto files =
      find_probes({.files = {dir / "one.so", dir / "two.so", dir / "three.so"}}).files;
  ASSERT_EQ(files.size(), 3u);
  const size_t rest = (1 << 16) - kEach;
  EXPECT_EQ(files[0].probes.size(), kEach);
  EXPECT_EQ(files[0].not_understood, 0u);
  EXPECT_EQ(files[1].probes.size(), rest);
  EXPECT_EQ(files[1].not_understood, kEach - rest);
  EXPECT_EQ(files[2].probes.size(), 0u);
  EXPECT_EQ(files[2].not_understood, kEach);
}

TEST(FindProbes, FindsNoProbeInAFileWithoutProbes) {
  EXPECT_TRUE(find_probes({.program = "sh"}).files.empty());
  EXPECT_TRUE(find_probes({.program = "no-such-program"}).files.empty());
  EXPECT_TRUE(find_probes({}).files.empty());
}

TEST(FindProbes, AFileNamedByTheUserMustHaveProbes) {
  EXPECT_EQ(find_probes({.files = {library()}}).files.size(), 1u);
  EXPECT_EQ(find_probes({.files = {library(), library()}}).files.size(), 1u) << "once";
  for (const char *file : {"/bin/sh", "/etc/passwd", "/", "/no/such/file", ""})
    EXPECT_THROW(find_probes({.files = {file}}), Error) << file;
}

TEST(FindProbes, SaysWhyAFileThatIsNamedIsOfNoUse) {
  const auto error_of = [](const std::string &file) {
    try {
      find_probes({.files = {library(), file}});
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_of("/no/such/file"),
            "--probe /no/such/file: cannot read it: No such file or directory");
  EXPECT_EQ(error_of("/bin/sh"),
            "--probe /bin/sh: it has no probes of ovnitrace; is it the program or library that was "
            "built with ovnitrace/user_event.h or libovnitrace.a, for this kind of machine?");
}

TEST(FindProbes, APathIsNotLookedFor) {
  EXPECT_EQ(path_of_program("./no/such"), "./no/such");
  EXPECT_EQ(path_of_program("no-such-program"), "");
  test::TempDir dir;
  for (const char *name : {"one", "two"}) {
    fs::create_directory(dir / name);
    std::ofstream(dir / name + "/app") << "";
  }
  fs::permissions(dir / "two/app", fs::perms::owner_all);
  const std::string path = getenv("PATH");
  setenv("PATH", (dir / "one" + ":" + dir / "two" + ":/bin").c_str(), 1);
  EXPECT_EQ(path_of_program("app"), dir / "two/app") << "the other cannot be executed";
  fs::permissions(dir / "one/app", fs::perms::owner_all);
  EXPECT_EQ(path_of_program("app"), dir / "one/app");
  setenv("PATH", path.c_str(), 1);
}

TEST(MappedFiles, EachCodeMappingHasItsLine) {
  test::TempDir dir;
  const auto page = size_t(sysconf(_SC_PAGESIZE));
  std::ofstream(dir / "a b") << std::string(page * 4, 'x');
  const UniqueFd fd = open_regular(dir / "a b");
  void *code = mmap(nullptr, page * 2, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), off_t(page));
  void *again = mmap(nullptr, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), off_t(3 * page));
  struct stat status;
  ASSERT_EQ(fstat(fd.get(), &status), 0);
  std::map<uint64_t, CodeMapping> found; // by offset
  uint64_t last = 0;
  each_code_mapping(uint32_t(getpid()), [&](const CodeMapping &mapping) {
    EXPECT_GT(mapping.start, last);
    last = mapping.start;
    if (mapping.path == dir / "a b")
      found[mapping.offset] = mapping;
  });
  munmap(code, page * 2);
  munmap(again, page);
  ASSERT_EQ(found.size(), 2u);
  const CodeMapping &first = found[page];
  EXPECT_EQ(first.start, uint64_t(code));
  EXPECT_EQ(first.end, uint64_t(code) + 2 * page);
  EXPECT_EQ(first.inode, status.st_ino);
  EXPECT_EQ(first.device, status.st_dev);
  EXPECT_EQ(found[3 * page].start, uint64_t(again));
}

} // namespace
} // namespace ovnitrace
