// SPDX-License-Identifier: BSD-2-Clause
// Shows signals sent to a thread, and taken by it.
#include "emulator/models/registry.h"
#include "emulator/models/value_labels.h"

#include <fmt/format.h>
#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

namespace {

enum : uint32_t { kSent, kTaken, kUnspecified };

constexpr uint32_t kArrowTag = 1000; // + number of the signal; a wakeup's tag is its context

void signal(ModelContext &ctx, const Event &event) {
  if (event.by_manual) // the manual gives it no parameters
    return ctx.punctual(kUnspecified, event.thread, 1);
  uint32_t number = event.par2 >> FTRACE_SIGNAL_SHIFT;
  if (!number)
    return;
  if (event.par2 & FTRACE_SIGNAL_DELIVERED)
    return ctx.punctual(kTaken, event.thread, number);
  ctx.punctual(kSent, event.thread, number);
  if (event.peer != kNone && event.peer != event.thread)
    ctx.arrow({event.peer, event.thread, kArrowTag + number});
}

std::vector<ValueLabel> labels() {
  std::vector<ValueLabel> all = value_labels(kSignalNames);
  for (int number = 32; number <= 64; number++)
    all.push_back({number, fmt::format("Real-time signal {}", number)});
  return all;
}

} // namespace

Model signal_model() {
  return {
      "signal",
      "signals that threads are sent and take",
      {
          {.name = "signal sent",
           .label = "Signal that is sent to the thread",
           .none = "No signal",
           .thread_type = 410,
           .values = labels()},
          {.name = "signal taken",
           .label = "Signal that the thread takes",
           .none = "No signal",
           .thread_type = 411,
           .values = labels()},
          {.name = "signal",
           .label = "Signal of S.Ha.R.K.",
           .none = "No signal",
           .thread_type = 412,
           .values = {{1, "Signal"}}},
      },
      {
          {FTrace_EVT_signal, signal,
           "punctual: its number, or 1 for a signal of S.Ha.R.K.; an arrow from the sender, if "
           "that is a thread"},
      },
  };
}

} // namespace ovnitrace
