// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/format/details.h"

#include "emulator/format/code_kind.h"

namespace ovnitrace {

namespace {

constexpr std::array<const CodeInfo *, 256> kRowOf = detail::by_code(
    static_cast<const CodeInfo *>(nullptr), [](const CodeInfo &info) { return &info; });

} // namespace

Details::Details(const Event &event) {
  const CodeInfo *info = event.kind < kRowOf.size() ? kRowOf[event.kind] : nullptr;
  if (!info)
    return;
  if (event.in_plain_file)
    add_file(*info, event);
  else
    add_captured(*info, event);
}

void Details::add_captured(const CodeInfo &info, const Event &event) {
  const bool own_par1 = event.thread == kNone || info.par1 == Par1::number;
  if (!info.par1_fields.empty())
    add_fields(info.par1_fields, event.par1, event.call);
  else if (own_par1 && event.par1)
    add({.name = "par1", .value = event.par1});
  if (!info.par2_fields.empty())
    add_fields(info.par2_fields, event.par2, event.call);
  else if (event.par2)
    add({.name = "par2", .value = event.par2});
}

/// Adds the parameters as they are in the file, whatever they mean.
void Details::add_file(const CodeInfo &info, const Event &event) {
  const bool about_par1 =
      info.shark.about == shark::About::context || info.shark.about == shark::About::any_context;
  if (!about_par1 || event.thread == kNone || !event.file_par1)
    add({.name = info.manual1.empty() ? "par1" : info.manual1, .value = event.file_par1});
  add({.name = info.manual2.empty() ? "par2" : info.manual2, .value = event.file_par2});
}

void Details::add_fields(Fields fields, uint32_t parameter, uint16_t call) {
  for (const Field &field : fields) {
    const uint32_t bits = field.unit == Unit::call ? call : field.bits(parameter);
    const uint32_t most = field.mask >> std::countr_zero(field.mask);
    if (field.show == Show::never || !field.is_in(parameter) ||
        (!bits && (field.bias || field.show == Show::if_set)) ||
        (field.unit == Unit::cpu && bits == most))
      continue;
    const int64_t value = int64_t(bits) - field.bias;
    add({.name = field.name,
         .unit = field.unit,
         .value = value,
         .text = value < 0 ? std::string_view() : name_of(field.names, uint32_t(value))});
  }
}

} // namespace ovnitrace
