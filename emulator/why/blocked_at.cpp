// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/blocked_at.h"

#include "emulator/symbols/c_library.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace ovnitrace {

namespace {

/// Returns whether programs wait in this library, whatever they wait for.
bool is_of_library(const StackTable &stacks, const StackFrame &frame) {
  return frame.file != kNone && is_runtime_library(stacks.file(frame.file).path);
}

bool is_of_scheduler(const StackFrame &frame) {
  constexpr std::array<std::string_view, 5> names = {"schedule", "__schedule", "io_schedule",
                                                     "preempt_schedule", "bpf_"};
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return frame.function.starts_with(name); });
}

} // namespace

std::vector<std::string> blocked_at(const StackTable &stacks, uint32_t number, size_t depth) {
  const std::span<const uint32_t> frames = stacks.frames(number);
  size_t kernel = frames.size(), library = kernel, program = kernel; // places of their first
  for (size_t n = 0; n < frames.size(); n++) {
    const StackFrame &frame = stacks.frame(frames[n]);
    if (frame.missing)
      break; // the innermost function of the program may be there
    size_t &first = frame.kernel ? kernel : is_of_library(stacks, frame) ? library : program;
    if (first == frames.size() && !(frame.kernel && is_of_scheduler(frame)))
      first = n;
  }
  std::vector<std::string> functions;
  for (size_t n = program < frames.size()   ? program
                  : library < frames.size() ? library
                                            : kernel;
       n < frames.size() && functions.size() < depth; n++) {
    const std::string place = stacks.place(frames[n]);
    functions.push_back(stacks.name(frames[n]) + (place.empty() ? "" : " " + place));
  }
  return functions;
}

bool is_page_fault(const Stacks *stacks, const ThreadInfo &thread, const Slice &slice) {
  if (!stacks || slice.call != FTRACE_CALL_NONE)
    return false;
  constexpr std::array<std::string_view, 3> names = {"exc_page_fault", "asm_exc_page_fault",
                                                     "do_page_fault"}; // x86, x86, arm64
  const StackTable &table = stacks->of_thread(thread);
  const std::span<const uint32_t> frames = table.frames(slice.stack);
  return std::any_of(frames.begin(), frames.end(), [&](uint32_t index) {
    const StackFrame &frame = table.frame(index);
    return frame.kernel && std::find(names.begin(), names.end(), frame.function) != names.end();
  });
}

std::vector<std::string> functions_of(const StackTable &stacks, uint32_t number) {
  std::vector<std::string> functions;
  for (const uint32_t index : stacks.frames(number))
    functions.push_back(stacks.name(index));
  return functions;
}

} // namespace ovnitrace
