// SPDX-License-Identifier: BSD-2-Clause
// Programs with debug data, or with a link to it, as bytes.
#pragma once

#include <elf.h>

#include <cstring>
#include <string>
#include <utility>

namespace ovnitrace::test {

/// The first bytes of a program of one segment.
struct ElfStart {
  Elf64_Ehdr header = {};
  Elf64_Phdr code = {};
};

/// Makes the start of a program of four sections. `names`: which of them has the names;
/// `sections_at`: where their headers are in the file.
inline ElfStart elf_start(uint16_t names, size_t sections_at) {
  ElfStart start;
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
  header.e_shstrndx = names;
  header.e_shoff = sections_at;
  start.code.p_type = PT_LOAD;
  start.code.p_flags = PF_R | PF_X;
  start.code.p_vaddr = start.code.p_paddr = 0x400000;
  start.code.p_filesz = start.code.p_memsz = start.code.p_align = 0x1000;
  return start;
}

/// Makes a program without symbols. Its debug data is in the file `link` beside it.
inline std::string program_with_debug_link(const std::string &link) {
  const std::string names("\0.gnu_debuglink\0.shstrtab\0", 26);
  const std::string note("\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\xab\xcd\xef\x01", 20);
  const std::string linked = link + std::string(4 - link.size() % 4, '\0') + "crc.";
  Elf64_Shdr sections[4] = {};
  const size_t names_at = sizeof(ElfStart), note_at = names_at + 32, link_at = note_at + 32;
  const size_t sections_at = link_at + 64;
  const ElfStart start = elf_start(2, sections_at);
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

/// Debug data, as bytes. Each unit, function, block and inlined function has the same code: 0x1000
/// bytes from 0x400000 on.
class DebugData {
public:
  enum Scope : char {
    unit = 1,
    function,
    block,
    inlined,
    name_space, ///< from here on without code
    module,
    structure,
    class_type,
    union_type,
    enumeration,
    subroutine_type,
  };

  DebugData() { open(unit); }
  DebugData &open(Scope scope, const std::string &name = "") {
    info_ += char(scope);
    if (scope == function || scope == inlined)
      info_ += name + '\0';
    if (scope < name_space)
      info_ += std::string("\0\0\x40\0\0\0\0\0\0\x10\0\0\0\0\0\0", 16);
    depth_++;
    return *this;
  }
  /// The sections .debug_info and .debug_abbrev.
  std::pair<std::string, std::string> sections() const {
    const std::string rest = std::string("\4\0\0\0\0\0\x8", 7) + info_ + std::string(depth_, '\0');
    const auto length = uint32_t(rest.size());
    return {std::string(reinterpret_cast<const char *>(&length), 4) + rest,
            abbreviation(unit, 0x11, false) + abbreviation(function, 0x2e, true) +
                abbreviation(block, 0x0b, false) + abbreviation(inlined, 0x1d, true) +
                empty(name_space, 0x39) + empty(module, 0x1e) + empty(structure, 0x13) +
                empty(class_type, 0x02) + empty(union_type, 0x17) + empty(enumeration, 0x04) +
                empty(subroutine_type, 0x15) + '\0'};
  }

private:
  /// A scope with children, and with a name (DW_AT_name), low_pc and high_pc.
  static std::string abbreviation(Scope number, char tag, bool named) {
    return std::string{number, tag, 1} + (named ? "\x03\x08" : "") +
           std::string("\x11\x01\x12\x07\0\0", 6);
  }
  /// A scope with children and without attributes.
  static std::string empty(Scope number, char tag) { return std::string({number, tag, 1, 0, 0}); }

  std::string info_;
  size_t depth_ = 0;
};

inline std::string program_with(const DebugData &data) {
  const auto [info, abbreviations] = data.sections();
  const std::string names("\0.debug_info\0.debug_abbrev\0.shstrtab\0", 37);
  Elf64_Shdr sections[4] = {};
  const ElfStart start = elf_start(3, sizeof(ElfStart));
  const std::string *const contents[] = {&info, &abbreviations, &names};
  const uint32_t name_places[] = {1, 13, 27};
  std::string file(0x1000, '\0');
  for (int n = 0; n < 3; n++) {
    Elf64_Shdr &section = sections[n + 1];
    section.sh_name = name_places[n];
    section.sh_type = n == 2 ? SHT_STRTAB : SHT_PROGBITS;
    section.sh_offset = file.size();
    section.sh_size = contents[n]->size();
    section.sh_addralign = 1;
    file += *contents[n];
  }
  std::memcpy(file.data(), &start, sizeof(start));
  std::memcpy(&file[sizeof(start)], sections, sizeof(sections));
  return file;
}

} // namespace ovnitrace::test
