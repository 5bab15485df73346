// SPDX-License-Identifier: BSD-2-Clause
// Lists the types of alarms of --control in one table. The parser, the help, `control --check`, the
// names in outputs, the documentation and the loader all read it.
#pragma once

#include <ovnitrace/control.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace ovnitrace::control {

/// What follows the name of a type.
enum class ValueKind : uint8_t {
  none,
  number,    ///< decimal, above 0
  place,     ///< 0xADDRESS, IMAGE+OFFSET (hexadecimal, with or without 0x) or a function
  hex,       ///< up to 8 digits, maybe after 0x
  bytes,     ///< pairs of hexadecimal digits
  word,      ///< name of a group of instructions
  pair,      ///< number.number
  text,      ///< up to the next colon or comma
  function,  ///< a name
  small_hex, ///< a number that fits in 16 bits, decimal or after 0x hexadecimal
};

/// Who makes it hit.
enum class Source : uint8_t {
  probe,    ///< a uprobe at places that are found in the program's files
  stepping, ///< the loader, which counts instructions or takes traps (ptrace)
  loader,   ///< the loader alone
};

struct AlarmType {
  control_type type;
  std::string_view name;
  std::string_view alias; ///< another name; empty: none
  ValueKind value;
  Source source;
  std::string_view example; ///< of a value; empty where there is none
  std::string_view fires;   ///< when an alarm of this type hits, in general
  std::string_view hits;    ///< when this one does; `{}` is its value (`control --check`)
  std::string_view cost;    ///< of a hit, for the program; of `icount`: of each instruction
  std::string_view label;   ///< in Paraver
  bool x86_only = false;    ///< not on arm64
};

inline constexpr std::string_view kCheapProbe = "0.6 µs", kProbe = "18 µs", kStep = "20-40 µs",
                                  kTrap = "6-12 µs", kNoCost = "none";

inline constexpr AlarmType kAlarmTypes[] = {
    {CONTROL_ICOUNT, "icount", "", ValueKind::number, Source::stepping, "1000000",
     "this many instructions of the thread after the alarm was armed",
     "{} instructions have been executed since", kStep, "Instructions", true},
    {CONTROL_ADDRESS, "address",
     "addres", // so in examples of the manual
     ValueKind::place, Source::probe, "foo",
     "the instruction at a function, 0xADDRESS or IMAGE+HEX is executed",
     "the instruction at {} is executed", kCheapProbe, "Address"},
    {CONTROL_SSC, "ssc", "", ValueKind::hex, Source::probe, "11223344",
     "the marker `mov ebx, VALUE`, then bytes 64 67 90, is executed",
     "the ssc marker {} is executed", kCheapProbe, "SSC marker", true},
    {CONTROL_ITEXT, "itext", "", ValueKind::bytes, Source::probe, "0fa2",
     "an instruction of exactly these bytes is executed",
     "an instruction of the bytes {} is executed", kProbe, "Instruction", true},
    {CONTROL_ISA_EXTENSION, "isa-extension", "isa_extension", ValueKind::word, Source::probe,
     "AVX2", "an instruction of this ISA extension (see below) is executed",
     "an instruction of the extension {} is executed", kProbe, "ISA extension", true},
    {CONTROL_ISA_CATEGORY, "isa-category", "isa_category", ValueKind::word, Source::probe,
     "X87_ALU", "an instruction of this category (see below) is executed",
     "an instruction of the category {} is executed", kProbe, "ISA category", true},
    {CONTROL_INT3, "int3", "", ValueKind::none, Source::stepping, "",
     "an int3 of the program is reached; it is skipped", "an int3 is reached", kTrap, "int3", true},
    {CONTROL_MAGIC, "magic", "", ValueKind::pair, Source::probe, "1.2",
     "`xchg bx,bx` is executed with rax 4, rbx A, rcx B (value A.B)",
     "the magic instruction {} is executed", kProbe, "Magic instruction", true},
    {CONTROL_CPUID, "cpuid", "", ValueKind::small_hex, Source::probe, "0x12",
     "cpuid is executed with 0x4711 | VALUE << 16 in eax", "the cpuid marker {} is executed",
     kProbe, "cpuid marker", true},
    {CONTROL_PCONTROL, "pcontrol", "", ValueKind::text, Source::probe, "roi",
     "MPI_Pcontrol is called with this string as its second argument",
     "MPI_Pcontrol is called with \"{}\"", kCheapProbe, "MPI_Pcontrol"},
    {CONTROL_ENTER_FUNC, "enter_func", "", ValueKind::function, Source::probe, "foo",
     "a function of this name is entered", "the function {} is entered", kCheapProbe,
     "Function entered"},
    {CONTROL_EXIT_FUNC, "exit_func", "", ValueKind::function, Source::probe, "foo",
     "a function of this name returns from its outermost call",
     "the function {} returns from its outermost call", "10-18 µs", "Function left"},
    {CONTROL_INTERACTIVE, "interactive", "", ValueKind::none, Source::loader, "",
     "you run ovnitrace ctl", "`ovnitrace ctl … {}` says so", kNoCost, "User"},
    {CONTROL_TIMEOUT, "timeout", "", ValueKind::number, Source::loader, "5",
     "this many seconds have passed since the alarm was armed", "{} s have passed since", kNoCost,
     "Timeout"},
};

/// Finds the type of this name; null if no type has it.
const AlarmType *find_type(std::string_view name);
/// Finds the type of an alarm; null for CONTROL_PROGRAM and other values that are not alarms.
const AlarmType *type_of(control_type type);

struct EventName {
  control_event event;
  std::string_view name;
  std::string_view does; ///< in words
};
inline constexpr EventName kEventNames[] = {
    {CONTROL_START, "start", "the region starts"},
    {CONTROL_STOP, "stop", "the region stops"},
    {CONTROL_THREADID, "threadid", "is marked in the trace"},
    {CONTROL_PRECOND, "precond", "only arms the next alarm"},
};

/// "start, stop, …" and "icount, address, …", for messages.
std::string event_names();
std::string type_names();
std::string portable_type_names(); ///< without those of x86 only

} // namespace ovnitrace::control
