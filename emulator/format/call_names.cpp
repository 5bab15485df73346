// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/format/call_names.h"

#include "emulator/format/call_table_arm32.h"
#include "emulator/format/call_table_arm64.h"
#include "emulator/format/call_table_common.h"
#include "emulator/format/call_table_i386.h"
#include "emulator/format/call_table_x86_64.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace ovnitrace {

namespace {

using CallNames = std::array<std::string, FTRACE_CALLS>; ///< by enum ftrace_call

/// Adds the words of a table of call_table_*.h. The first word names `call`.
void put(CallNames &names, uint32_t call, std::string_view words, std::string_view suffix = {}) {
  for (size_t begin = 0; begin <= words.size(); call++) {
    const size_t end = std::min(words.find(' ', begin), words.size());
    const std::string_view word = words.substr(begin, end - begin);
    if (word != "-")
      names[call] = std::string(word) += suffix;
    begin = end + 1;
  }
}

void put_machine(CallNames &names, std::string_view native, std::string_view compat) {
  constexpr std::string_view k32 = " (32-bit)";
  put(names, FTRACE_CALL_NATIVE, native);
  put(names, FTRACE_CALL_NATIVE + call_table::kCommonFrom, call_table::kCommon);
  put(names, FTRACE_CALL_COMPAT, compat, k32);
  put(names, FTRACE_CALL_COMPAT + call_table::kTime64From, call_table::kTime64, k32);
  put(names, FTRACE_CALL_COMPAT + call_table::kCommonFrom, call_table::kCommon, k32);
}

/// Returns the names that do not depend on the machine: calls without a name are numbers.
CallNames numbers() {
  CallNames names;
  names[FTRACE_CALL_NONE] = "no system call";
  for (uint32_t call = FTRACE_CALL_NATIVE; call < FTRACE_CALL_COMPAT; call++)
    names[call] = "call " + std::to_string(call - FTRACE_CALL_NATIVE);
  for (uint32_t call = FTRACE_CALL_COMPAT; call < FTRACE_CALLS; call++)
    names[call] = "call " + std::to_string(call - FTRACE_CALL_COMPAT) + " (32-bit)";
  return names;
}

CallNames x86_64() {
  CallNames names = numbers();
  put_machine(names, call_table::kX86_64, call_table::kI386);
  put(names, FTRACE_CALL_NATIVE + call_table::kX32From, call_table::kX32, " (x32)");
  return names;
}

CallNames arm64() {
  CallNames names = numbers();
  put_machine(names, call_table::kArm64, call_table::kArm32);
  return names;
}

} // namespace

std::string_view call_name(std::string_view machine, uint16_t call) {
  static const CallNames kX86_64 = x86_64(), kArm64 = arm64(), kOther = numbers();
  const CallNames &names = machine == "x86_64" ? kX86_64 : machine == "aarch64" ? kArm64 : kOther;
  return call < FTRACE_CALLS ? names[call] : std::string_view();
}

} // namespace ovnitrace
