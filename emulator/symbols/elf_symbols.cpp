// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/symbols/elf_symbols.h"

#include "emulator/base/regular_file.h"
#include "emulator/base/unique_fd.h"
#include "emulator/symbols/code_ranges.h"
#include "emulator/symbols/debug_places.h"
#include "emulator/symbols/demangle.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

namespace ovnitrace {

namespace {

constexpr int kMostInlined = 64; ///< functions inlined at one address
constexpr int kMostNested = 256; ///< scopes around one address

struct EndDwfl {
  void operator()(Dwfl *dwfl) const { dwfl_end(dwfl); }
};
struct EndElf {
  void operator()(Elf *elf) const { elf_end(elf); }
};

std::string hexadecimal(const unsigned char *bytes, int count) {
  std::string text;
  for (int n = 0; n < count; n++)
    text += fmt::format("{:02x}", bytes[n]);
  return text;
}

std::string text_or_empty(const char *text) {
  return text ? text : "";
}

} // namespace

struct ElfSymbols::Opened {
  static const Dwfl_Callbacks kCallbacks;
  std::unique_ptr<Dwfl, EndDwfl> dwfl{dwfl_begin(&kCallbacks)};
  Dwfl_Module *module = nullptr;
  int debug = -1; ///< descriptor of the debug file, if it is known
  bool debug_only = false;
  CodeRanges units; ///< for files without .debug_aranges
  bool looked_for_units = false;
  std::map<Dwarf_Off, CodeRanges> functions; ///< by unit

  bool report(const std::string &path, UniqueFd &&fd);
  bool unit_at(uint64_t address, Dwarf_Die &unit, Dwarf_Addr &bias);
  void list_units();
  const Dwarf_Die *function_at(Dwarf_Die unit, Dwarf_Addr address);
  CodePlace called_at(uint64_t address);
  std::vector<CodePlace> inlined_at(uint64_t address, CodePlace called);
};

namespace {

std::string build_id_of(int fd) {
  const std::unique_ptr<Elf, EndElf> elf(elf_begin(fd, ELF_C_READ, nullptr));
  const void *bits = nullptr;
  const ssize_t count = elf ? dwelf_elf_gnu_build_id(elf.get(), &bits) : 0;
  return count > 0 ? hexadecimal(static_cast<const unsigned char *>(bits), int(count)) : "";
}

int open_if(const std::string &place, const std::string &build_id, char **found) {
  struct stat status;
  const UniqueFd fd = build_id.empty() ? UniqueFd() : open_absolute(place, status);
  if (!fd || build_id_of(fd.get()) != build_id)
    return -1;
  *found = strdup(place.c_str());
  return fcntl(fd.get(), F_DUPFD_CLOEXEC, 0);
}

/// Finds what several debug files share (dwz). `link` is its path.
int find_shared_data(Dwfl_Module *module, const std::string &link, char **found) {
  Dwarf_Addr bias;
  Dwarf *data = dwfl_module_getdwarf(module, &bias);
  const char *path = nullptr;
  const void *bits = nullptr;
  const ssize_t count = data ? dwelf_dwarf_gnu_debugaltlink(data, &path, &bits) : 0;
  if (count <= 0)
    return -1;
  const std::string build_id = hexadecimal(static_cast<const unsigned char *>(bits), int(count));
  const int shared = open_if(debug_file_of(build_id), build_id, found);
  return shared >= 0 ? shared : open_if(link, build_id, found);
}

/// Finds the debug data of a file for elfutils. Its own search would open whatever a debug link
/// points to, wait at a FIFO, and ask a debug server. Returns a descriptor or -1.
int find_debug_data(Dwfl_Module *module, void **data, const char *, Dwarf_Addr, const char *file,
                    const char *link, GElf_Word, char **found) {
  if (link && std::strchr(link, '/'))
    return find_shared_data(module, link, found);
  const unsigned char *bits = nullptr;
  GElf_Addr address;
  const int count = dwfl_module_build_id(module, &bits, &address);
  const std::string build_id = hexadecimal(bits, count);
  const int known = *static_cast<const int *>(*data);
  if (known >= 0 && !build_id.empty() && build_id_of(known) == build_id) {
    *found = strdup("debug data");
    return fcntl(known, F_DUPFD_CLOEXEC, 0);
  }
  for (const std::string &place : debug_places(text_or_empty(file), build_id, text_or_empty(link)))
    if (const int fd = open_if(place, build_id, found); fd >= 0)
      return fd;
  return -1;
}

} // namespace

const Dwfl_Callbacks ElfSymbols::Opened::kCallbacks = {
    .find_elf = nullptr,
    .find_debuginfo = find_debug_data,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

bool ElfSymbols::Opened::report(const std::string &path, UniqueFd &&fd) {
  if (!dwfl)
    return false;
  dwfl_report_begin(dwfl.get());
  // elfutils closes the descriptor, so it gets one of its own.
  const int own = fcntl(fd.get(), F_DUPFD_CLOEXEC, 0);
  module = dwfl_report_elf(dwfl.get(), path.c_str(), path.c_str(), own, 0, true);
  if (!module && own >= 0)
    ::close(own);
  dwfl_report_end(dwfl.get(), nullptr, nullptr);
  void **data = nullptr;
  if (module &&
      dwfl_module_info(module, &data, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr))
    *data = &debug;
  return module != nullptr;
}

void ElfSymbols::Opened::list_units() {
  looked_for_units = true;
  Dwarf_Addr bias = 0;
  for (Dwarf_Die *unit = nullptr; (unit = dwfl_module_nextcu(module, unit, &bias));)
    units.add(*unit, bias);
  units.sort();
}

/// Lists the units. Compilers other than GCC write no .debug_aranges, without which elfutils finds
/// no unit.
bool ElfSymbols::Opened::unit_at(uint64_t address, Dwarf_Die &unit, Dwarf_Addr &bias) {
  if (Dwarf_Die *found = dwfl_module_addrdie(module, address, &bias)) {
    unit = *found;
    return true;
  }
  if (!dwfl_module_getdwarf(module, &bias))
    return false;
  if (!looked_for_units)
    list_units();
  const Dwarf_Die *found = units.find(address);
  if (found)
    unit = *found;
  return found != nullptr;
}

/// Returns the function from the symbols, and the line.
CodePlace ElfSymbols::Opened::called_at(uint64_t address) {
  CodePlace place;
  GElf_Off offset = 0;
  GElf_Sym symbol;
  if (const char *name =
          dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr))
    place.function = demangle(std::string(name).substr(0, std::strcspn(name, "@"))); // no version
  if (Dwfl_Line *line = dwfl_module_getsrc(module, address)) {
    int number = 0;
    place.source = text_or_empty(dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr));
    place.line = number > 0 && !place.source.empty() ? uint32_t(number) : 0;
  }
  return place;
}

namespace {

/// Returns the name of a function in the debug data, also of an inlined one.
std::string name_of_die(Dwarf_Die *die) {
  Dwarf_Attribute attribute;
  for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
    if (const char *name = dwarf_formstring(dwarf_attr_integrate(die, kind, &attribute)))
      return demangle(name);
  return text_or_empty(dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute)));
}

uint64_t number_of(Dwarf_Die *die, unsigned kind) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  return dwarf_formudata(dwarf_attr(die, kind, &attribute), &value) == 0 ? value : 0;
}

} // namespace

namespace {

/// Returns whether functions can be in a scope. Classes that are local to a function have theirs in
/// this function, although their code is elsewhere. Lambdas are such classes.
bool can_have_functions(Dwarf_Die &scope) {
  const int tag = dwarf_tag(&scope);
  return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
         tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type ||
         tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block;
}

/// Appends the code of the functions in `scope`, and in scopes in it of at most `depth`.
void list_functions(Dwarf_Die scope, int depth, CodeRanges &functions) {
  Dwarf_Die child;
  for (int more = dwarf_child(&scope, &child); more == 0;) {
    if (dwarf_tag(&child) == DW_TAG_subprogram)
      functions.add(child);
    if (depth > 0 && can_have_functions(child))
      list_functions(child, depth - 1, functions);
    Dwarf_Die next;
    more = dwarf_siblingof(&child, &next);
    child = next;
  }
}

/// Finds the scope in `scope` that has the code at `address`. Returns 0 if it is found, 1 if no
/// scope has it, and -1 if the data is damaged.
int find_inner(Dwarf_Die scope, Dwarf_Addr address, Dwarf_Die &inner) {
  int more = dwarf_child(&scope, &inner);
  while (more == 0 && dwarf_haspc(&inner, address) <= 0) {
    Dwarf_Die next;
    more = dwarf_siblingof(&inner, &next);
    inner = next;
  }
  return more;
}

/// Appends the functions that are inlined into `function` at `address`, from the outermost inward.
/// Returns false if they are nested too deep, or the data is damaged. (elfutils' own
/// dwarf_getscopes() is recursive and can use up the stack.)
bool find_inlined(Dwarf_Die function, Dwarf_Addr address, std::vector<Dwarf_Die> &functions) {
  Dwarf_Die scope = function;
  for (int depth = 0; depth < kMostNested; depth++) {
    Dwarf_Die child;
    if (const int none = find_inner(scope, address, child))
      return none > 0;
    scope = child;
    if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine)
      functions.push_back(scope);
  }
  return false;
}

} // namespace

/// Returns the function that has the code at `address`; null if `unit` has none.
const Dwarf_Die *ElfSymbols::Opened::function_at(Dwarf_Die unit, Dwarf_Addr address) {
  constexpr int kMostScopes = 32; // in each other
  const auto [known, added] = functions.try_emplace(dwarf_dieoffset(&unit));
  if (added) {
    list_functions(unit, kMostScopes, known->second);
    known->second.sort();
  }
  return known->second.find(address);
}

/// Sets lines. `called` has the line in the innermost function. Each inlined function says where it
/// was called, which is the line of the next one.
std::vector<CodePlace> ElfSymbols::Opened::inlined_at(uint64_t address, CodePlace called) {
  std::vector<CodePlace> places;
  std::vector<Dwarf_Die> functions;
  Dwarf_Die unit;
  Dwarf_Addr bias = 0;
  const Dwarf_Die *function =
      unit_at(address, unit, bias) ? function_at(unit, address - bias) : nullptr;
  if (!function || !find_inlined(*function, address - bias, functions)) {
    places.push_back(std::move(called));
    return places;
  }
  Dwarf_Files *files = nullptr;
  size_t file_count = 0;
  if (dwarf_getsrcfiles(&unit, &files, &file_count) != 0)
    files = nullptr;
  for (auto inlined = functions.rbegin(); inlined != functions.rend(); ++inlined) {
    if (int(places.size()) == kMostInlined)
      continue;
    places.push_back({name_of_die(&*inlined), called.source, called.line});
    const uint64_t file = number_of(&*inlined, DW_AT_call_file);
    called.source = files && file < file_count
                        ? text_or_empty(dwarf_filesrc(files, file, nullptr, nullptr))
                        : "";
    called.line = called.source.empty() ? 0 : uint32_t(number_of(&*inlined, DW_AT_call_line));
  }
  Dwarf_Die named = *function;
  if (called.function.empty())
    called.function = name_of_die(&named);
  places.push_back(std::move(called));
  return places;
}

ElfSymbols::ElfSymbols(std::unique_ptr<Opened> elf) : elf_(std::move(elf)) {
  const unsigned char *bits = nullptr;
  GElf_Addr address;
  const int count = dwfl_module_build_id(elf_->module, &bits, &address);
  build_id_ = hexadecimal(bits, count);
}

ElfSymbols::~ElfSymbols() = default;

std::unique_ptr<ElfSymbols> ElfSymbols::open(const std::string &path, const std::string &build_id,
                                             Files files) {
  const std::array<std::string, 2> places = {path, debug_file_of(build_id)};
  for (const std::string &place : places) {
    const bool debug_only = &place != &places.front();
    const int known = debug_only ? files.debug : files.file;
    struct stat status;
    UniqueFd fd =
        known >= 0 ? UniqueFd(fcntl(known, F_DUPFD_CLOEXEC, 0)) : open_absolute(place, status);
    auto elf = std::make_unique<Opened>();
    elf->debug = files.debug;
    if (!fd || !elf->report(place, std::move(fd)))
      continue;
    elf->debug_only = debug_only;
    std::unique_ptr<ElfSymbols> symbols(new ElfSymbols(std::move(elf)));
    if (build_id.empty() || symbols->build_id() == build_id)
      return symbols;
  }
  return nullptr;
}

std::string ElfSymbols::debug_link() const {
  GElf_Addr bias = 0;
  GElf_Word checksum = 0;
  ::Elf *file = dwfl_module_getelf(elf_->module, &bias);
  return file ? text_or_empty(dwelf_elf_gnu_debuglink(file, &checksum)) : "";
}

bool ElfSymbols::has_debug_data() const {
  Dwarf_Addr bias = 0;
  return dwfl_module_getdwarf(elf_->module, &bias) != nullptr;
}

std::optional<uint64_t> ElfSymbols::address_of(uint64_t offset) const {
  GElf_Addr bias = 0;
  ::Elf *file = elf_->debug_only ? nullptr : dwfl_module_getelf(elf_->module, &bias);
  size_t count = 0;
  if (!file || elf_getphdrnum(file, &count) != 0)
    return std::nullopt;
  for (size_t n = 0; n < count; n++) {
    GElf_Phdr header;
    if (gelf_getphdr(file, int(n), &header) && header.p_type == PT_LOAD &&
        offset >= header.p_offset && offset - header.p_offset < header.p_filesz)
      return offset - header.p_offset + header.p_vaddr;
  }
  return std::nullopt;
}

std::vector<CodePlace> ElfSymbols::at(uint64_t address) {
  return elf_->inlined_at(address, elf_->called_at(address));
}

} // namespace ovnitrace
