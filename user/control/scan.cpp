// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/scan.h"

#include "user/control/cpuid_step.h"
#include "user/control/instruction_groups.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <cstring>

namespace ovnitrace::control {

namespace {

ZydisDecoder make_decoder() {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  return decoder;
}

bool decode(const ZydisDecoder &decoder, std::string_view bytes, ZydisDecodedInstruction &out) {
  return ZYAN_SUCCESS(
      ZydisDecoderDecodeInstruction(&decoder, nullptr, bytes.data(), bytes.size(), &out));
}

/// What one alarm looks for.
struct Wanted {
  uint64_t bit;
  control_type type;
  uint64_t value;
  int group = 0;
  std::string bytes = {}; ///< itext
};

std::string bytes_of(std::string_view hex) {
  if (hex.starts_with("0x") || hex.starts_with("0X"))
    hex.remove_prefix(2);
  std::string bytes;
  for (size_t n = 0; n + 1 < hex.size(); n += 2)
    bytes += char(std::stoi(std::string(hex.substr(n, 2)), nullptr, 16));
  return bytes;
}

std::vector<Wanted> wanted_of(const Plan &plan) {
  std::vector<Wanted> all;
  for (size_t a = 0; a < plan.alarm_table.size(); a++) {
    const control_alarm &alarm = plan.alarm_table[a];
    Wanted wanted = {1ull << a, control_type(alarm.type), alarm.value};
    switch (wanted.type) {
    case CONTROL_ITEXT:
      wanted.bytes = bytes_of(plan.alarms[a]->value);
      break;
    case CONTROL_ISA_EXTENSION:
    case CONTROL_ISA_CATEGORY:
      wanted.group = group_of(wanted.type, plan.alarms[a]->value);
      break;
    case CONTROL_SSC:
    case CONTROL_MAGIC:
    case CONTROL_CPUID:
      break;
    default:
      continue;
    }
    all.push_back(std::move(wanted));
  }
  return all;
}

constexpr size_t kMovEbx = 5; // bytes of `mov ebx, imm32`

bool is_ssc(std::string_view bytes, uint64_t value) {
  uint32_t immediate;
  if (bytes.size() < kMovEbx + 3 || bytes[0] != '\xbb' ||
      bytes.substr(kMovEbx, 3) != std::string_view("\x64\x67\x90", 3))
    return false;
  std::memcpy(&immediate, bytes.data() + 1, sizeof(immediate));
  return immediate == value;
}

/// Returns whether the instruction at the start of `bytes` is one; of ssc, the first of its two.
bool fits(const Wanted &wanted, const ZydisDecodedInstruction &instruction,
          std::string_view bytes) {
  switch (wanted.type) {
  case CONTROL_SSC:
    return is_ssc(bytes, wanted.value);
  case CONTROL_ITEXT:
    return instruction.length == wanted.bytes.size() && bytes.starts_with(wanted.bytes);
  case CONTROL_ISA_EXTENSION:
  case CONTROL_ISA_CATEGORY:
    return belongs_to(instruction, wanted.type, wanted.group);
  case CONTROL_MAGIC:
    return bytes.starts_with("\x66\x87\xdb") || bytes.starts_with("\x87\xdb");
  case CONTROL_CPUID:
    return instruction.mnemonic == ZYDIS_MNEMONIC_CPUID;
  default:
    return false;
  }
}

} // namespace

// What the kernel refuses is refused here first, as a probe that is set before the file is executed
// would silently never hit.
#if defined(__x86_64__)

unsigned instruction_length(std::string_view bytes) {
  static const ZydisDecoder decoder = make_decoder();
  ZydisDecodedInstruction instruction;
  return decode(decoder, bytes, instruction) ? instruction.length : 0;
}

/// Says why the kernel refuses a probe: arch/x86/kernel/uprobes.c, is_prefix_bad(), good_insns_64,
/// good_2byte_insns.
std::string why_no_probe(std::string_view bytes) {
  static const ZydisDecoder decoder = make_decoder();
  ZydisDecodedInstruction instruction;
  if (!decode(decoder, bytes, instruction))
    return "it is no instruction";
  for (size_t n = 0; n < instruction.raw.prefix_count; n++)
    switch (instruction.raw.prefixes[n].value) {
    case 0xf0:
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
      return "it has a prefix (lock, es, cs, ss or ds) that the kernel's probes cannot step over";
    }
  switch (instruction.mnemonic) {
  case ZYDIS_MNEMONIC_INT3:
    return "a probe on int3 makes the program loop for ever: use the alarm int3";
  case ZYDIS_MNEMONIC_CPUID:
    return stops_after_cpuid() ? ""
                               : "the hypervisor of this machine does not stop after a single step "
                                 "over cpuid: the program would crash";
  case ZYDIS_MNEMONIC_SYSCALL:
  case ZYDIS_MNEMONIC_SYSENTER:
    return "a probe on a system call swallows the instruction after it";
  case ZYDIS_MNEMONIC_INT:
  case ZYDIS_MNEMONIC_INT1:
  case ZYDIS_MNEMONIC_HLT:
  case ZYDIS_MNEMONIC_CLI:
  case ZYDIS_MNEMONIC_STI:
  case ZYDIS_MNEMONIC_IRET:
  case ZYDIS_MNEMONIC_IRETD:
  case ZYDIS_MNEMONIC_IRETQ:
  case ZYDIS_MNEMONIC_IN:
  case ZYDIS_MNEMONIC_OUT:
    return "the kernel puts no probe on instructions of its own or for devices";
  default:
    return "";
  }
}

#else

unsigned instruction_length(std::string_view bytes) {
  return bytes.size() < sizeof(uint32_t) ? 0 : sizeof(uint32_t);
}

/// Says why no probe may be set: arch/arm64/kernel/probes/decode-insn.c, arm_probe_decode_insn().
/// The kernel accepts loads of SIMD registers from a literal, but would load them from elsewhere.
std::string why_no_probe(std::string_view bytes) {
  uint32_t word;
  if (bytes.size() < sizeof(word))
    return "it is no instruction";
  std::memcpy(&word, bytes.data(), sizeof(word));
  const auto is = [word](uint32_t mask, uint32_t value) { return (word & mask) == value; };
  if (is(0x3f000000, 0x08000000))
    return "a probe would break the exclusive access to memory";
  if (is(0x3b000000, 0x18000000))
    return "it loads from a distance from itself, and the kernel executes a copy of it elsewhere";
  if (is(0xff000000, 0xd4000000))
    return "the kernel puts no probe on system calls and breakpoints";
  if (is(0xfff8f01f, 0xd500401f) || is(0xfff00000, 0xd5100000))
    return "the kernel puts no probe on instructions that set registers of the system";
  const bool plain = is(0xff9ffc1f, 0xd61f0000); // br, blr, ret
  if (is(0xfe000000, 0xd6000000) && !plain)
    return "the kernel puts no probe on jumps that authenticate a pointer";
  const uint32_t hint = word >> 5 & 0x7f; // nop; xpaclri, pacia1716, …, pacibsp; bti
  const bool good =
      hint == 0 || hint == 7 || hint == 8 || hint == 10 || (hint & ~3u) == 24 || (hint & ~6u) == 32;
  if (is(0xfffff01f, 0xd503201f) && !good)
    return "the kernel puts no probe on this hint";
  return "";
}

#endif

std::vector<Marker> scan(const Plan &plan, const Image &image) {
  const ZydisDecoder decoder = make_decoder();
  const std::vector<Wanted> wanted = wanted_of(plan);
  std::vector<Marker> markers;
  if (wanted.empty())
    return markers;
  for (const Code &part : image.code) {
    auto body = std::lower_bound(image.bodies.begin(), image.bodies.end(), Body{part.address, 0});
    uint64_t end_of_function = image.bodies.empty() ? UINT64_MAX : 0;
    const std::string_view all(reinterpret_cast<const char *>(part.bytes.data()),
                               part.bytes.size());
    ZydisDecodedInstruction instruction;
    for (size_t at = 0; at < all.size();) {
      for (; body != image.bodies.end() && body->start <= part.address + at; ++body) {
        at = body->start - part.address;
        end_of_function = std::max(end_of_function, body->end);
      }
      const std::string_view bytes = all.substr(at);
      if (!decode(decoder, bytes, instruction)) {
        at++; // data in between
        continue;
      }
      for (const Wanted &one : wanted)
        if (fits(one, instruction, bytes))
          markers.push_back({part.address + at + (one.type == CONTROL_SSC ? kMovEbx : 0), one.bit,
                             part.address + at < end_of_function});
      at += instruction.length;
    }
  }
  std::sort(markers.begin(), markers.end(),
            [](const Marker &a, const Marker &b) { return a.address < b.address; });
  return markers;
}

} // namespace ovnitrace::control
