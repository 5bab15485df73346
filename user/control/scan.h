// SPDX-License-Identifier: BSD-2-Clause
// Decodes the instructions of a program: where alarms can hit, and where the kernel can set a
// probe.
#pragma once

#include "user/control/image.h"
#include "user/control/plan.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ovnitrace::control {

/// Returns why the kernel cannot put a probe on the instruction that starts with these bytes, in
/// words; empty: it can.
std::string why_no_probe(std::string_view bytes);

/// The bytes of the longest instruction of x86.
constexpr size_t kLongestInstruction = 15;

/// Returns the length in bytes of the instruction that `bytes` start with; 0: there is no
/// instruction.
unsigned instruction_length(std::string_view bytes);

/// An address of the image, and the alarms that may hit there, a bit each.
struct Marker {
  uint64_t address = 0;
  uint64_t alarms = 0;
  bool in_function = true; ///< otherwise it may be data: no known function has the address
};

/// Returns where the image has what alarms of the types ssc, itext, isa-extension, isa-category,
/// magic and cpuid look for, by address. Decodes each section once, from its start and again from
/// the start of each function. If no function of the file is known, all of its code counts as
/// functions.
std::vector<Marker> scan(const Plan &plan, const Image &image);

} // namespace ovnitrace::control
