// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/image.h"

#include "emulator/base/regular_file.h"
#include "emulator/symbols/debug_places.h"
#include "user/probe/elf_file.h"

#include <fmt/core.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ovnitrace::control {

namespace {

constexpr uint64_t kMostBytes = 1u << 30;       // of the sections that are looked into
constexpr uint64_t kMostNameBytes = 256u << 20; // of the names of functions
constexpr size_t kMostFunctions = 4 << 20;
constexpr size_t kMostName = 1 << 14;

class Reader {
public:
  Reader(Image &image, Elf *elf) : image_(image), elf_(elf) {}
  void read_segments();
  void read_sections(bool code);

private:
  Elf_Data *data_of(Elf_Scn *section, const GElf_Shdr &header);
  void read_code(Elf_Scn *section, const GElf_Shdr &header);
  void read_symbols(Elf_Scn *section, const GElf_Shdr &header);
  void read_frames(Elf_Scn *section, const GElf_Shdr &header);
  void read_notes(Elf_Scn *section, const GElf_Shdr &header);

  Image &image_;
  Elf *const elf_;
  uint64_t bytes_left_ = kMostBytes, names_left_ = kMostNameBytes;
};

void Reader::read_segments() {
  size_t count = 0;
  GElf_Ehdr header;
  if (elf_getphdrnum(elf_, &count) != 0 || !gelf_getehdr(elf_, &header))
    return;
  image_.fixed = header.e_type == ET_EXEC;
  image_.base = UINT64_MAX;
  for (size_t n = 0; n < count; n++) {
    GElf_Phdr segment;
    if (!gelf_getphdr(elf_, int(n), &segment))
      continue;
    image_.has_interpreter |= segment.p_type == PT_INTERP;
    if (segment.p_type == PT_LOAD)
      image_.base = std::min<uint64_t>(image_.base, segment.p_vaddr & ~uint64_t(0xfff));
  }
}

Elf_Data *Reader::data_of(Elf_Scn *section, const GElf_Shdr &header) {
  if (header.sh_size > bytes_left_ || header.sh_type == SHT_NOBITS ||
      (header.sh_flags & SHF_COMPRESSED))
    return nullptr;
  bytes_left_ -= header.sh_size;
  errno = 0; // which libelf only sets
  Elf_Data *data = elf_getdata(section, nullptr);
  if (!data)
    image_.read_error = errno;
  return data && data->d_buf ? data : nullptr;
}

void Reader::read_code(Elf_Scn *section, const GElf_Shdr &header) {
  Elf_Data *data = data_of(section, header);
  if (!data || header.sh_offset > INT64_MAX - header.sh_size ||
      header.sh_addr > UINT64_MAX - header.sh_size)
    return;
  const auto *bytes = static_cast<const uint8_t *>(data->d_buf);
  image_.code.push_back({header.sh_addr, header.sh_offset, {bytes, bytes + data->d_size}});
}

void Reader::read_symbols(Elf_Scn *section, const GElf_Shdr &header) {
  Elf_Data *data = data_of(section, header);
  if (!data || header.sh_entsize == 0)
    return;
  const size_t count = header.sh_size / header.sh_entsize;
  for (size_t n = 0; n < count && image_.functions.size() + image_.indirect.size() < kMostFunctions;
       n++) {
    GElf_Sym symbol;
    if (!gelf_getsym(data, int(n), &symbol) || symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0)
      continue;
    const int type = GELF_ST_TYPE(symbol.st_info);
    if (type != STT_FUNC && type != STT_GNU_IFUNC)
      continue;
    const char *name = elf_strptr(elf_, header.sh_link, symbol.st_name);
    const size_t length = name ? strnlen(name, kMostName) : 0;
    if (length == 0 || length == kMostName)
      continue;
    if (length > names_left_) // any number of symbols may have one long name
      return;
    names_left_ -= length;
    if (type == STT_GNU_IFUNC)
      image_.indirect.push_back({name, symbol.st_value, symbol.st_size});
    else
      image_.functions.push_back({name, symbol.st_value, symbol.st_size});
  }
}

void Reader::read_frames(Elf_Scn *section, const GElf_Shdr &header) {
  size_t names = 0;
  const char *name =
      elf_getshdrstrndx(elf_, &names) == 0 ? elf_strptr(elf_, names, header.sh_name) : nullptr;
  if (!name || std::strcmp(name, ".eh_frame") != 0)
    return;
  if (Elf_Data *data = data_of(section, header))
    image_.bodies =
        bodies_of_frames({static_cast<const char *>(data->d_buf), data->d_size}, header.sh_addr);
}

void Reader::read_notes(Elf_Scn *section, const GElf_Shdr &header) {
  Elf_Data *data = data_of(section, header);
  GElf_Nhdr note;
  size_t name = 0, body = 0;
  for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name, &body)) > 0;) {
    const char *bytes = static_cast<const char *>(data->d_buf);
    if (note.n_type != NT_GNU_BUILD_ID || note.n_descsz > 64 ||
        std::string_view(bytes + name, note.n_namesz) != std::string_view("GNU\0", 4))
      continue;
    image_.build_id.clear();
    for (size_t n = 0; n < note.n_descsz; n++)
      image_.build_id += fmt::format("{:02x}", uint8_t(bytes[body + n]));
  }
}

void Reader::read_sections(bool code) {
  for (Elf_Scn *section = nullptr; (section = elf_nextscn(elf_, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header))
      continue;
    if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
      read_symbols(section, header);
    else if (header.sh_type == SHT_NOTE && code)
      read_notes(section, header);
    else if (code && (header.sh_flags & SHF_EXECINSTR))
      read_code(section, header);
    else if (code && (header.sh_flags & SHF_ALLOC))
      read_frames(section, header);
  }
}

void read_debug_file(Image &image) {
  const std::string path = debug_file_of(image.build_id);
  const UniqueFd fd = path.empty() ? UniqueFd() : open_regular(path);
  if (!fd)
    return;
  if (const ElfHandle elf = open_elf(fd.get()))
    Reader(image, elf.get()).read_sections(false);
}

} // namespace

std::optional<uint64_t> Image::offset_of(uint64_t address) const {
  for (const Code &part : code)
    if (address >= part.address && address - part.address < part.bytes.size())
      return part.offset + (address - part.address);
  return {};
}

std::string_view Image::bytes_at(uint64_t address, size_t most) const {
  for (const Code &part : code)
    if (address >= part.address && address - part.address < part.bytes.size())
      return std::string_view(reinterpret_cast<const char *>(part.bytes.data()), part.bytes.size())
          .substr(address - part.address, most);
  return {};
}

std::optional<Image> read_image(const std::string &path, int fd) {
  const ElfHandle elf = open_elf(fd);
  if (!elf)
    return {};
  Image image;
  image.path = path;
  struct stat status;
  if (fstat(fd, &status) == 0) {
    image.device = status.st_dev;
    image.inode = status.st_ino;
  }
  Reader reader(image, elf.get());
  reader.read_segments();
  reader.read_sections(true);
  read_debug_file(image);
  for (const Function &function : image.functions)
    if (function.size && function.address + function.size > function.address)
      image.bodies.push_back({function.address, function.address + function.size});
  std::sort(image.bodies.begin(), image.bodies.end());
  return image;
}

} // namespace ovnitrace::control
