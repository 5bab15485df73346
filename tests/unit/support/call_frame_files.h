// SPDX-License-Identifier: BSD-2-Clause
// Files with call-frame information, made byte by byte.
#pragma once

#include "emulator/base/regular_file.h"
#include "emulator/symbols/call_frames.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace::test {

inline constexpr uint64_t kCode = 0x400000; // where the bytes of the file are mapped

template <class Value> std::string bytes_of(Value value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof(value));
}

/// Makes .eh_frame, record by record.
class EhFrame {
public:
  /// What all functions begin with: `instructions` after those of a function that was just called.
  EhFrame &common(const std::string &instructions = "", const std::string &augmentation = "zR",
                  char return_address = 16,
                  const std::string &start = std::string("\x0c\7\x8\x90\1", 5)) {
    common_ = bytes_.size();
    std::string body = bytes_of(uint32_t(0)) + '\1' + augmentation + '\0' + "\1\x78" +
                       return_address + '\1' + '\0';
    return add(body + start + instructions);
  }
  /// The same for arm64: the frame ends at the stack pointer, and x30 is the return address.
  EhFrame &common_arm64(const std::string &instructions = "",
                        const std::string &augmentation = "zR", char return_address = 30) {
    return common(std::string("\x0c\x1f\0", 3) + instructions, augmentation, return_address, "");
  }
  EhFrame &function(uint64_t start, uint64_t size, const std::string &instructions) {
    const auto back = uint32_t(bytes_.size() + 4 - common_);
    return add(bytes_of(back) + bytes_of(kCode + start) + bytes_of(size) + '\0' + instructions);
  }
  EhFrame &raw(const std::string &bytes) {
    bytes_ += bytes;
    return *this;
  }
  const std::string &bytes() const { return bytes_; }

private:
  EhFrame &add(std::string body) {
    body.resize((body.size() + 7) / 8 * 8 + 4, '\0'); // DW_CFA_nop
    bytes_ += bytes_of(uint32_t(body.size())) + body;
    return *this;
  }
  std::string bytes_;
  size_t common_ = 0;
};

class CallFrameFiles : public ::testing::Test {
protected:
  std::unique_ptr<CallFrames> open(const EhFrame &frames, uint16_t machine = EM_X86_64) {
    const std::string names("\0.eh_frame\0.shstrtab\0.symtab\0", 29);
    struct {
      Elf64_Ehdr header = {};
      Elf64_Phdr code = {};
    } start;
    Elf64_Shdr section[4] = {};
    constexpr size_t kSections = 0xe00;
    std::memcpy(start.header.e_ident, ELFMAG, SELFMAG);
    start.header.e_ident[EI_CLASS] = ELFCLASS64;
    start.header.e_ident[EI_DATA] = ELFDATA2LSB;
    start.header.e_ident[EI_VERSION] = start.header.e_version = EV_CURRENT;
    start.header.e_type = ET_EXEC;
    start.header.e_machine = machine;
    start.header.e_ehsize = sizeof(start.header);
    start.header.e_phoff = offsetof(decltype(start), code);
    start.header.e_phentsize = sizeof(start.code);
    start.header.e_phnum = 1;
    start.header.e_shoff = kSections;
    start.header.e_shentsize = sizeof(Elf64_Shdr);
    start.header.e_shnum = 4;
    start.header.e_shstrndx = 2;
    start.code.p_type = PT_LOAD;
    start.code.p_flags = flags_;
    start.code.p_offset = first_;
    start.code.p_vaddr = kCode + first_;
    start.code.p_filesz = start.code.p_memsz = 0x1000 - first_;
    section[1].sh_name = 1;
    section[1].sh_type = SHT_PROGBITS;
    section[1].sh_flags = SHF_ALLOC;
    section[1].sh_offset = 0x1000 + names.size();
    section[1].sh_addr = 0x600000;
    section[1].sh_size = frames.bytes().size();
    section[1].sh_addralign = 1;
    section[2].sh_name = 11;
    section[2].sh_type = SHT_STRTAB;
    section[2].sh_offset = 0x1000;
    section[2].sh_size = names.size();
    section[2].sh_addralign = 1;
    std::string contents = names + frames.bytes(), symbols;
    contents.resize((contents.size() + 7) / 8 * 8, '\0');
    for (const auto &[first, size] : functions_)
      symbols += bytes_of(Elf64_Sym{.st_name = 0,
                                    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                    .st_other = STV_DEFAULT,
                                    .st_shndx = 1,
                                    .st_value = kCode + first,
                                    .st_size = size});
    section[3].sh_name = 21;
    section[3].sh_type = SHT_SYMTAB;
    section[3].sh_offset = 0x1000 + contents.size();
    section[3].sh_size = symbols.size();
    section[3].sh_addralign = 8;
    section[3].sh_entsize = sizeof(Elf64_Sym);
    section[3].sh_link = 2;
    std::string file(0x1000, call_); // each address is behind one
    std::memcpy(file.data(), &start, sizeof(start));
    std::memcpy(file.data() + kSections, section, sizeof(section));
    file.replace(0x800, code_.size(), code_);
    file += contents + symbols;
    TraceBuilder::write_file(path(), file.data(), file.size());
    return CallFrames::open(open_regular(path()));
  }
  std::string path() const { return dir.path() + "/program"; }

  TempDir dir;
  std::string code_; ///< from offset 0x800 on
  /// Functions with a symbol: the offset of the start, and the size.
  std::vector<std::pair<uint64_t, uint64_t>> functions_;
  uint32_t flags_ = PF_R | PF_X; ///< of the segment of code
  uint64_t first_ = 0;           ///< offset of the segment
  char call_ = '\xe8';           ///< what the rest of the file consists of
};

} // namespace ovnitrace::test
