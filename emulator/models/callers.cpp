// SPDX-License-Identifier: BSD-2-Clause
// Shows the functions from which a thread left its CPU: a channel for each of the innermost frames.
#include "emulator/models/callers.h"

#include "emulator/input/stacks.h"
#include "emulator/models/registry.h"
#include "emulator/symbols/c_library.h"

#include <fmt/format.h>
#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

namespace ovnitrace {

namespace {

/// Returns what a frame is called in the channels; value 0 means no frame.
struct Values {
  int64_t function = 0, line = 0;
};

struct State {
  std::vector<std::vector<std::array<Values, kCallerLevels>>> stacks; ///< by host, by number - 1
  ChannelId functions = kNone; ///< of level 1; the lines follow
};

/// Returns the value of a text. Values count from 1, in the order of first use.
class Labels {
public:
  int64_t value(const std::string &text) {
    if (text.empty())
      return 0;
    const auto [at, added] = values_.try_emplace(text, int64_t(all.size()) + 1);
    if (added)
      all.push_back({at->second, text});
    return at->second;
  }
  std::vector<ValueLabel> all;

private:
  std::map<std::string, int64_t> values_;
};

State &state_of(ModelContext &ctx) {
  return ctx.own<State>();
}

void set(ModelContext &ctx, uint32_t thread, const std::array<Values, kCallerLevels> &levels) {
  const State &state = state_of(ctx);
  ChannelBank &channels = ctx.system.channels();
  for (uint32_t n = 0; state.functions != kNone && n < kCallerLevels; n++) {
    channels.set(state.functions + n, thread, levels[n].function);
    channels.set(state.functions + kCallerLevels + n, thread, levels[n].line);
  }
}

void left(ModelContext &ctx, const Event &event) {
  const State &state = state_of(ctx);
  const uint32_t host = ctx.system.catalog().threads[event.thread].host;
  if (host < state.stacks.size() && event.par2 > 0 && event.par2 <= state.stacks[host].size())
    set(ctx, event.thread, state.stacks[host][event.par2 - 1]);
}

void over(ModelContext &ctx, const Event &event) {
  set(ctx, event.thread, {});
}

/// Returns the place of the innermost function of the program on a stack, which `why` names, too.
/// It is of the C library, OpenMP or MPI only if there is no other, or if frames may be missing
/// before that.
size_t innermost(const StackTable &table, std::span<const uint32_t> frames) {
  size_t library = frames.size();
  for (size_t n = 0; n < frames.size() && !table.frame(frames[n]).missing; n++) {
    const StackFrame &frame = table.frame(frames[n]);
    if (frame.kernel)
      continue;
    if (frame.file == kNone || !is_runtime_library(table.file(frame.file).path))
      return n;
    library = std::min(library, n);
  }
  return library;
}

/// Returns the innermost program frames of each stack.
std::vector<std::array<Values, kCallerLevels>> levels_of(const StackTable &table, Labels &functions,
                                                         Labels &lines) {
  std::vector<std::array<Values, kCallerLevels>> all(table.size());
  for (uint32_t number = 1; number <= table.size(); number++) {
    uint32_t level = 0;
    const std::span<const uint32_t> frames = table.frames(number);
    for (const uint32_t index : frames.subspan(innermost(table, frames))) {
      if (table.frame(index).kernel || level == kCallerLevels)
        continue;
      all[number - 1][level++] = {functions.value(table.name(index)),
                                  lines.value(table.place(index))};
    }
  }
  return all;
}

void start(ModelContext &ctx) {
  State state;
  Labels functions, lines;
  NoDiagnostics silent; // the files are read again by a part that reports
  const Stacks stacks(ctx.system.catalog(), silent);
  for (uint32_t host = 0; host < ctx.system.catalog().hosts.size(); host++)
    state.stacks.push_back(levels_of(stacks.of_host(host), functions, lines));
  if (!functions.all.empty()) {
    for (const bool of_lines : {false, true})
      for (uint32_t level = 1; level <= kCallerLevels; level++) {
        const ChannelId id = ctx.system.channels().declare(
            {.name = fmt::format("{} {}", of_lines ? "caller line" : "caller", level),
             .label = fmt::format("Caller {}at level {}", of_lines ? "line " : "", level),
             .none = "None, or not known",
             .thread_type = (of_lines ? kLineType : kFunctionType) + level,
             .scheduling = true,
             .values = of_lines ? lines.all : functions.all});
        if (state.functions == kNone)
          state.functions = id;
      }
  }
  ctx.keep(std::move(state));
}

} // namespace

Model callers_model() {
  return {
      "callers",
      "the functions from which threads left their CPUs",
      {},
      {
          {FTrace_EXT_stack, left, "the innermost functions of the program, and their lines"},
          {FTrace_EXT_waker_stack, nullptr, "no effect: the stack belongs to another thread"},
          {FTrace_EVT_task_activate, over, "0"},
          {FTrace_EVT_task_dispatch, over, "0"},
          {FTrace_EVT_task_end, over, "0"},
      },
      start,
  };
}

} // namespace ovnitrace
