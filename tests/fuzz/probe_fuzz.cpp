// SPDX-License-Identifier: BSD-2-Clause
// Feeds any bytes to read_elf_file as a program, to listed_libraries and to parse_arguments. It
// also changes some bytes of a small good program, whose notes and interpreter are any bytes.
// Covers: user/probe/arguments.cpp user/probe/elf_file.cpp user/probe/needed_libraries.cpp
#include "user/probe/arguments.h"
#include "user/probe/elf_file.h"
#include "user/probe/needed_libraries.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

using namespace ovnitrace;

/// How many probes it has.
size_t read(const std::string &bytes) {
  static const int fd = memfd_create("fuzz", MFD_CLOEXEC);
  if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes.data(), bytes.size(), 0) != ssize_t(bytes.size()))
    abort();
  const auto file = read_elf_file(fd);
  for (size_t n = 0; file && n < file->probes.size(); n++)
    if (file->probes[n].offset >= bytes.size() ||
        (n && file->probes[n].offset <= file->probes[n - 1].offset) ||
        file->probes[n].what.kind > USER_PROBE_DISABLE)
      abort();
  if (file && !file->interpreter.empty() && file->interpreter[0] != '/')
    abort();
  return file ? file->probes.size() : 0;
}

constexpr size_t kCode = 64; // bytes of nops behind the headers
enum { kNone, kNotes, kSections };
struct Head {
  Elf64_Ehdr file;
  Elf64_Phdr segments[2];
  Elf64_Shdr sections[kSections];
  char code[kCode];
};

std::string good_note(uint64_t address) {
#if defined(__aarch64__)
  static constexpr char kText[] = "ovnitrace\0event\0"
                                  "4@9 4@x8 4@7";
#else
  static constexpr char kText[] = "ovnitrace\0event\0"
                                  "4@$9 4@%edi 4@$7";
#endif
  const std::string_view text(kText, sizeof(kText)); // with its end
  std::string note(4 * 3, '\0');
  const uint32_t head[3] = {8, uint32_t(24 + text.size()), 3};
  std::memcpy(note.data(), head, sizeof(head));
  note.append("stapsdt", 8);
  note.append(reinterpret_cast<const char *>(&address), 8).append(16, '\0').append(text);
  note.resize((note.size() + 3) & ~size_t(3));
  return note;
}

/// The small program. Three bytes each of `changes` are a place and what to put there.
std::string program(std::string_view changes, std::string_view bytes) {
  Head head = {};
  std::memset(head.code, 0x90, sizeof(head.code));
  const std::string notes = good_note(offsetof(Head, code)) + std::string(bytes);
  std::memcpy(head.file.e_ident, ELFMAG, SELFMAG);
  head.file.e_ident[EI_CLASS] = ELFCLASS64;
  head.file.e_ident[EI_DATA] = ELFDATA2LSB;
  head.file.e_ident[EI_VERSION] = EV_CURRENT;
  head.file.e_type = ET_DYN;
#if defined(__aarch64__)
  head.file.e_machine = EM_AARCH64;
#else
  head.file.e_machine = EM_X86_64;
#endif
  head.file.e_version = EV_CURRENT;
  head.file.e_ehsize = sizeof(Elf64_Ehdr);
  head.file.e_phoff = offsetof(Head, segments), head.file.e_phentsize = sizeof(Elf64_Phdr),
  head.file.e_phnum = 2;
  head.file.e_shoff = offsetof(Head, sections), head.file.e_shentsize = sizeof(Elf64_Shdr);
  head.file.e_shnum = kSections;
  head.segments[0].p_type = PT_LOAD, head.segments[0].p_flags = PF_R | PF_X;
  head.segments[0].p_filesz = head.segments[0].p_memsz = sizeof(Head);
  head.segments[1].p_type = PT_INTERP;
  head.segments[1].p_offset = sizeof(Head) + notes.size() - bytes.size();
  head.segments[1].p_filesz = bytes.size();
  head.sections[kNotes] = {.sh_name = 0,
                           .sh_type = SHT_NOTE,
                           .sh_flags = 0,
                           .sh_addr = 0,
                           .sh_offset = sizeof(Head),
                           .sh_size = notes.size(),
                           .sh_link = 0,
                           .sh_info = 0,
                           .sh_addralign = 4,
                           .sh_entsize = 0};
  std::string image(reinterpret_cast<const char *>(&head), sizeof(head));
  image.append(notes);
  for (; changes.size() >= 3; changes.remove_prefix(3)) {
    const size_t place = size_t(uint8_t(changes[0]) | uint8_t(changes[1]) << 8);
    image[place % image.size()] = changes[2];
  }
  return image;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const bool good = read(program("", "")) == 1;
  if (!good)
    abort(); // what is changed would not be looked at
  const std::string_view bytes(reinterpret_cast<const char *>(data), size);
  read(std::string(bytes));
  const size_t changes = size ? data[0] % 24 : 0;
  if (size > changes)
    read(program(bytes.substr(1, changes), bytes.substr(changes)));
  for (const std::string &path : listed_libraries(std::string(bytes)))
    if (path[0] != '/')
      abort();
  user_argument arguments[3];
  parse_arguments(bytes, arguments);
  return 0;
}
