// SPDX-License-Identifier: BSD-2-Clause
// Symbols of files that want to keep us from reading them.
#include "emulator/symbols/symbol_process.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <string>

namespace ovnitrace {
namespace {

/// A program without symbols, of which the debug data is in the file `link` beside it.
std::string program_with_debug_link(const std::string &link) {
  const std::string names("\0.gnu_debuglink\0.shstrtab\0", 26);
  std::string linked = link + std::string(4 - link.size() % 4, '\0') + "crc.";
  Elf64_Ehdr header = {};
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
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  const size_t names_at = sizeof(header) + sizeof(Elf64_Phdr), link_at = names_at + 32;
  header.e_shoff = link_at + 64;
  Elf64_Phdr code = {};
  code.p_type = PT_LOAD;
  code.p_flags = PF_R | PF_X;
  code.p_vaddr = code.p_paddr = 0x400000;
  code.p_filesz = code.p_memsz = code.p_align = 0x1000;
  Elf64_Shdr sections[3] = {};
  sections[1].sh_name = 1;
  sections[1].sh_type = sections[2].sh_type = SHT_PROGBITS;
  sections[1].sh_offset = link_at;
  sections[1].sh_size = linked.size();
  sections[1].sh_addralign = 4;
  sections[2].sh_name = 16;
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = names_at;
  sections[2].sh_size = names.size();
  std::string file(0x1000, '\0');
  std::memcpy(file.data(), &header, sizeof(header));
  std::memcpy(&file[sizeof(header)], &code, sizeof(code));
  std::memcpy(&file[names_at], names.data(), names.size());
  std::memcpy(&file[link_at], linked.data(), linked.size());
  std::memcpy(&file[header.e_shoff], sections, sizeof(sections));
  return file;
}

class SymbolProcesses : public ::testing::Test {
protected:
  std::string write_program(const std::string &link) {
    const std::string path = dir.path() + "/program", bytes = program_with_debug_link(link);
    test::TraceBuilder::write_file(path, bytes.data(), bytes.size());
    return path;
  }
  test::TempDir dir;
};

TEST_F(SymbolProcesses, AnswerWhatAFileSays) {
  const std::string path = write_program("not-there");
  const SymbolAnswer answer =
      SymbolProcess().ask({.path = path, .build_id = "", .places = {{0x10}, {0x5000}}});
  ASSERT_EQ(answer.places.size(), 2u);
  EXPECT_EQ(answer.places[0].address, 0x400010u);
  ASSERT_EQ(answer.places[0].places.size(), 1u);
  EXPECT_EQ(answer.places[0].places[0].function, "");
  EXPECT_FALSE(answer.places[1].address);
}

TEST_F(SymbolProcesses, DoNotReadAnotherFileThanTheOneThatWasMapped) {
  const std::string path = write_program("not-there");
  struct stat status = {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  SymbolQuestion question{.path = path, .build_id = "", .inode = status.st_ino, .places = {{0x10}}};
  EXPECT_TRUE(SymbolProcess().ask(question).places.at(0).address);
  question.inode = status.st_ino + 1;
  EXPECT_FALSE(SymbolProcess().ask(question).places.at(0).address);
  question.inode.reset();
  question.build_id = "abcd";
  EXPECT_FALSE(SymbolProcess().ask(question).places.at(0).address);
}

/// As who opens it waits until somebody writes there.
TEST_F(SymbolProcesses, GiveUpOnAFileThatMakesThemWaitForEver) {
  const std::string path = write_program("debug-data");
  ASSERT_EQ(mkfifo((dir.path() + "/debug-data").c_str(), 0600), 0);
  SymbolProcess symbols(1'000'000);
  for (int n = 0; n < 5; n++) {
    const SymbolAnswer answer = symbols.ask({.path = path, .build_id = "", .places = {{0x10}}});
    ASSERT_EQ(answer.places.size(), 1u);
    EXPECT_FALSE(answer.places[0].address);
    EXPECT_TRUE(answer.places[0].places.empty());
  }
}

TEST_F(SymbolProcesses, ReadRegularFilesOnly) {
  const std::string fifo = dir.path() + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string &path : {fifo, dir.path(), std::string("/dev/zero")})
    EXPECT_FALSE(
        SymbolProcess().ask({.path = path, .build_id = "", .places = {{0}}}).places.at(0).address);
}

} // namespace
} // namespace ovnitrace
