// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/symbols/frame_rule.h"

#include <dwarf.h>
#include <ovnitrace/unwind.h>

#include <cstdlib>
#include <optional>
#include <span>

namespace ovnitrace {

namespace {

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
  bool is_end() const { // of the frame, as the caller's stack pointer is by default
    return known && count == 2 && ops[0].atom == DW_OP_call_frame_cfa &&
           ops[1].atom == DW_OP_stack_value;
  }
  bool is_undefined() const { return known && count == 0 && ops; }
  bool is_kept() const { return known && count == 0 && !ops; }
};

/// Returns where the frame ends; nothing if libdw cannot say.
Operations end_of(Dwarf_Frame *frame) {
  Dwarf_Op *ops = nullptr;
  size_t count = 0;
  return dwarf_frame_cfa(frame, &ops, &count) == 0 ? Operations(ops, count) : Operations();
}

bool fits(int64_t offset) {
  return offset == int32_t(offset);
}

/// Returns the words from a place to the end of the frame, if they fit into a rule.
std::optional<int64_t> words_below_end(Operations place) {
  const auto offset = offset_from_end(place);
  if (offset && *offset < 0 && *offset % 8 == 0 && -*offset / 8 <= int64_t(UNWIND_MOST_BP_WORDS))
    return -*offset / 8;
  return {};
}

// Numbers of the x86-64 psABI.
constexpr int kDi = 5, kBp = 6, kSp = 7, kReturnAddress = 16;
// Numbers of DWARF for the Arm 64-bit architecture.
constexpr int kX29 = 29, kX30 = 30, kSpArm64 = 31;

/// Returns the part of a rule that says where the caller's frame pointer is.
uint64_t bp_rule(Dwarf_Frame *frame) {
  const Register bp(frame, kBp);
  if (bp.is_kept())
    return UNWIND_RULE(0, 0, UNWIND_BP_KEPT, 0);
  if (const auto words = words_below_end(bp.operations()))
    return UNWIND_RULE(0, 0, UNWIND_BP_SAVED, *words);
  // libdw puts the end of the frame in front of an expression, which need not use it.
  if (bp.count == 2 && bp.ops[0].atom == DW_OP_call_frame_cfa &&
      offset_from(bp.operations().last(1), kBp) == 0)
    return UNWIND_RULE(0, 0, UNWIND_BP_AT_BP, 0);
  return UNWIND_RULE(0, 0, UNWIND_BP_LOST, 0);
}

/// Returns whether the frame ends where the entries of a procedure linkage table say. An entry has
/// 16 bytes; in its last 5, a word has been pushed.
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

} // namespace

uint64_t frame_rule_x86(Dwarf_Frame *frame) {
  constexpr int kSavedSp = 160; // in the frame of a signal
  Dwarf_Addr start, end;
  bool signal = false;
  const int return_address = dwarf_frame_info(frame, &start, &end, &signal);
  const Register caller(frame, kReturnAddress);
  if (return_address != kReturnAddress || !caller.known)
    return UNWIND_STOP;
  if (caller.is_undefined())
    return UNWIND_END;
  const Operations where = end_of(frame);
  const bool is_loaded = where.size() == 2 && where[1].atom == DW_OP_deref;
  if (signal)
    return is_loaded && offset_from(where.first(1), kSp) == kSavedSp ? UNWIND_SIGNAL : UNWIND_STOP;
  if (!Register(frame, kSp).is_end())
    return UNWIND_STOP;
  const uint64_t bp = bp_rule(frame);
  if (caller.is_in(kDi))
    if (const auto offset = offset_from(where, kSp); offset && fits(*offset))
      return bp | UNWIND_RULE(UNWIND_IN_LINK, *offset, 0, 0);
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

uint64_t frame_rule_arm64(Dwarf_Frame *frame) {
  Dwarf_Addr start, end;
  bool signal = false;
  const int return_address = dwarf_frame_info(frame, &start, &end, &signal);
  const Register link(frame, kX30), bp(frame, kX29);
  if (return_address != kX30 || !link.known || signal)
    return UNWIND_STOP;
  if (link.is_undefined())
    return UNWIND_END;
  if (!Register(frame, kSpArm64).is_end())
    return UNWIND_STOP;
  const auto words = link.is_kept() ? 0 : words_below_end(link.operations());
  if (!words)
    return UNWIND_STOP;
  unwind_bp bp_rule = bp.is_kept() ? UNWIND_BP_KEPT : UNWIND_BP_LOST;
  int64_t apart = 0;
  if (const auto bp_words = words_below_end(bp.operations()))
    if (apart = *bp_words - *words; std::abs(apart) <= UNWIND_MOST_APART)
      bp_rule = UNWIND_BP_SAVED;
  const Operations where = end_of(frame);
  const auto rule = [&](unwind_kind kind, int64_t offset) {
    return UNWIND_RULE_ARM64(kind, offset, bp_rule, *words, apart);
  };
  if (const auto offset = offset_from(where, kSpArm64); offset && fits(*offset))
    return rule(UNWIND_SP, *offset);
  if (const auto offset = offset_from(where, kX29); offset && fits(*offset))
    return rule(UNWIND_BP, *offset);
  return UNWIND_STOP;
}

} // namespace ovnitrace
