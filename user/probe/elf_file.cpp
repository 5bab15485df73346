// SPDX-License-Identifier: BSD-2-Clause
#include "user/probe/elf_file.h"

#include "emulator/base/whole_io.h"
#include "user/probe/arguments.h"

#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kMostSections =
    0xff00; // SHN_LORESERVE: no more without the extension, which no program needs
constexpr size_t kMostSegments = 1024;
constexpr size_t kMostCode = 64;                 // segments of code; programs have one or two
constexpr uint64_t kMostSectionBytes = 64 << 20; // of those that we look into, together
constexpr size_t kMostText = 4096;               // of a string of a note

#if defined(__x86_64__)
constexpr GElf_Half kMachine = EM_X86_64;
constexpr std::string_view kNop = "\x90";
#elif defined(__aarch64__)
constexpr GElf_Half kMachine = EM_AARCH64;
constexpr std::string_view kNop = "\x1f\x20\x03\xd5";
#else
constexpr GElf_Half kMachine = EM_NONE;
constexpr std::string_view kNop;
#endif

class Reader {
public:
  Reader(int fd, Elf *elf) : fd_(fd), elf_(elf) {}
  ElfFile read();

private:
  void read_notes(Elf_Scn *section);
  void read_note(std::string_view body);
  void read_segments();
  void read_interpreter(const GElf_Phdr &segment);
  Elf_Data *data_of(Elf_Scn *section);
  std::optional<uint64_t> code_offset(uint64_t address) const;
  bool is_nop(uint64_t offset);

  const int fd_;
  Elf *const elf_;
  uint64_t bytes_left_ = kMostSectionBytes;
  std::vector<GElf_Phdr> code_;
  ElfFile file_;
};

/// Returns the bytes of a section, null if it has none or too many. libelf keeps them in memory to
/// the end.
Elf_Data *Reader::data_of(Elf_Scn *section) {
  GElf_Shdr header;
  if (!section || !gelf_getshdr(section, &header) || header.sh_size > bytes_left_ ||
      header.sh_type == SHT_NOBITS || (header.sh_flags & SHF_COMPRESSED))
    return nullptr;
  bytes_left_ -= header.sh_size;
  Elf_Data *data = elf_getdata(section, nullptr);
  return data && data->d_buf ? data : nullptr;
}

/// Returns where in the file the instruction of an address is, if it is one.
std::optional<uint64_t> Reader::code_offset(uint64_t address) const {
  for (const GElf_Phdr &segment : code_)
    if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz &&
        segment.p_offset <= INT64_MAX - (address - segment.p_vaddr))
      return segment.p_offset + (address - segment.p_vaddr);
  return {};
}

/// Returns whether the instruction is a nop. The kernel sets a probe wherever it is asked to, and
/// on anything but a nop, or on a longer nop than usdt.h's, it could break the program.
bool Reader::is_nop(uint64_t offset) {
  char bytes[8];
  const ssize_t got = pread(fd_, bytes, sizeof(bytes), off_t(offset));
  return !kNop.empty() && got >= ssize_t(kNop.size()) &&
         std::string_view(bytes, size_t(got)).starts_with(kNop);
}

/// Takes a string and its end off the front; nothing if it has no end.
std::optional<std::string_view> take_text(std::string_view &from) {
  const size_t end = from.find('\0');
  if (end == from.npos || end > kMostText)
    return {};
  std::string_view text = from.substr(0, end);
  from.remove_prefix(end + 1);
  return text;
}

/// Reads a note, with the layout that usdt.h describes.
void Reader::read_note(std::string_view body) {
  uint64_t address;
  constexpr size_t kAddresses = 3 * sizeof(uint64_t);
  if (body.size() < kAddresses)
    return;
  std::memcpy(&address, body.data(), sizeof(address));
  body.remove_prefix(kAddresses);
  const auto provider = take_text(body), name = take_text(body), arguments = take_text(body);
  if (!arguments || provider != "ovnitrace")
    return;
  Probe probe;
  bool good = true;
  if (name == "event" || name == "fire") {
    good = parse_arguments(*arguments, probe.what.arguments);
    probe.what.kind = name == "event" ? USER_PROBE_EVENT : USER_PROBE_FIRE;
  } else if (name == "enable" || name == "disable")
    probe.what.kind = name == "enable" ? USER_PROBE_ENABLE : USER_PROBE_DISABLE;
  else
    return;
  good = good && file_.probes.size() + file_.not_understood < kMostProbes;
  const std::optional<uint64_t> offset = good ? code_offset(address) : std::nullopt;
  if (!offset || !is_nop(*offset)) {
    file_.not_understood++;
    return;
  }
  probe.offset = *offset;
  file_.probes.push_back(probe);
}

void Reader::read_notes(Elf_Scn *section) {
  constexpr std::string_view kOwner("stapsdt\0", 8);
  constexpr GElf_Word kType = 3;
  Elf_Data *data = data_of(section);
  if (!data)
    return;
  GElf_Nhdr header;
  size_t name = 0, body = 0;
  for (size_t at = 0; (at = gelf_getnote(data, at, &header, &name, &body)) > 0;) {
    const char *bytes = static_cast<const char *>(data->d_buf);
    if (header.n_type == kType && std::string_view(bytes + name, header.n_namesz) == kOwner)
      read_note({bytes + body, header.n_descsz});
  }
}

void Reader::read_interpreter(const GElf_Phdr &segment) {
  char text[PATH_MAX];
  const size_t size = std::min<uint64_t>(segment.p_filesz, sizeof(text));
  const ssize_t got = pread(fd_, text, size, off_t(segment.p_offset));
  const size_t length = got > 0 ? strnlen(text, size_t(got)) : 0;
  if (length && length < size_t(got) && text[0] == '/')
    file_.interpreter.assign(text, length);
}

void Reader::read_segments() {
  size_t count = 0;
  if (elf_getphdrnum(elf_, &count) != 0)
    return;
  bool has_interpreter = false;
  for (size_t n = 0; n < std::min(count, kMostSegments); n++) {
    GElf_Phdr segment;
    if (!gelf_getphdr(elf_, int(n), &segment))
      continue;
    if (segment.p_type == PT_LOAD && segment.p_flags & PF_X && code_.size() < kMostCode)
      code_.push_back(segment);
    if (segment.p_type == PT_INTERP && !std::exchange(has_interpreter, true)) // as the kernel
      read_interpreter(segment);
  }
}

ElfFile Reader::read() {
  read_segments();
  for (Elf_Scn *section = nullptr; (section = elf_nextscn(elf_, section));) {
    file_.bytes_read += sizeof(Elf64_Shdr);
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header))
      continue;
    if (header.sh_type == SHT_NOTE)
      read_notes(section);
  }
  file_.bytes_read += kMostSectionBytes - bytes_left_;
  std::vector<Probe> &probes = file_.probes;
  auto by_offset = [](const Probe &a, const Probe &b) { return a.offset < b.offset; };
  auto same = [](const Probe &a, const Probe &b) { return a.offset == b.offset; };
  std::stable_sort(probes.begin(), probes.end(), by_offset);
  probes.erase(std::unique(probes.begin(), probes.end(), same), probes.end());
  return std::move(file_);
}

} // namespace

bool is_native_program(int fd) {
  Elf64_Ehdr header;
  constexpr int kNativeData = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  if (read_at(fd, 0, &header, sizeof(header)) != sizeof(header))
    return false;
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == kNativeData &&
         header.e_machine == kMachine && (header.e_type == ET_EXEC || header.e_type == ET_DYN) &&
         header.e_shnum > 0 && header.e_shnum < kMostSections && header.e_phnum > 0 &&
         header.e_phnum <= kMostSegments;
}

bool is_foreign_program(int fd) {
  Elf64_Ehdr header;
  if (read_at(fd, 0, &header, offsetof(Elf64_Ehdr, e_version)) != offsetof(Elf64_Ehdr, e_version))
    return false;
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachine);
}

void EndElf::operator()(Elf *elf) const {
  elf_end(elf);
}

ElfHandle open_elf(int fd) {
  if (!is_native_program(fd) || elf_version(EV_CURRENT) == EV_NONE)
    return nullptr;
  ElfHandle elf(
      elf_begin(fd, ELF_C_READ, nullptr)); // read and not mapped: the file may shrink under us
  return elf && elf_kind(elf.get()) == ELF_K_ELF ? std::move(elf) : nullptr;
}

std::optional<ElfFile> read_elf_file(int fd) {
  const ElfHandle elf = open_elf(fd);
  return elf ? std::optional(Reader(fd, elf.get()).read()) : std::nullopt;
}

} // namespace ovnitrace
