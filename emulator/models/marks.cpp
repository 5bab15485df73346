// SPDX-License-Identifier: BSD-2-Clause
// Shows user marks of ovni streams: OM[, OM] and OM=.
#include "emulator/format/event_names.h"
#include "emulator/models/on_cpu.h"
#include "emulator/models/payload.h"
#include "emulator/models/registry.h"

#include <fmt/format.h>

namespace ovnitrace {

namespace {

constexpr uint32_t kMarkPayload = 12; // bytes: an i64 and an i32

enum class MarkKind : uint8_t { undeclared, single, stack };

struct MarkChannel {
  ChannelId id = kNone;
  MarkKind kind = MarkKind::undeclared;
};
constexpr const char *kMarkKinds[] = {"no stream.json declares", "is single, no stack",
                                      "is a stack"};
using MarkChannels = std::vector<MarkChannel>; ///< by type

ChannelId declare(ModelContext &ctx, uint32_t type, ChannelDef def) {
  def.thread_type = def.cpu_type = 100 + type;
  def.name = fmt::format("mark {}", type);
  // Seen while the thread is active, and on the CPU on which it is running, as in ovni.
  def.thread_track = Track::active;
  def.cpu_track = Track::running;
  return ctx.system.channels().declare(std::move(def));
}

void start(ModelContext &ctx) {
  MarkChannels marks(kMarkTypes);
  for (const MarkType &mark : ctx.system.catalog().marks) {
    if (mark.type >= kMarkTypes || marks[mark.type].id != kNone)
      continue;
    ChannelDef def;
    def.label = mark.title;
    for (const auto &[value, label] : mark.labels)
      def.values.push_back({value, label});
    marks[mark.type] = {declare(ctx, mark.type, std::move(def)),
                        mark.stack ? MarkKind::stack : MarkKind::single};
  }
  ctx.keep(std::move(marks));
}

/// Returns the channel and value of a mark event; kNone, and reports it, if the event is malformed.
/// An event that does not suit the channel as stream.json declares it (`kind` says how) is reported
/// and applied. An undeclared type gets a channel without labels.
ChannelId mark_channel(ModelContext &ctx, const Event &event, MarkKind kind, int64_t &value) {
  int32_t type;
  if (!read_payload(event, 0, value) || !read_payload(event, 8, type) || type < 0 ||
      uint32_t(type) >= kMarkTypes || value == 0) {
    ctx.faults.add(event, [&] {
      return fmt::format("mark of {} without a value that is not 0 and a type from 0 to {}",
                         thread_name(ctx.system.catalog(), event.thread), kMarkTypes - 1);
    });
    return kNone;
  }
  if (event.payload_size != kMarkPayload)
    ctx.faults.add(event, [&] {
      return fmt::format("{} of {} has a payload of {} bytes, not {}", kind_name(event.kind),
                         thread_name(ctx.system.catalog(), event.thread), event.payload_size,
                         kMarkPayload);
    });
  MarkChannel &mark = ctx.own<MarkChannels>()[uint32_t(type)];
  if (mark.kind != kind)
    ctx.faults.add(event, [&] {
      return fmt::format("{} of {} on mark {}, which {}", kind_name(event.kind),
                         thread_name(ctx.system.catalog(), event.thread), type,
                         kMarkKinds[size_t(mark.kind)]);
    });
  if (mark.id == kNone) {
    ChannelDef def;
    def.label = fmt::format("Mark {}", type);
    mark.id = declare(ctx, uint32_t(type), std::move(def));
  }
  return mark.id;
}

void push(ModelContext &ctx, const Event &event) {
  int64_t value;
  if (ChannelId id = mark_channel(ctx, event, MarkKind::stack, value); id != kNone)
    ctx.push_id(event, id, event.thread, value);
}

void pop(ModelContext &ctx, const Event &event) {
  int64_t value;
  if (ChannelId id = mark_channel(ctx, event, MarkKind::stack, value); id != kNone)
    ctx.pop_id(event, id, event.thread, value);
}

void set(ModelContext &ctx, const Event &event) {
  int64_t value;
  if (ChannelId id = mark_channel(ctx, event, MarkKind::single, value); id != kNone)
    ctx.system.channels().set(id, event.thread, value);
}

} // namespace

Model mark_model() {
  return {
      "mark",
      "user marks in ovni streams",
      {},
      {
          {mcv('O', 'M', '['), on_cpu<push>, "pushes a value to the channel of its type"},
          {mcv('O', 'M', ']'), on_cpu<pop>, "pops that value"},
          {mcv('O', 'M', '='), on_cpu<set>, "sets that channel"},
      },
      start,
  };
}

} // namespace ovnitrace
