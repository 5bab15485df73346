// SPDX-License-Identifier: BSD-2-Clause
// Notes of probes that are written by hand, one fault each, and the headers of files.
#include "emulator/base/regular_file.h"
#include "tests/unit/support/temp_dir.h"
#include "user/probe/arguments.h"
#include "user/probe/elf_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

#if defined(__x86_64__)

namespace ovnitrace {
namespace {

/// A note of the section .note.stapsdt.
struct HandNote {
  std::string address = "1f"; ///< of the nop behind it
  std::string provider = "ovnitrace", name = "enable", arguments = "";
  uint32_t type = 3;
  std::string owner = "stapsdt";
  std::string end = "\\0"; ///< of its last text
};

class ProbeNotes : public testing::Test {
protected:
  std::optional<ElfFile> read(const std::vector<HandNote> &notes, const std::string &code = "") {
    std::ofstream file(dir_ / "notes.s");
    file << ".text\nplace: nop\nother: ret\n" << code;
    for (const HandNote &note : notes)
      file << ".text\n1: nop\n.section .note.stapsdt,\"\",\"note\"\n.balign 4\n"
           << ".4byte 3f-2f, 5f-4f, " << note.type << "\n2: .asciz \"" << note.owner
           << "\"\n3: .balign 4\n4: .8byte " << (note.address == "1f" ? "1b" : note.address)
           << ", 0, 0\n.asciz \"" << note.provider << "\", \"" << note.name << "\"\n.ascii \""
           << note.arguments << note.end << "\"\n5: .balign 4\n";
    file << ".section .note.GNU-stack,\"\",@progbits\n";
    file.close();
    const std::string build =
        "gcc -shared -nostdlib -o " + (dir_ / "notes.so") + " " + dir_ / "notes.s";
    EXPECT_EQ(std::system(build.c_str()), 0) << build;
    return read_elf_file(open_regular(dir_ / "notes.so").get());
  }
  /// How many probes a note gives, and how many that are not understood.
  std::pair<size_t, size_t> counts(const HandNote &note) {
    const auto file = read({note});
    return file ? std::pair(file->probes.size(), file->not_understood) : std::pair(9ul, 9ul);
  }
  const test::TempDir dir_;
};
using Counts = std::pair<size_t, size_t>;

TEST_F(ProbeNotes, AreThoseOfOurProviderWithKnownNames) {
  EXPECT_EQ(counts({}), Counts(1, 0));
  EXPECT_EQ(counts({.name = "disable"}), Counts(1, 0));
  EXPECT_EQ(counts({.provider = "ovnitracer"}), Counts(0, 0));
  EXPECT_EQ(counts({.name = "enabled"}), Counts(0, 0));
  EXPECT_EQ(counts({.type = 4}), Counts(0, 0));
  EXPECT_EQ(counts({.owner = "stapsdu"}), Counts(0, 0));
  EXPECT_EQ(counts({.owner = "stapsdt2"}), Counts(0, 0));
  EXPECT_EQ(counts({.end = ""}), Counts(0, 0)) << "its last text has no end";
}

TEST_F(ProbeNotes, ThatCannotBeWatchedAreCounted) {
  EXPECT_EQ(counts({.address = "other"}), Counts(0, 1)) << "no nop";
  EXPECT_EQ(counts({.address = "0x7fffffff0000"}), Counts(0, 1)) << "no code";
  EXPECT_EQ(counts({.name = "event"}), Counts(0, 1)) << "no arguments";
  EXPECT_EQ(counts({.name = "fire", .arguments = "8@%rdi 4@$1 4@$1"}), Counts(0, 1));
  EXPECT_EQ(counts({.name = "event", .arguments = "4@%edi 4@$1 4@$1"}), Counts(1, 0));
}

TEST_F(ProbeNotes, HaveTextsOfAtMost4096Bytes) {
  EXPECT_EQ(counts({.arguments = std::string(4096, 'x')}), Counts(1, 0));
  EXPECT_EQ(counts({.arguments = std::string(4097, 'x')}), Counts(0, 0));
}

TEST_F(ProbeNotes, OfOnePlaceAreOneProbeTheFirst) {
  const auto file =
      read({{.address = "place", .name = "disable"}, {.name = "disable"}, {.address = "place"}});
  ASSERT_TRUE(file);
  ASSERT_EQ(file->probes.size(), 2u);
  EXPECT_LT(file->probes[0].offset, file->probes[1].offset);
  EXPECT_EQ(file->probes[0].what.kind, USER_PROBE_DISABLE);
  EXPECT_EQ(file->not_understood, 0u);
}

TEST_F(ProbeNotes, OfAFileAreLimited) {
  const std::string many = ".rept 65538\n.text\n1: nop\n.section .note.stapsdt,\"\",\"note\"\n"
                           ".4byte 8, 42, 3\n.asciz \"stapsdt\"\n.8byte 1b, 0, 0\n"
                           ".asciz \"ovnitrace\", \"enable\", \"\"\n.balign 4\n.endr\n";
  const auto file = read({}, many);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->probes.size(), 65536u);
  EXPECT_EQ(file->not_understood, 2u);
}

/// The registers in the order of struct pt_regs, but for those that hold no argument.
TEST(ProbeRegisters, AreWhereTheKernelKeepsThem) {
  const char *const names[] = {"r15d", "r14d", "r13d", "r12d", "ebp", "ebx", "r11d", "r10d",
                               "r9d",  "r8d",  "eax",  "ecx",  "edx", "esi", "edi"};
  user_argument found[3];
  uint32_t place = 0;
  for (const std::string name : names) {
    ASSERT_TRUE(parse_arguments("4@$1 4@%" + name + " 4@$1", found)) << name;
    EXPECT_EQ(found[1].in_register, 1u);
    EXPECT_EQ(found[1].value, 8 * place++) << name;
  }
  ASSERT_TRUE(parse_arguments("4@$-2147483648 4@%esp 4@$1", found));
  EXPECT_EQ(found[0].value, 0x80000000u);
  EXPECT_EQ(found[1].value, 19u * 8);
}

/// The header of a program.
Elf64_Ehdr header_of_program() {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = EM_X86_64;
  header.e_type = ET_DYN;
  header.e_shnum = header.e_phnum = 1;
  return header;
}

class ProgramHeaders : public testing::Test {
protected:
  UniqueFd file(const std::function<void(Elf64_Ehdr &)> &change, size_t size) const {
    Elf64_Ehdr header = header_of_program();
    change(header);
    std::ofstream(dir_ / "file", std::ios::binary)
        .write(reinterpret_cast<const char *>(&header), std::streamsize(size));
    return open_regular(dir_ / "file");
  }
  bool native(const std::function<void(Elf64_Ehdr &)> &change,
              size_t size = sizeof(Elf64_Ehdr)) const {
    return is_native_program(file(change, size).get());
  }
  bool foreign(const std::function<void(Elf64_Ehdr &)> &change,
               size_t size = sizeof(Elf64_Ehdr)) const {
    return is_foreign_program(file(change, size).get());
  }
  static void nothing(Elf64_Ehdr &) {}
  const test::TempDir dir_;
};

TEST_F(ProgramHeaders, HaveLimitedNumbersOfSectionsAndSegments) {
  EXPECT_TRUE(native(nothing));
  EXPECT_FALSE(native(nothing, sizeof(Elf64_Ehdr) - 1));
  EXPECT_TRUE(native([](Elf64_Ehdr &one) { one.e_type = ET_EXEC; }));
  EXPECT_FALSE(native([](Elf64_Ehdr &one) { one.e_type = ET_REL; }));
  EXPECT_FALSE(native([](Elf64_Ehdr &one) { one.e_type = ET_CORE; }));
  for (const auto &[number, good] :
       {std::pair<uint16_t, bool>(0, false), {1, true}, {0xfeff, true}, {0xff00, false}})
    EXPECT_EQ(native([number](Elf64_Ehdr &one) { one.e_shnum = number; }), good) << number;
  for (const auto &[number, good] :
       {std::pair<uint16_t, bool>(0, false), {1, true}, {1024, true}, {1025, false}})
    EXPECT_EQ(native([number](Elf64_Ehdr &one) { one.e_phnum = number; }), good) << number;
}

// libelf keeps what it reads in memory.
TEST_F(ProgramHeaders, NotesOfAtMost64MibAreRead) {
  constexpr uint64_t kMost = 64 << 20, kAt = 4096;
  const auto bytes_read = [&](const std::vector<uint64_t> &sizes) -> uint64_t {
    struct {
      Elf64_Ehdr header = header_of_program();
      Elf64_Phdr segment = {};
      Elf64_Shdr sections[3] = {};
    } start;
    start.header.e_version = start.header.e_ident[EI_VERSION] = EV_CURRENT;
    start.header.e_ehsize = start.header.e_phoff = sizeof(start.header);
    start.header.e_phentsize = sizeof(start.segment);
    start.header.e_shoff = sizeof(start.header) + sizeof(start.segment);
    start.header.e_shentsize = sizeof(Elf64_Shdr);
    start.header.e_shnum = uint16_t(sizes.size() + 1);
    for (size_t n = 0; n < sizes.size(); n++) {
      start.sections[n + 1].sh_type = SHT_NOTE;
      start.sections[n + 1].sh_offset = kAt;
      start.sections[n + 1].sh_size = sizes[n];
      start.sections[n + 1].sh_addralign = 4;
    }
    std::ofstream(dir_ / "notes", std::ios::binary)
        .write(reinterpret_cast<const char *>(&start), sizeof(start));
    if (truncate((dir_ / "notes").c_str(), off_t(kAt + 2 * kMost)) != 0)
      return 0;
    const auto read = read_elf_file(open_regular(dir_ / "notes").get());
    return read ? read->bytes_read - sizes.size() * sizeof(Elf64_Shdr) : 0;
  };
  EXPECT_EQ(bytes_read({kMost}), kMost);
  EXPECT_EQ(bytes_read({kMost + 1}), 0u);
  EXPECT_EQ(bytes_read({40 << 20, 24 << 20}), kMost) << "of both together";
  EXPECT_EQ(bytes_read({40 << 20, (24 << 20) + 1}), uint64_t(40 << 20));
}

TEST_F(ProgramHeaders, OfOtherMachinesAreForeign) {
  EXPECT_FALSE(foreign(nothing));
  EXPECT_TRUE(foreign([](Elf64_Ehdr &one) { one.e_ident[EI_CLASS] = ELFCLASS32; }));
  EXPECT_TRUE(foreign([](Elf64_Ehdr &one) { one.e_machine = EM_386; }));
  EXPECT_FALSE(foreign([](Elf64_Ehdr &one) {
    one.e_machine = EM_386;
    one.e_ident[EI_MAG3] = 'G';
  })) << "no ELF file";
  const auto short_one = [](Elf64_Ehdr &one) { one.e_machine = EM_386; };
  EXPECT_TRUE(foreign(short_one, offsetof(Elf64_Ehdr, e_version)));
  EXPECT_FALSE(foreign(short_one, offsetof(Elf64_Ehdr, e_version) - 1));
}

} // namespace
} // namespace ovnitrace

#endif
