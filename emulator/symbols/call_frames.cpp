// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/symbols/call_frames.h"

#include "emulator/symbols/call_instruction.h"
#include "emulator/symbols/frame_rule.h"

#include <elfutils/libdw.h>
#include <gelf.h>
#include <ovnitrace/unwind.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ovnitrace {

namespace {

/// Returns the rule of a function of Go that switches stacks: its call-frame information is true
/// only of the old stack. The rule says whether nothing calls the function on the new one.
uint64_t rule_of_go(std::string_view name) {
  constexpr std::string_view suffix = ".abi0";
  if (name.ends_with(suffix))
    name.remove_suffix(suffix.size());
  if (name == "runtime.mcall" || name == "runtime.morestack")
    return UNWIND_END;
  // The clocks call the vdso on the stack of the thread.
  constexpr std::string_view kChange[] = {
      "runtime.systemstack", "runtime.asmcgocall", "runtime.cgocallback", "runtime.newstack",
      "runtime.nanotime1",   "runtime.walltime",   "runtime.walltime1",   "time.now"};
  return std::ranges::find(kChange, name) != std::end(kChange) ? UNWIND_STOP : UNWIND_UNKNOWN;
}

// Instructions of arm64. The first and the last can be where functions start.
constexpr uint32_t kBranchTarget = 0xd503245f; // bti c
constexpr uint32_t kNop = 0xd503201f;
constexpr uint32_t kSignLink = 0xd503233f; // paciasp

/// Returns the code that the kernel has mapped into this process.
std::span<char> own_vdso() {
  auto *start = reinterpret_cast<char *>(getauxval(AT_SYSINFO_EHDR));
  if (!start)
    return {};
  const auto *header = reinterpret_cast<const Elf64_Ehdr *>(start);
  return {start, size_t(header->e_shoff) + size_t(header->e_shnum) * header->e_shentsize};
}

} // namespace

struct CallFrames::Opened {
  struct Function {
    uint64_t start, end;            ///< addresses
    uint64_t rule = UNWIND_UNKNOWN; ///< of a function that changes stacks, all over it
  };
  using Instructions = std::array<uint32_t, 3>;
  UniqueFd fd;
  Elf *elf = nullptr;
  Dwarf_CFI *run_time = nullptr; ///< .eh_frame
  Dwarf *data = nullptr;
  bool looked_for_data = false;
  std::vector<Function> functions; ///< by start
  bool looked_for_functions = false;
  bool is_of_go = false;
  bool is_arm64 = false; ///< otherwise x86-64

  ~Opened() {
    if (run_time)
      dwarf_cfi_end(run_time);
    if (data)
      dwarf_end(data);
    if (elf)
      elf_end(elf);
  }

  std::optional<GElf_Phdr> code_at(uint64_t offset) const;
  Dwarf_CFI *debug_frames();
  bool has_section(std::string_view ending) const;
  void list_functions();
  const Function *function_at(uint64_t address);
  std::string bytes_at(uint64_t offset, size_t count) const;
  std::string code_from(uint64_t offset) const;
  Instructions instructions_at(uint64_t offset) const;
  uint64_t rule_with_frame_pointer(uint64_t address, const GElf_Phdr &segment);
  bool is_behind_call(uint64_t offset, bool of_kernel) const;
  bool leaves_stack(uint64_t offset) const;
  bool returns_from_signal(uint64_t offset, bool interrupted) const;
  std::optional<uint64_t> rule_from_frames(uint64_t address);
  uint64_t rule_in_clone(uint64_t address, uint64_t offset);
};

/// Returns the segment of code that has the byte at `offset`.
std::optional<GElf_Phdr> CallFrames::Opened::code_at(uint64_t offset) const {
  size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0)
    return {};
  for (size_t n = 0; n < count; n++) {
    GElf_Phdr segment;
    if (!gelf_getphdr(elf, int(n), &segment))
      return {};
    if (segment.p_type == PT_LOAD && segment.p_flags & PF_X && offset >= segment.p_offset &&
        offset - segment.p_offset < segment.p_filesz)
      return segment;
  }
  return {};
}

/// Returns .debug_frame, which compilers write instead of .eh_frame for some languages.
Dwarf_CFI *CallFrames::Opened::debug_frames() {
  if (!looked_for_data)
    data = dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
  looked_for_data = true;
  return data ? dwarf_getcfi(data) : nullptr;
}

/// Returns whether a section's name ends in `ending`.
bool CallFrames::Opened::has_section(std::string_view ending) const {
  size_t names;
  if (elf_getshdrstrndx(elf, &names) != 0)
    return false;
  for (Elf_Scn *section = nullptr; (section = elf_nextscn(elf, section));) {
    GElf_Shdr header;
    const char *name =
        gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : nullptr;
    if (name && std::string_view(name).ends_with(ending))
      return true;
  }
  return false;
}

void CallFrames::Opened::list_functions() {
  constexpr size_t kMost = 4 << 20;
  looked_for_functions = true;
  for (Elf_Scn *section = nullptr; (section = elf_nextscn(elf, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) ||
        (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
      continue;
    Elf_Data *symbols = elf_getdata(section, nullptr);
    GElf_Sym symbol;
    for (int n = 0; symbols && gelf_getsym(symbols, n, &symbol) && functions.size() < kMost; n++)
      if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
          symbol.st_size && symbol.st_size <= UINT64_MAX - symbol.st_value) {
        const char *name = is_of_go ? elf_strptr(elf, header.sh_link, symbol.st_name) : nullptr;
        functions.push_back({symbol.st_value, symbol.st_value + symbol.st_size,
                             name ? rule_of_go(name) : uint64_t(UNWIND_UNKNOWN)});
      }
  }
  std::sort(functions.begin(), functions.end(),
            [](const Function &a, const Function &b) { return a.start < b.start; });
}

const CallFrames::Opened::Function *CallFrames::Opened::function_at(uint64_t address) {
  if (!looked_for_functions)
    list_functions();
  const auto after =
      std::upper_bound(functions.begin(), functions.end(), address,
                       [](uint64_t at, const Function &function) { return at < function.start; });
  return after == functions.begin() || address >= std::prev(after)->end ? nullptr
                                                                        : &*std::prev(after);
}

/// Returns `count` bytes from `offset` on; fewer if the file ends.
std::string CallFrames::Opened::bytes_at(uint64_t offset, size_t count) const {
  std::string bytes(count, '\0');
  if (fd) {
    const ssize_t got = pread(fd.get(), bytes.data(), count, off_t(offset));
    bytes.resize(got > 0 ? size_t(got) : 0);
    return bytes;
  }
  size_t all = 0;
  const char *image = elf_rawfile(elf, &all);
  return image && offset < all ? std::string(image + offset, std::min<size_t>(count, all - offset))
                               : std::string();
}

/// Returns 8 bytes of code from `offset` on, in bytes in the file, without a mark for branches.
std::string CallFrames::Opened::code_from(uint64_t offset) const {
  constexpr std::string_view branch_target = "\xf3\x0f\x1e\xfa"; // endbr64
  const std::string code = bytes_at(offset, 12);
  return code.substr(code.starts_with(branch_target) ? branch_target.size() : 0, 8);
}

/// Returns the first instructions of code of arm64; zeros behind the end of the file.
CallFrames::Opened::Instructions CallFrames::Opened::instructions_at(uint64_t offset) const {
  Instructions code = {};
  bytes_at(offset, sizeof(code)).copy(reinterpret_cast<char *>(code.data()), sizeof(code));
  return code;
}

/// Returns the rule for a call in a function that starts by setting its frame pointer; UNWIND_STOP
/// if it does not. `segment` has the address.
uint64_t CallFrames::Opened::rule_with_frame_pointer(uint64_t address, const GElf_Phdr &segment) {
  constexpr std::string_view set_frame_pointer = "\x55\x48\x89\xe5"; // push %rbp; mov %rsp,%rbp
  const Function *function = function_at(address);
  if (!function || function->start < segment.p_vaddr)
    return UNWIND_STOP;
  const uint64_t start = segment.p_offset + (function->start - segment.p_vaddr);
  if (!is_arm64)
    return code_from(start).starts_with(set_frame_pointer)
               ? UNWIND_RULE(UNWIND_BP, 16, UNWIND_BP_SAVED, 2)
               : uint64_t(UNWIND_STOP);
  const Instructions code = instructions_at(start);
  const size_t first = code[0] == kBranchTarget || code[0] == kSignLink;
  // stp x29, x30, [sp, #-8 * words]!; mov x29, sp
  const int words = 128 - int(code[first] >> 15 & 127);
  if ((code[first] & 0xffe07fff) != 0xa9a07bfd || code[first + 1] != 0x910003fd)
    return UNWIND_STOP;
  return UNWIND_RULE_ARM64(UNWIND_BP, 8 * words, UNWIND_BP_SAVED, words - 1, 1);
}

/// Returns whether the instruction before `offset` calls a function, or with `of_kernel` also the
/// kernel. Otherwise the walk has gone wrong, or nothing has called. On x86-64.
bool CallFrames::Opened::is_behind_call(uint64_t offset, bool of_kernel) const {
  const size_t count = std::min<uint64_t>(offset, kMostCallBytes);
  const std::string code = bytes_at(offset - count, count);
  return ends_in_call_x86(code) || (of_kernel && ends_in_system_call_x86(code));
}

/// Returns whether code that is returned to at its first byte, which nothing has called, leaves its
/// stack there: a coroutine ends so, and what returns there has no caller.
bool CallFrames::Opened::leaves_stack(uint64_t offset) const {
  if (!is_arm64)
    return code_from(offset).starts_with("\x48\x89\xdc") && // mov %rbx,%rsp
           !is_behind_call(offset, false);
  const Instructions code = instructions_at(offset);
  return (code[0] == kNop || code[0] == kBranchTarget) && code[1] == 0xaa1303e0 && // mov x0, x19
         (code[2] & 0xff00001f) == 0xb5000000;                                     // cbnz x0
}

/// Returns whether the code is that behind the handler of a signal, on arm64. It has the form that
/// all debuggers look for. `offset`: of the last byte before it, unless it was interrupted.
bool CallFrames::Opened::returns_from_signal(uint64_t offset, bool interrupted) const {
  constexpr uint32_t set_call = 0xd2801168, call = 0xd4000001; // mov x8, #139; svc #0
  const Instructions code = is_arm64 ? instructions_at(offset + !interrupted) : Instructions();
  return code[0] == set_call && code[1] == call;
}

/// Returns the rule that the call-frame information has for an address.
std::optional<uint64_t> CallFrames::Opened::rule_from_frames(uint64_t address) {
  Dwarf_Frame *frame = nullptr;
  if ((run_time && dwarf_cfi_addrframe(run_time, address, &frame) == 0) ||
      (debug_frames() && dwarf_cfi_addrframe(debug_frames(), address, &frame) == 0)) {
    const uint64_t rule = is_arm64 ? frame_rule_arm64(frame) : frame_rule_x86(frame);
    free(frame);
    return rule;
  }
  return {};
}

/// Returns the rule for a call of the kernel that has no information of its own, although the
/// instruction before it has. glibc's clone() is so: the information would be wrong in the new
/// thread. `address` and `offset` are those of the last byte of the call.
uint64_t CallFrames::Opened::rule_in_clone(uint64_t address, uint64_t offset) {
  constexpr std::string_view call = "\x0f\x05"; // syscall
  if (is_arm64 || offset < call.size() || !code_from(offset + 1 - call.size()).starts_with(call))
    return UNWIND_UNKNOWN;
  const std::optional<uint64_t> before = rule_from_frames(address - call.size());
  return before && UNWIND_KIND(*before) == UNWIND_SP ? *before - UNWIND_SP + UNWIND_CLONE
                                                     : uint64_t(UNWIND_UNKNOWN);
}

CallFrames::CallFrames(std::unique_ptr<Opened> elf) : elf_(std::move(elf)) {}

CallFrames::~CallFrames() = default;

std::unique_ptr<CallFrames> CallFrames::open(UniqueFd file) {
  elf_version(EV_CURRENT);
  auto opened = std::make_unique<Opened>();
  opened->fd = std::move(file);
  opened->elf = opened->fd ? elf_begin(opened->fd.get(), ELF_C_READ, nullptr) : nullptr;
  return read(std::move(opened));
}

std::unique_ptr<CallFrames> CallFrames::open_vdso() {
  elf_version(EV_CURRENT);
  auto opened = std::make_unique<Opened>();
  const std::span<char> vdso = own_vdso();
  opened->elf = vdso.empty() ? nullptr : elf_memory(vdso.data(), vdso.size());
  return read(std::move(opened));
}

std::unique_ptr<CallFrames> CallFrames::read(std::unique_ptr<Opened> opened) {
  GElf_Ehdr header;
  if (!opened->elf || !gelf_getehdr(opened->elf, &header) ||
      (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64) ||
      gelf_getclass(opened->elf) != ELFCLASS64)
    return nullptr;
  opened->is_arm64 = header.e_machine == EM_AARCH64;
  opened->run_time = dwarf_getcfi_elf(opened->elf);
  opened->is_of_go = opened->has_section(".gopclntab");
  return std::unique_ptr<CallFrames>(new CallFrames(std::move(opened)));
}

uint64_t CallFrames::rule_at(uint64_t offset, bool interrupted) {
  const uint64_t rule = rule_of_code(offset, interrupted);
  const uint32_t kind = UNWIND_KIND(rule);
  const bool is_called = !interrupted && !elf_->is_arm64 && kind != UNWIND_END &&
                         kind != UNWIND_ENTRY && kind != UNWIND_SIGNAL && kind != UNWIND_CLONE;
  return is_called && !elf_->is_behind_call(offset + 1, true) ? uint64_t(UNWIND_STOP) : rule;
}

uint64_t CallFrames::rule_of_code(uint64_t offset, bool interrupted) {
  const std::optional<GElf_Phdr> code = elf_->code_at(offset);
  if (!code)
    return UNWIND_STOP;
  const uint64_t address = code->p_vaddr + (offset - code->p_offset);
  if (elf_->is_of_go)
    if (const Opened::Function *function = elf_->function_at(address);
        function && function->rule != UNWIND_UNKNOWN)
      return function->rule;
  if (elf_->returns_from_signal(offset, interrupted))
    return UNWIND_SIGNAL;
  if (const std::optional<uint64_t> rule = elf_->rule_from_frames(address))
    return *rule;
  if (const uint64_t rule =
          interrupted ? uint64_t(UNWIND_UNKNOWN) : elf_->rule_in_clone(address, offset);
      rule != UNWIND_UNKNOWN)
    return rule;
  if (!interrupted && elf_->leaves_stack(offset + 1))
    return UNWIND_ENTRY;
  const uint64_t rule = elf_->rule_with_frame_pointer(address, *code);
  return interrupted && rule != UNWIND_STOP ? uint64_t(UNWIND_GUESS) : rule;
}

} // namespace ovnitrace
