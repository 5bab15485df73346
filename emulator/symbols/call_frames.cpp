// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/symbols/call_frames.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <ovnitrace/unwind.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ovnitrace {

namespace {

// Numbers of the x86-64 psABI.
constexpr int kDi = 5, kBp = 6, kSp = 7, kReturnAddress = 16;

/// What a libdw expression or location says.
using Operations = std::span<const Dwarf_Op>;

/// Returns the bytes that `ops` adds to a register; nothing if they do anything else.
std::optional<int64_t> offset_from(Operations ops, int which) {
  if (ops.size() != 1)
    return {};
  const Dwarf_Op &op = ops[0];
  if (op.atom == DW_OP_bregx && op.number == uint64_t(which))
    return int64_t(op.number2);
  if (op.atom == DW_OP_breg0 + which)
    return int64_t(op.number);
  return {};
}

/// Returns the bytes that `ops` adds to the end of the frame; nothing if they do anything else.
std::optional<int64_t> offset_from_end(Operations ops) {
  if (ops.empty() || ops[0].atom != DW_OP_call_frame_cfa)
    return {};
  if (ops.size() == 1)
    return 0;
  if (ops.size() == 2 && ops[1].atom == DW_OP_plus_uconst)
    return int64_t(ops[1].number);
  return {};
}

/// What libdw says of a register.
struct Register {
  Dwarf_Op memory[3];
  Dwarf_Op *ops = nullptr;
  size_t count = 0;
  bool known = false;

  Register(Dwarf_Frame *frame, int number)
      : known(dwarf_frame_register(frame, number, memory, &ops, &count) == 0) {}
  Operations operations() const { return {ops, count}; }
  bool is_in(int number) const {
    return known && count == 1 && ops[0].atom == DW_OP_regx && ops[0].number == uint64_t(number);
  }
  bool is_undefined() const { return known && count == 0 && ops; }
  bool is_kept() const { return known && count == 0 && !ops; }
};

/// Returns the part of a rule that says where the caller's frame pointer is.
uint64_t bp_rule(Dwarf_Frame *frame) {
  const Register bp(frame, kBp);
  if (bp.is_kept())
    return UNWIND_RULE(0, 0, UNWIND_BP_KEPT, 0);
  if (const auto offset = offset_from_end(bp.operations()))
    if (*offset < 0 && *offset % 8 == 0 && -*offset / 8 <= int64_t(UNWIND_MOST_BP_WORDS))
      return UNWIND_RULE(0, 0, UNWIND_BP_SAVED, -*offset / 8);
  // libdw puts the end of the frame in front of an expression, which need not use it.
  if (bp.count == 2 && bp.ops[0].atom == DW_OP_call_frame_cfa &&
      offset_from(bp.operations().last(1), kBp) == 0)
    return UNWIND_RULE(0, 0, UNWIND_BP_AT_BP, 0);
  return UNWIND_RULE(0, 0, UNWIND_BP_LOST, 0);
}

/// Returns whether the frame ends where the entries of a procedure linkage table say: 16 bytes
/// each, of which the last 5 have pushed a word.
bool is_of_linkage_table(Operations ops) {
  constexpr uint8_t kAtoms[] = {DW_OP_breg0 + kSp, DW_OP_breg0 + kReturnAddress,
                                DW_OP_lit15,       DW_OP_and,
                                DW_OP_lit11,       DW_OP_ge,
                                DW_OP_lit3,        DW_OP_shl,
                                DW_OP_plus};
  if (ops.size() != std::size(kAtoms) || ops[0].number != 8 || ops[1].number != 0)
    return false;
  for (size_t n = 0; n < ops.size(); n++)
    if (ops[n].atom != kAtoms[n])
      return false;
  return true;
}

bool fits(int64_t offset) {
  return offset == int32_t(offset);
}

uint64_t rule_of(Dwarf_Frame *frame) {
  constexpr int kSavedSp = 160; // in the frame of a signal
  Dwarf_Addr start, end;
  bool signal = false;
  const int return_address = dwarf_frame_info(frame, &start, &end, &signal);
  const Register caller(frame, kReturnAddress);
  if (return_address != kReturnAddress || !caller.known)
    return UNWIND_STOP;
  if (caller.is_undefined())
    return UNWIND_END;
  Dwarf_Op *ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_cfa(frame, &ops, &count) != 0)
    return UNWIND_STOP;
  const Operations where(ops, count);
  const bool is_loaded = where.size() == 2 && where[1].atom == DW_OP_deref;
  if (signal)
    return is_loaded && offset_from(where.first(1), kSp) == kSavedSp ? UNWIND_SIGNAL : UNWIND_STOP;
  const uint64_t bp = bp_rule(frame);
  if (caller.is_in(kDi))
    if (const auto offset = offset_from(where, kSp); offset && fits(*offset))
      return bp | UNWIND_RULE(UNWIND_IN_DI, *offset, 0, 0);
  if (offset_from_end(caller.operations()) != -8)
    return UNWIND_STOP;
  if (const auto offset = offset_from(where, kSp); offset && fits(*offset))
    return bp | UNWIND_RULE(UNWIND_SP, *offset, 0, 0);
  if (const auto offset = offset_from(where, kBp); offset && fits(*offset))
    return bp | UNWIND_RULE(UNWIND_BP, *offset, 0, 0);
  if (is_loaded)
    if (const auto offset = offset_from(where.first(1), kBp); offset && fits(*offset))
      return bp | UNWIND_RULE(UNWIND_AT_BP, *offset, 0, 0);
  return is_of_linkage_table(where) ? bp | UNWIND_RULE(UNWIND_PLT, 0, 0, 0) : uint64_t(UNWIND_STOP);
}

/// Returns the rule of a function of Go that switches stacks: its call-frame information is true
/// only of the old stack. The rule says whether nothing calls the function on the new one.
uint64_t rule_of_go(std::string_view name) {
  constexpr std::string_view suffix = ".abi0";
  if (name.ends_with(suffix))
    name.remove_suffix(suffix.size());
  if (name == "runtime.mcall" || name == "runtime.morestack")
    return UNWIND_END;
  const bool changes = name == "runtime.systemstack" || name == "runtime.asmcgocall" ||
                       name == "runtime.cgocallback" || name == "runtime.newstack";
  return changes ? UNWIND_STOP : UNWIND_UNKNOWN;
}

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
  UniqueFd fd;
  Elf *elf = nullptr;
  Dwarf_CFI *run_time = nullptr; ///< .eh_frame
  Dwarf *data = nullptr;
  bool looked_for_data = false;
  std::vector<Function> functions; ///< by start
  bool looked_for_functions = false;
  bool is_of_go = false;

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
  std::string code_from(uint64_t offset) const;
  bool has_frame_pointer(uint64_t address, const GElf_Phdr &segment);
  bool leaves_stack(uint64_t offset) const;
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
  size_t names = 0;
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

/// Returns 8 bytes of code from `offset` on, in bytes in the file, without a mark for branches.
std::string CallFrames::Opened::code_from(uint64_t offset) const {
  constexpr std::string_view branch_target = "\xf3\x0f\x1e\xfa"; // endbr64
  std::string code(12, '\0');
  const ssize_t got = pread(fd.get(), code.data(), code.size(), off_t(offset));
  code.resize(got > 0 ? size_t(got) : 0);
  return code.substr(code.starts_with(branch_target) ? branch_target.size() : 0, 8);
}

/// Returns whether the function at `address` starts by setting its frame pointer. Where it calls
/// another one, it has it. `segment` has the address.
bool CallFrames::Opened::has_frame_pointer(uint64_t address, const GElf_Phdr &segment) {
  constexpr std::string_view set_frame_pointer = "\x55\x48\x89\xe5"; // push %rbp; mov %rsp,%rbp
  const Function *function = function_at(address);
  const uint64_t start = function ? function->start : 0;
  return function && start >= segment.p_vaddr &&
         code_from(segment.p_offset + (start - segment.p_vaddr)).starts_with(set_frame_pointer);
}

/// Returns whether code that is returned to at its first byte, which nothing has called, leaves its
/// stack there: a coroutine ends so, and what returns there has no caller.
bool CallFrames::Opened::leaves_stack(uint64_t offset) const {
  constexpr std::string_view take_other_stack = "\x48\x89\xdc"; // mov %rbx,%rsp
  return code_from(offset).starts_with(take_other_stack);
}

/// Returns the rule that the call-frame information has for an address.
std::optional<uint64_t> CallFrames::Opened::rule_from_frames(uint64_t address) {
  Dwarf_Frame *frame = nullptr;
  if ((run_time && dwarf_cfi_addrframe(run_time, address, &frame) == 0) ||
      (debug_frames() && dwarf_cfi_addrframe(debug_frames(), address, &frame) == 0)) {
    const uint64_t rule = rule_of(frame);
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
  if (offset < call.size() || !code_from(offset + 1 - call.size()).starts_with(call))
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
  if (!opened->elf || !gelf_getehdr(opened->elf, &header) || header.e_machine != EM_X86_64 ||
      gelf_getclass(opened->elf) != ELFCLASS64)
    return nullptr;
  opened->run_time = dwarf_getcfi_elf(opened->elf);
  opened->is_of_go = opened->has_section(".gopclntab");
  return std::unique_ptr<CallFrames>(new CallFrames(std::move(opened)));
}

uint64_t CallFrames::rule_at(uint64_t offset, bool interrupted) {
  const std::optional<GElf_Phdr> code = elf_->code_at(offset);
  if (!code)
    return UNWIND_STOP;
  const uint64_t address = code->p_vaddr + (offset - code->p_offset);
  if (elf_->is_of_go)
    if (const Opened::Function *function = elf_->function_at(address);
        function && function->rule != UNWIND_UNKNOWN)
      return function->rule;
  if (const std::optional<uint64_t> rule = elf_->rule_from_frames(address))
    return *rule;
  if (const uint64_t rule =
          interrupted ? uint64_t(UNWIND_UNKNOWN) : elf_->rule_in_clone(address, offset);
      rule != UNWIND_UNKNOWN)
    return rule;
  if (!interrupted && elf_->leaves_stack(offset + 1))
    return UNWIND_ENTRY;
  if (!elf_->has_frame_pointer(address, *code))
    return UNWIND_STOP;
  return interrupted ? uint64_t(UNWIND_GUESS) : UNWIND_RULE(UNWIND_BP, 16, UNWIND_BP_SAVED, 2);
}

} // namespace ovnitrace
