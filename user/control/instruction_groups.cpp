// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/instruction_groups.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <iterator>

namespace ovnitrace::control {

namespace {

struct XedName {
  control_type type; ///< of the alarm: isa-extension or isa-category
  std::string_view xed;
  std::string_view zydis;
  bool is_set = false; ///< Zydis has it as an ISA set, which is a part of an extension
};

/// Names of XED that Zydis spells otherwise. XED's are those of xed_extension_enum_t and
/// xed_category_enum_t in its reference manual (https://intelxed.github.io/ref-manual/).
constexpr XedName kXedNames[] = {
    {CONTROL_ISA_EXTENSION, "3DNOW", "AMD3DNOW"},
    {CONTROL_ISA_EXTENSION, "3DNOW_PREFETCH", "AMD3DNOW_PREFETCH"},
    {CONTROL_ISA_EXTENSION, "PTWRITE", "PT"},
    {CONTROL_ISA_EXTENSION, "VIA_PADLOCK_AES", "PADLOCK_ACE", true},
    {CONTROL_ISA_EXTENSION, "VIA_PADLOCK_MONTMUL", "PADLOCK_PMM", true},
    {CONTROL_ISA_EXTENSION, "VIA_PADLOCK_RNG", "PADLOCK_RNG", true},
    {CONTROL_ISA_EXTENSION, "VIA_PADLOCK_SHA", "PADLOCK_PHE", true},
    {CONTROL_ISA_CATEGORY, "3DNOW", "AMD3DNOW"},
    {CONTROL_ISA_CATEGORY, "PTWRITE", "PT"},
    {CONTROL_ISA_CATEGORY, "VIA_PADLOCK", "PADLOCK"},
};

/// XED has these, and the decoder may be too old for their instructions.
constexpr std::string_view kNewInXed[] = {"AMX_FP16",
                                          "APXEVEX",
                                          "APX_F",
                                          "APXLEGACY",
                                          "AVX_IFMA",
                                          "AVX_NE_CONVERT",
                                          "AVX_VNNI_INT16",
                                          "AVX_VNNI_INT8",
                                          "CMPCCXADD",
                                          "FRED",
                                          "ICACHE_PREFETCH",
                                          "LKGS",
                                          "MSRLIST",
                                          "PBNDKB",
                                          "RAO_INT",
                                          "SHA512",
                                          "SM3",
                                          "SM4",
                                          "USER_MSR",
                                          "WBNOINVD",
                                          "WRMSRNS"};

std::string upper(std::string_view text) {
  std::string out(text);
  for (char &c : out)
    c = c == '-' ? '_' : char(toupper(static_cast<unsigned char>(c)));
  return out;
}

constexpr int kMostOfKind[] = {0, ZYDIS_ISA_EXT_MAX_VALUE, ZYDIS_CATEGORY_MAX_VALUE,
                               ZYDIS_ISA_SET_MAX_VALUE};

const char *name_of(const Group &group) {
  switch (group.kind) {
  case Group::Kind::extension:
    return ZydisISAExtGetString(ZydisISAExt(group.number));
  case Group::Kind::category:
    return ZydisCategoryGetString(ZydisInstructionCategory(group.number));
  case Group::Kind::set:
    return ZydisISASetGetString(ZydisISASet(group.number));
  case Group::Kind::none:
    break;
  }
  return "";
}

Group::Kind kind_of(control_type type) {
  return type == CONTROL_ISA_EXTENSION ? Group::Kind::extension : Group::Kind::category;
}

} // namespace

Group group_of(control_type type, std::string_view name) {
  std::string wanted = upper(name);
  Group group = {kind_of(type), 0};
  for (const XedName &row : kXedNames)
    if (row.type == type && row.xed == wanted) {
      wanted = row.zydis;
      if (row.is_set)
        group.kind = Group::Kind::set;
      break;
    }
  for (group.number = 1; group.number <= kMostOfKind[int(group.kind)]; group.number++)
    if (upper(name_of(group)) == wanted)
      return group;
  return {};
}

bool belongs_to(const ZydisDecodedInstruction &instruction, const Group &group) {
  switch (group.kind) {
  case Group::Kind::extension:
    return int(instruction.meta.isa_ext) == group.number;
  case Group::Kind::category:
    return int(instruction.meta.category) == group.number;
  case Group::Kind::set:
    return int(instruction.meta.isa_set) == group.number;
  case Group::Kind::none:
    break;
  }
  return false;
}

std::string why_no_group(control_type type, std::string_view name) {
  if (group_of(type, name).kind != Group::Kind::none)
    return "";
  const char *what = type == CONTROL_ISA_EXTENSION ? "extension" : "category";
  const std::string wanted = upper(name);
  if (std::find(std::begin(kNewInXed), std::end(kNewInXed), wanted) != std::end(kNewInXed))
    return fmt::format("the decoder, Zydis {}.{}, does not know the instructions of this {} of XED",
                       ZYDIS_VERSION_MAJOR(ZydisGetVersion()),
                       ZYDIS_VERSION_MINOR(ZydisGetVersion()), what);
  std::string names;
  Group group = {kind_of(type), 0};
  for (group.number = 1; group.number <= kMostOfKind[int(group.kind)]; group.number++)
    names += (names.empty() ? "" : ", ") + std::string(name_of(group));
  for (const XedName &row : kXedNames)
    if (row.type == type)
      names += ", " + std::string(row.xed);
  return fmt::format("there is no such {}; there are {}", what, names);
}

} // namespace ovnitrace::control
