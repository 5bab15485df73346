// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/core/model.h"

#include "emulator/base/human.h"

#include <fmt/format.h>

namespace ovnitrace {

namespace {

std::string describe(const ModelContext &ctx, ChannelId id, uint32_t thread, const char *tried,
                     const ChannelFault &fault) {
  const std::string &channel = ctx.system.channels().def(id).name;
  std::string who = thread_name(ctx.system.catalog(), thread);
  switch (fault.kind) {
  case ChannelFault::empty_stack:
    return fmt::format("{} {} from channel '{}' of {}: its stack is empty", tried, fault.expected,
                       channel, who);
  case ChannelFault::wrong_value:
    return fmt::format("{} from channel '{}' of {}: expected {}, found {}", tried, channel, who,
                       fault.expected, fault.found);
  default:
    return fmt::format("{} {} to channel '{}' of {}: its stack has {} states already", tried,
                       fault.expected, channel, who, kMaxStackDepth);
  }
}

} // namespace

void ModelContext::push_id(const Event &event, ChannelId id, uint32_t thread, int64_t value) {
  if (ChannelFault fault = system.channels().push(id, thread, value))
    faults.add(event, [&] { return describe(*this, id, thread, "cannot push", fault); });
}

void ModelContext::pop_id(const Event &event, ChannelId id, uint32_t thread, int64_t value) {
  if (ChannelFault fault = system.channels().pop(id, thread, value))
    faults.add(event, [&] { return describe(*this, id, thread, "cannot pop", fault); });
}

std::string thread_name(const Catalog &catalog, uint32_t thread) {
  if (thread >= catalog.threads.size())
    return "no thread";
  const ThreadInfo &info = catalog.threads[thread];
  return name_and_number(info.name, "thread", info.tid);
}

std::string cpu_name(const System &system, uint32_t cpu) {
  if (cpu >= system.cpus().size())
    return "no CPU";
  const Cpu &c = system.cpus()[cpu];
  std::string name = c.index == kNone ? "virtual CPU" : fmt::format("CPU {}", c.index);
  const std::vector<HostInfo> &hosts = system.catalog().hosts;
  return hosts.size() > 1 ? fmt::format("{} {}", hosts[c.host].name, name) : name;
}

} // namespace ovnitrace
