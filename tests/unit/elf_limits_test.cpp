// SPDX-License-Identifier: BSD-2-Clause
// Which files are programs, up to the exact limits, and where their code is: user/probe.
#include "emulator/base/regular_file.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "user/probe/arguments.h"
#include "user/probe/elf_file.h"
#include "user/probe/mapped_files.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <functional>
#include <sys/mman.h>
#include <unistd.h>

namespace ovnitrace {
namespace {

class ElfBytes : public testing::Test {
protected:
  static std::string library() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() /
           "libovnitrace.so.0";
  }
  /// Opens these bytes as a file.
  UniqueFd file(const std::string &bytes) {
    std::ofstream(dir_ / "file", std::ios::binary) << bytes;
    return open_regular(dir_ / "file");
  }
  Elf64_Ehdr header() const {
    Elf64_Ehdr header;
    std::memcpy(&header, bytes_.data(), sizeof header);
    return header;
  }
  /// The file with another header.
  std::string with(const std::function<void(Elf64_Ehdr &)> &change) const {
    Elf64_Ehdr changed = header();
    change(changed);
    std::string bytes = bytes_;
    std::memcpy(bytes.data(), &changed, sizeof changed);
    return bytes;
  }
  /// Changes all its segments.
  void segments(const std::function<void(Elf64_Phdr &)> &change) {
    for (size_t n = 0; n < header().e_phnum; n++) {
      Elf64_Phdr segment;
      char *place = bytes_.data() + header().e_phoff + n * sizeof segment;
      std::memcpy(&segment, place, sizeof segment);
      change(segment);
      std::memcpy(place, &segment, sizeof segment);
    }
  }
  bool native(const std::function<void(Elf64_Ehdr &)> &change) {
    return is_native_program(file(with(change)).get());
  }
  bool foreign(const std::string &bytes) { return is_foreign_program(file(bytes).get()); }

  test::TempDir dir_;
  std::string bytes_ = test::text_of(library());
};

TEST_F(ElfBytes, AProgramHasSectionsAndSegmentsInNumbersThatAreAllowed) {
  EXPECT_TRUE(native([](Elf64_Ehdr &) {}));
  EXPECT_TRUE(native([](Elf64_Ehdr &header) { header.e_shnum = 1; }));
  EXPECT_TRUE(native([](Elf64_Ehdr &header) { header.e_shnum = 0xff00 - 1; }));
  EXPECT_TRUE(native([](Elf64_Ehdr &header) { header.e_phnum = 1024; }));
  EXPECT_TRUE(native([](Elf64_Ehdr &header) { header.e_type = ET_EXEC; }));
  EXPECT_FALSE(native([](Elf64_Ehdr &header) { header.e_shnum = 0; }));
  EXPECT_FALSE(native([](Elf64_Ehdr &header) { header.e_shnum = 0xff00; }));
  EXPECT_FALSE(native([](Elf64_Ehdr &header) { header.e_phnum = 0; }));
  EXPECT_FALSE(native([](Elf64_Ehdr &header) { header.e_phnum = 1025; }));
  EXPECT_FALSE(native([](Elf64_Ehdr &header) { header.e_type = ET_REL; }));
  EXPECT_FALSE(native([](Elf64_Ehdr &header) { header.e_type = ET_CORE; }));
  EXPECT_FALSE(native([](Elf64_Ehdr &header) { header.e_ident[0] = 'x'; }));
  EXPECT_TRUE(is_native_program(file(bytes_.substr(0, 64)).get())) << "the header says it";
  EXPECT_FALSE(is_native_program(file(bytes_.substr(0, 63)).get()));
}

TEST_F(ElfBytes, ProgramsOfOtherMachinesAndOf32BitsAreForeign) {
  EXPECT_FALSE(foreign(bytes_));
  EXPECT_TRUE(foreign(with([](Elf64_Ehdr &header) { header.e_machine = EM_RISCV; })));
  EXPECT_TRUE(foreign(with([](Elf64_Ehdr &header) { header.e_ident[EI_CLASS] = ELFCLASS32; })));
  EXPECT_FALSE(foreign(with([](Elf64_Ehdr &header) {
    header.e_machine = EM_RISCV;
    header.e_ident[3] = 'x';
  }))) << "no ELF file at all";
  bytes_ = with([](Elf64_Ehdr &header) { header.e_machine = EM_RISCV; });
  EXPECT_TRUE(foreign(bytes_.substr(0, 20)));
  EXPECT_FALSE(foreign(bytes_.substr(0, 19)));
}

TEST_F(ElfBytes, AProbeIsInASegmentThatIsExecuted) {
  const size_t all = read_elf_file(file(bytes_).get())->probes.size();
  ASSERT_GT(all, 0u);
  segments([](Elf64_Phdr &segment) { segment.p_flags &= ~uint32_t(PF_X); });
  const auto found = read_elf_file(file(bytes_).get());
  EXPECT_TRUE(found->probes.empty());
  EXPECT_GE(found->not_understood, all);
}

/// A file can have a million probes that nothing can be done with: looking at each took seconds.
TEST_F(ElfBytes, AFileMayNotHaveMoreProbesThanTheLimit) {
  const auto probes_of = [&](size_t useless) {
    std::ofstream(dir_ / "notes.s") << R"(
.text
probe: nop
.macro note address
  .long 8, 2f - 1f, 3
  .asciz "stapsdt"
1: .quad \address, 0, 0
  .asciz "ovnitrace", "enable", ""
  .balign 4
2:
.endm
.section .note.stapsdt,"",@note
.rept )" << useless << R"(
  note 0
.endr
  note probe
)";
    const std::string made = dir_ / "notes.so";
    const std::string build = "gcc -shared -nostdlib -o " + made + " " + dir_ / "notes.s";
    EXPECT_EQ(std::system(build.c_str()), 0) << build;
    return read_elf_file(open_regular(made).get())->probes.size();
  };
  EXPECT_EQ(probes_of(kMostProbes - 1), 1u);
  EXPECT_EQ(probes_of(kMostProbes), 0u);
}

// If two are at one place, one is kept. A note of another tracer is no reason for a warning.
TEST_F(ElfBytes, OnlyNotesOfOvnitraceAreProbes) {
  std::ofstream(dir_ / "notes.s") << R"(
.text
first: nop
second: nop
.macro note owner, type, address, provider, name, arguments
  .long 2f - 1f, 4f - 3f, \type
1: .asciz "\owner"
2: .balign 4
3: .quad \address, 0, 0
  .asciz "\provider", "\name", "\arguments"
4: .balign 4
.endm
.section .note.stapsdt,"",@note
  note stapsdt, 3, second, ovnitrace, disable, ""
  note stapsdt, 3, first, ovnitrace, enable, ""
  note stapsdt, 3, first, ovnitrace, enable, ""
  note stapsdu, 3, first, ovnitrace, event, ""
  note stapsdt, 4, first, ovnitrace, event, ""
  note stapsdt, 3, first, python, event, ""
  note stapsdt, 3, first, ovnitrace, other, ""
  note stapsdt, 3, first, ovnitrace, event, "wrong"
  note stapsdt, 3, first, ovnitrace, fire, "wrong"
)";
  const std::string made = dir_ / "notes.so";
  const std::string build = "gcc -shared -nostdlib -o " + made + " " + dir_ / "notes.s";
  ASSERT_EQ(std::system(build.c_str()), 0) << build;
  const auto found = read_elf_file(open_regular(made).get());
  ASSERT_EQ(found->probes.size(), 2u);
  EXPECT_EQ(found->probes[0].what.kind, uint32_t(USER_PROBE_ENABLE)) << "by their places";
  EXPECT_EQ(found->probes[1].what.kind, uint32_t(USER_PROBE_DISABLE));
  EXPECT_EQ(found->not_understood, 2u) << "arguments that are not understood";
}

// The segment of the code starts where the first probe is, or one byte behind it; and it ends
// behind its first byte, or before it.
TEST_F(ElfBytes, AProbeIsBetweenTheEndsOfItsSegment) {
  const auto before = read_elf_file(file(bytes_).get());
  const uint64_t offset = before->probes[0].offset;
  const auto has_first = [&](uint64_t begin, uint64_t end) {
    const std::string whole = bytes_;
    segments([&](Elf64_Phdr &segment) {
      if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
        return;
      const uint64_t to_address = segment.p_vaddr - segment.p_offset;
      segment.p_offset = begin;
      segment.p_vaddr = begin + to_address;
      segment.p_filesz = segment.p_memsz = end - begin;
    });
    const auto found = read_elf_file(file(bytes_).get());
    bytes_ = whole;
    return !found->probes.empty() && found->probes[0].offset == offset;
  };
  EXPECT_TRUE(has_first(offset, offset + 1));
  EXPECT_FALSE(has_first(offset, offset));
  EXPECT_FALSE(has_first(offset + 1, offset + 2));
  EXPECT_FALSE(has_first(offset - 1, offset));
  EXPECT_TRUE(has_first(offset - 1, offset + 1));
}

TEST_F(ElfBytes, TheLoadersNameMustBeATerminatedAbsolutePath) {
  bytes_ = test::text_of("/bin/sh");
  const std::string name = read_elf_file(file(bytes_).get())->interpreter;
  EXPECT_EQ(name.substr(0, 4), "/lib");
  const auto shorter = [&](uint64_t less) {
    const std::string whole = bytes_;
    segments([&](Elf64_Phdr &segment) {
      if (segment.p_type == PT_INTERP)
        segment.p_filesz -= less;
    });
    const std::string found = read_elf_file(file(bytes_).get())->interpreter;
    bytes_ = whole;
    return found;
  };
  EXPECT_EQ(shorter(0), name);
  EXPECT_EQ(shorter(1), "") << "its NUL is not in the segment";
  EXPECT_EQ(shorter(name.size() + 1), "");
}

// As the kernel has it.
TEST_F(ElfBytes, TheFirstOfSeveralLoadersCounts) {
  bytes_ = test::text_of("/bin/sh");
  const std::string name = read_elf_file(file(bytes_).get())->interpreter;
  const size_t second = name.find('/', 1); // its end is a path, too
  uint64_t first = 0;
  segments([&](Elf64_Phdr &segment) {
    if (segment.p_type == PT_INTERP) {
      first = segment.p_offset;
    } else if (first && segment.p_type != PT_LOAD) {
      segment.p_type = PT_INTERP;
      segment.p_offset = first + second;
      segment.p_filesz = name.size() + 1 - second;
    }
  });
  EXPECT_EQ(read_elf_file(file(bytes_).get())->interpreter, name);
}

TEST_F(ElfBytes, AMappedFileHasThePlaceOfItsCode) {
  const long page = sysconf(_SC_PAGESIZE);
  const UniqueFd fd = file(std::string(size_t(page) * 4, 'x'));
  char *data = static_cast<char *>(mmap(nullptr, size_t(page), PROT_READ, MAP_SHARED, fd.get(), 0));
  char *code = static_cast<char *>(
      mmap(nullptr, size_t(page) * 2, PROT_READ | PROT_EXEC, MAP_SHARED, fd.get(), page));
  ASSERT_NE(code, MAP_FAILED);
  size_t found = 0;
  for (const MappedFile &mapped : mapped_files(uint32_t(getpid())))
    if (mapped.path == dir_ / "file") {
      found++;
      EXPECT_EQ(mapped.address, uint64_t(code));
      EXPECT_EQ(mapped.offset, uint64_t(page));
      EXPECT_EQ(mapped.length, uint64_t(page) * 2);
      char byte = 0;
      EXPECT_EQ(pread(mapped.fd.get(), &byte, 1, 0), 1);
      EXPECT_EQ(byte, 'x');
    }
  EXPECT_EQ(found, 1u) << "data is not executed";
  munmap(data, size_t(page));
  munmap(code, size_t(page) * 2);
}

TEST_F(ElfBytes, TheFirst64SegmentsOfCodeAreLookedInto) {
  const size_t all = read_elf_file(file(bytes_).get())->probes.size();
  const auto behind = [&](size_t others) {
    std::string segments;
    const Elf64_Phdr other = {.p_type = PT_LOAD,
                              .p_flags = PF_R | PF_X,
                              .p_offset = 0,
                              .p_vaddr = 0x70000000,
                              .p_paddr = 0,
                              .p_filesz = 1,
                              .p_memsz = 1,
                              .p_align = 1};
    for (size_t n = 0; n < others; n++)
      segments.append(reinterpret_cast<const char *>(&other), sizeof other);
    segments += bytes_.substr(header().e_phoff, header().e_phnum * sizeof other);
    std::string changed = with([&](Elf64_Ehdr &header) {
      header.e_phnum += uint16_t(others);
      header.e_phoff = (bytes_.size() + 7) / 8 * 8;
    });
    changed.resize((bytes_.size() + 7) / 8 * 8);
    return read_elf_file(file(changed + segments).get())->probes.size();
  };
  EXPECT_EQ(behind(0), all);
  EXPECT_EQ(behind(63), all);
  EXPECT_EQ(behind(64), 0u);
}

// libelf keeps them in memory.
TEST_F(ElfBytes, SectionsOfNotesAreReadUpTo64MibTogether) {
  const auto before = read_elf_file(file(bytes_).get());
  size_t stapsdt = 0, notes = 0; // sections, and the bytes of notes behind the first section
  std::vector<Elf64_Shdr> sections(header().e_shnum);
  std::memcpy(sections.data(), bytes_.data() + header().e_shoff,
              sections.size() * sizeof(Elf64_Shdr));
  const char *names = bytes_.data() + sections[header().e_shstrndx].sh_offset;
  for (size_t n = 2; n < sections.size(); n++)
    if (sections[n].sh_type == SHT_NOTE) {
      notes += sections[n].sh_size;
      if (std::strcmp(names + sections[n].sh_name, ".note.stapsdt") == 0)
        stapsdt = n;
    }
  ASSERT_GT(stapsdt, 1u);
  const auto found = [&](uint64_t size) {
    Elf64_Shdr &first = sections[1];
    first.sh_type = SHT_NOTE;
    first.sh_flags = 0;
    first.sh_offset = (bytes_.size() + 7) / 8 * 8;
    first.sh_size = size;
    first.sh_addralign = 4;
    std::string changed = bytes_;
    std::memcpy(changed.data() + header().e_shoff, sections.data(),
                sections.size() * sizeof(Elf64_Shdr));
    changed.resize(first.sh_offset);
    const UniqueFd fd = file(changed + std::string(8, '\xff')); // no note that can be read
    EXPECT_EQ(truncate((dir_ / "file").c_str(), off_t(first.sh_offset + size)), 0);
    return read_elf_file(fd.get());
  };
  const uint64_t most = 64 << 20;
  const auto whole = found(most - notes), less = found(most - notes + 1);
  EXPECT_EQ(whole->probes.size(), before->probes.size());
  EXPECT_EQ(whole->bytes_read, most + sections.size() * sizeof(Elf64_Shdr) - sizeof(Elf64_Shdr));
  EXPECT_EQ(less->probes.size(), 0u) << "its section finds no room";
}

#if defined(__x86_64__)
// struct pt_regs of the kernel, as a register's place in words of 8 bytes.
TEST(ProbeRegisters, AreWhereTheKernelSavesThem) {
  const std::pair<const char *, uint32_t> places[] = {
      {"r15d", 0}, {"r14d", 1}, {"r13d", 2}, {"r12d", 3}, {"ebp", 4},  {"ebx", 5},
      {"r11d", 6}, {"r10d", 7}, {"r9d", 8},  {"r8d", 9},  {"eax", 10}, {"ecx", 11},
      {"edx", 12}, {"esi", 13}, {"edi", 14}, {"esp", 19}};
  for (const auto &[name, place] : places) {
    user_argument found[3];
    const std::string text = "4@$1 4@$2 4@%" + std::string(name);
    ASSERT_TRUE(parse_arguments(text, found)) << name;
    EXPECT_EQ(found[2].in_register, 1u);
    EXPECT_EQ(found[2].value, 8 * place) << name;
  }
}

TEST(ProbeConstants, HaveThe32BitsThatTheCompilerPrints) {
  user_argument found[3];
  ASSERT_TRUE(parse_arguments("4@$-2147483648 4@$-1 4@$2147483648", found));
  EXPECT_EQ(found[0].value, 0x80000000u);
  EXPECT_EQ(found[1].value, 0xffffffffu);
  EXPECT_EQ(found[2].value, 0x80000000u);
}
#endif

} // namespace
} // namespace ovnitrace
