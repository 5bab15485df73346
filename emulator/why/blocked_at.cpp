// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/blocked_at.h"

#include "emulator/symbols/c_library.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ovnitrace {

namespace {

bool is_of_c_library(const StackTable &stacks, const StackFrame &frame) {
  return frame.file != kNone && is_c_library(stacks.file(frame.file).path);
}

bool is_of_scheduler(const StackFrame &frame) {
  constexpr std::array<std::string_view, 5> names = {"schedule", "__schedule", "io_schedule",
                                                     "preempt_schedule", "bpf_"};
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return frame.function.starts_with(name); });
}

} // namespace

std::string blocked_at(const StackTable &stacks, uint32_t number) {
  uint32_t kernel = kNone, library = kNone, program = kNone;
  for (const uint32_t index : stacks.frames(number)) {
    const StackFrame &frame = stacks.frame(index);
    if (frame.missing)
      break; // the innermost function of the program may be there
    uint32_t &first = frame.kernel ? kernel : is_of_c_library(stacks, frame) ? library : program;
    if (first == kNone && !(frame.kernel && is_of_scheduler(frame)))
      first = index;
  }
  const uint32_t best = program != kNone ? program : library != kNone ? library : kernel;
  if (best == kNone)
    return "";
  const std::string place = stacks.place(best);
  return stacks.name(best) + (place.empty() ? "" : " " + place);
}

std::vector<std::string> functions_of(const StackTable &stacks, uint32_t number) {
  std::vector<std::string> functions;
  for (const uint32_t index : stacks.frames(number))
    functions.push_back(stacks.name(index));
  return functions;
}

} // namespace ovnitrace
