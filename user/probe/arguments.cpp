// SPDX-License-Identifier: BSD-2-Clause
#include "user/probe/arguments.h"

#include "emulator/base/to_number.h"

#include <asm/ptrace.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>

namespace ovnitrace {

namespace {

/// Reads a constant, which compilers print with or without a sign.
std::optional<user_argument> constant(std::string_view text) {
  std::optional<int64_t> value = to_number<int64_t>(text);
  if (!value || *value < std::numeric_limits<int32_t>::min() ||
      *value > std::numeric_limits<uint32_t>::max())
    return {};
  return user_argument{0, uint32_t(*value)};
}

#if defined(__x86_64__)

struct Register {
  std::string_view name; ///< of its low 32 bits
  size_t place;
};
constexpr Register kRegisters[] = {
    {"eax", offsetof(pt_regs, rax)},  {"ebx", offsetof(pt_regs, rbx)},
    {"ecx", offsetof(pt_regs, rcx)},  {"edx", offsetof(pt_regs, rdx)},
    {"esi", offsetof(pt_regs, rsi)},  {"edi", offsetof(pt_regs, rdi)},
    {"ebp", offsetof(pt_regs, rbp)},  {"esp", offsetof(pt_regs, rsp)},
    {"r8d", offsetof(pt_regs, r8)},   {"r9d", offsetof(pt_regs, r9)},
    {"r10d", offsetof(pt_regs, r10)}, {"r11d", offsetof(pt_regs, r11)},
    {"r12d", offsetof(pt_regs, r12)}, {"r13d", offsetof(pt_regs, r13)},
    {"r14d", offsetof(pt_regs, r14)}, {"r15d", offsetof(pt_regs, r15)},
};

std::optional<user_argument> operand(std::string_view text) {
  if (text.starts_with('$'))
    return constant(text.substr(1));
  if (!text.starts_with('%'))
    return {};
  for (const Register &candidate : kRegisters)
    if (text.substr(1) == candidate.name)
      return user_argument{1, uint32_t(candidate.place)};
  return {};
}

#elif defined(__aarch64__)

std::optional<user_argument> operand(std::string_view text) {
  if (!text.starts_with('x'))
    return constant(text);
  std::optional<int64_t> n = to_number<int64_t>(text.substr(1));
  if (!n || *n < 0 || *n > 30)
    return {};
  return user_argument{1, uint32_t(offsetof(user_pt_regs, regs) + size_t(*n) * sizeof(uint64_t))};
}

#else

std::optional<user_argument> operand(std::string_view) {
  return {};
}

#endif

} // namespace

bool parse_arguments(std::string_view text, user_argument (&arguments)[3]) {
  constexpr std::string_view kSize = "4@";
  user_argument parsed[3];
  for (user_argument &argument : parsed) {
    const bool last = &argument == &parsed[2];
    const size_t end = last ? text.size() : text.find(' ');
    if (end == text.npos || !text.starts_with(kSize))
      return false;
    std::optional<user_argument> found = operand(text.substr(kSize.size(), end - kSize.size()));
    if (!found)
      return false;
    argument = *found;
    text.remove_prefix(last ? end : end + 1);
  }
  std::copy(std::begin(parsed), std::end(parsed), arguments);
  return true;
}

} // namespace ovnitrace
