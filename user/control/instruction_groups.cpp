// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/instruction_groups.h"

#include <fmt/core.h>

#include <cctype>

namespace ovnitrace::control {

namespace {

struct XedName {
  control_type type; ///< of the alarm: isa-extension or isa-category
  std::string_view xed;
  std::string_view zydis;
};

/// Names of XED that Zydis spells otherwise. XED's are those of xed_extension_enum_t and
/// xed_category_enum_t in its reference manual (https://intelxed.github.io/ref-manual/).
constexpr XedName kXedNames[] = {
    {CONTROL_ISA_EXTENSION, "3DNOW", "AMD3DNOW"},
    {CONTROL_ISA_EXTENSION, "3DNOW_PREFETCH", "AMD3DNOW_PREFETCH"},
    {CONTROL_ISA_EXTENSION, "PTWRITE", "PT"},
    {CONTROL_ISA_CATEGORY, "3DNOW", "AMD3DNOW"},
    {CONTROL_ISA_CATEGORY, "PTWRITE", "PT"},
    {CONTROL_ISA_CATEGORY, "VIA_PADLOCK", "PADLOCK"},
};

std::string upper(std::string_view text) {
  std::string out(text);
  for (char &c : out)
    c = c == '-' ? '_' : char(toupper(static_cast<unsigned char>(c)));
  return out;
}

/// Null after the last group.
const char *name_of(control_type type, int group) {
  if (type == CONTROL_ISA_EXTENSION)
    return group > ZYDIS_ISA_EXT_MAX_VALUE ? nullptr : ZydisISAExtGetString(ZydisISAExt(group));
  return group > ZYDIS_CATEGORY_MAX_VALUE ? nullptr
                                          : ZydisCategoryGetString(ZydisInstructionCategory(group));
}

} // namespace

int group_of(control_type type, std::string_view name) {
  std::string wanted = upper(name);
  for (const XedName &row : kXedNames)
    if (row.type == type && row.xed == wanted)
      wanted = row.zydis;
  for (int group = 1; const char *const one = name_of(type, group); group++)
    if (upper(one) == wanted)
      return group;
  return 0;
}

bool belongs_to(const ZydisDecodedInstruction &instruction, control_type type, int group) {
  return group == (type == CONTROL_ISA_EXTENSION ? int(instruction.meta.isa_ext)
                                                 : int(instruction.meta.category));
}

std::string why_no_group(control_type type, std::string_view name) {
  if (group_of(type, name))
    return "";
  std::string names;
  for (int group = 1; const char *const one = name_of(type, group); group++)
    names += (names.empty() ? "" : ", ") + std::string(one);
  for (const XedName &row : kXedNames)
    if (row.type == type)
      names += ", " + std::string(row.xed);
  return fmt::format("the decoder, Zydis {}.{}, knows no such {}; there are {}",
                     ZYDIS_VERSION_MAJOR(ZydisGetVersion()), ZYDIS_VERSION_MINOR(ZydisGetVersion()),
                     type == CONTROL_ISA_EXTENSION ? "extension" : "category", names);
}

} // namespace ovnitrace::control
