// SPDX-License-Identifier: BSD-2-Clause
// Symbols of files that want to keep us from reading them.
#include "emulator/symbols/elf_symbols.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <string>

namespace ovnitrace {
namespace {

constexpr char kBuildId[] = "abcdef01";

/// A program without symbols, of which the debug data is in the file `link` beside it.
std::string program_with_debug_link(const std::string &link) {
  const std::string names("\0.gnu_debuglink\0.shstrtab\0", 26);
  const std::string note("\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\xab\xcd\xef\x01", 20);
  const std::string linked = link + std::string(4 - link.size() % 4, '\0') + "crc.";
  struct {
    Elf64_Ehdr header = {};
    Elf64_Phdr code = {};
  } start;
  Elf64_Shdr sections[4] = {};
  const size_t names_at = sizeof(start), note_at = names_at + 32, link_at = note_at + 32;
  const size_t sections_at = link_at + 64;
  Elf64_Ehdr &header = start.header;
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = header.e_version = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = EM_X86_64;
  header.e_ehsize = header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  header.e_shstrndx = 2;
  header.e_shoff = sections_at;
  start.code.p_type = PT_LOAD;
  start.code.p_flags = PF_R | PF_X;
  start.code.p_vaddr = start.code.p_paddr = 0x400000;
  start.code.p_filesz = start.code.p_memsz = start.code.p_align = 0x1000;
  sections[1].sh_name = 1;
  sections[1].sh_type = sections[2].sh_type = SHT_PROGBITS;
  sections[1].sh_offset = link_at;
  sections[1].sh_size = linked.size();
  sections[1].sh_addralign = 4;
  sections[2].sh_name = 16;
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = names_at;
  sections[2].sh_size = names.size();
  sections[3].sh_type = SHT_NOTE;
  sections[3].sh_offset = note_at;
  sections[3].sh_size = note.size();
  sections[3].sh_addralign = 4;
  std::string file(0x1000, '\0');
  std::memcpy(file.data(), &start, sizeof(start));
  std::memcpy(&file[names_at], names.data(), names.size());
  std::memcpy(&file[note_at], note.data(), note.size());
  std::memcpy(&file[link_at], linked.data(), linked.size());
  std::memcpy(&file[sections_at], sections, sizeof(sections));
  return file;
}

class ElfFiles : public ::testing::Test {
protected:
  std::string write_program(const std::string &link) {
    const std::string path = dir.path() + "/program", bytes = program_with_debug_link(link);
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
  EXPECT_FALSE(symbols->address_of(0x5000));
  ASSERT_EQ(symbols->at(0x400010).size(), 1u);
  EXPECT_EQ(symbols->at(0x400010)[0].function, "");
}

TEST_F(ElfFiles, AreNotThoseOfAnotherBuildId) {
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

} // namespace
} // namespace ovnitrace
