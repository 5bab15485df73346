// SPDX-License-Identifier: BSD-2-Clause
// Shows what the traced program logs: user events, ipoints and sections.
#include "emulator/models/registry.h"
#include "emulator/models/user_thread.h"

#include <fmt/format.h>
#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

namespace {

constexpr uint32_t kUserEvents = 15;                             // channels 0 to 14
enum : uint32_t { kIpoint = kUserEvents, kSection, kFirstPar1 }; // then parameters 1
constexpr uint32_t kSectionBegin = 13, kSectionEnd = 14;         // user events

void user_event(ModelContext &ctx, const Event &event) {
  uint32_t thread = user_thread(ctx, event);
  if (thread == kNone)
    return;
  uint32_t number = event.kind >> 4;
  ctx.set(number, thread, event.par2);
  if (event.par1 || ctx.value(kFirstPar1 + number, thread)) // most programs use none
    ctx.set(kFirstPar1 + number, thread, event.par1);
  if (event.by_manual)
    return; // which leaves all of them free: sections are those of user_event.h
  if (number == kSectionBegin)
    ctx.push(event, kSection, thread, event.par2);
  else if (number == kSectionEnd)
    ctx.pop(event, kSection, thread, event.par2);
}

void ipoint(ModelContext &ctx, const Event &event) {
  uint32_t thread = user_thread(ctx, event);
  if (thread != kNone)
    ctx.punctual(kIpoint, thread, int64_t(event.par1) + 1);
}

/// Ends the sections of a thread that ends. A thread that exits in a section logs no end of it.
void ended(ModelContext &ctx, const Event &event) {
  ctx.system.channels().forget_stack(ctx.first + kSection, event.thread);
}

std::vector<ChannelDef> channels() {
  std::vector<ChannelDef> all;
  for (uint32_t n = 0; n < kUserEvents; n++)
    all.push_back({.name = fmt::format("user event {}", n),
                   .label = fmt::format("User event {}", n),
                   .thread_type = 300 + n,
                   .cpu_type = 300 + n,
                   .cpu_track = Track::running});
  all.push_back({.name = "ipoint",
                 .label = "Ipoint number + 1",
                 .thread_type = 315,
                 .cpu_type = 315,
                 .cpu_track = Track::running});
  all.push_back({.name = "section",
                 .label = "Section",
                 .none = "No section",
                 .thread_type = 316,
                 .cpu_type = 316,
                 .cpu_track = Track::running});
  for (uint32_t n = 0; n < kUserEvents; n++)
    all.push_back({.name = fmt::format("user event {}, parameter 1", n),
                   .label = fmt::format("Parameter 1 of user event {}", n),
                   .thread_type = 320 + n,
                   .cpu_type = 320 + n,
                   .cpu_track = Track::running});
  return all;
}

std::vector<EventDef> events() {
  std::vector<EventDef> all;
  for (uint32_t n = 0; n < kUserEvents; n++)
    all.push_back({n << 4 | FTrace_EVT_user_event_0, user_event,
                   n == kSectionBegin ? "sets its channels to parameters 2 and 1; in a capture, "
                                        "pushes parameter 2 to section"
                   : n == kSectionEnd ? "sets its channels to parameters 2 and 1; in a capture, "
                                        "pops parameter 2 from section"
                                      : "sets its channels to parameters 2 and 1",
                   false});
  all.push_back({FTrace_EVT_ipoint, ipoint, "punctual: parameter 1 + 1", false});
  all.push_back({FTrace_EVT_task_end, ended, "no section"});
  return all;
}

} // namespace

Model user_model() {
  return {"user", "what the program logs itself", channels(), events(), {}};
}

} // namespace ovnitrace
