// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/plan.h"

#include "emulator/base/error.h"
#include "emulator/base/printable.h"

#include <fmt/core.h>

#include <algorithm>

namespace ovnitrace::control {

namespace {

constexpr uint64_t kSecond = 1'000'000'000; // ns

control_alarm compile(const Alarm &alarm) {
  control_alarm out = {};
  out.event = uint8_t(alarm.event);
  out.type = uint8_t(alarm.type->type);
  out.flags = uint8_t((alarm.bcast ? CONTROL_BCAST : 0) | (alarm.global ? CONTROL_GLOBAL : 0) |
                      (alarm.tid ? CONTROL_ONE_TID : 0));
  out.tid = alarm.tid.value_or(0);
  out.count = std::max<uint64_t>(alarm.count, 1);
  out.value = alarm.number;
  switch (alarm.type->type) {
  case CONTROL_ICOUNT:
    out.count *= alarm.number; // a hit is an instruction
    break;
  case CONTROL_ADDRESS:
    if (!alarm.is_address())
      out.value = 0; // any place that is probed for it
    break;
  case CONTROL_CPUID:
    out.value = 0x4711 | alarm.number << 16;
    break;
  case CONTROL_MAGIC:
    out.value = alarm.second << 32 | alarm.number;
    break;
  case CONTROL_TIMEOUT:
    out.value = alarm.number * kSecond;
    break;
  case CONTROL_PCONTROL:
    alarm.value.copy(out.text, CONTROL_STRING - 1);
    break;
  default:
    break;
  }
  return out;
}

/// What the samples of a uniform are as regions. PERIOD counts from start to start, so samples that
/// are longer than it overlap: they are one region.
struct Samples {
  uint64_t count, length, gap; ///< regions, instructions of each, and between two of them
};

Samples samples_of(const Alarm &uniform) {
  if (uniform.period < uniform.length)
    return {1, (uniform.samples - 1) * uniform.period + uniform.length, 0};
  return {uniform.samples, uniform.length, uniform.period - uniform.length};
}

/// Compiles an alarm of a uniform chain into its start and its stop.
void compile_uniform(const Alarm &alarm, Plan &plan, control_chain &chain) {
  const Samples samples = samples_of(alarm);
  chain.loop = uint32_t(plan.alarm_table.size()) - chain.first;
  chain.loops = uint32_t(samples.count);
  control_alarm half = {};
  half.type = CONTROL_ICOUNT;
  half.event = CONTROL_START;
  half.flags = CONTROL_BCAST | CONTROL_IMMEDIATE;
  half.count = samples.gap;
  plan.alarm_table.push_back(half);
  half.event = CONTROL_STOP;
  half.flags = CONTROL_BCAST;
  half.count = samples.length;
  plan.alarm_table.push_back(half);
  plan.alarms.insert(plan.alarms.end(), 2, &alarm);
}

void compile(Plan &plan) {
  for (const Chain &chain : plan.chains) {
    control_chain out = {};
    out.first = uint32_t(plan.alarm_table.size());
    out.loops = 1;
    out.repeat = uint32_t(chain.repeat);
    out.waits = !chain.waitfor.empty();
    for (const Alarm &alarm : chain.alarms) {
      if (!alarm.type) {
        compile_uniform(alarm, plan, out);
      } else {
        plan.alarm_table.push_back(compile(alarm));
        plan.alarms.push_back(&alarm);
      }
      if (plan.alarm_table.size() > CONTROL_ALARMS)
        fail_usage(chain.text, alarm.span,
                   fmt::format("all chains together have more than {} alarms", CONTROL_ALARMS));
    }
    out.alarms = uint32_t(plan.alarm_table.size()) - out.first;
    plan.chain_of.resize(plan.alarm_table.size(), uint32_t(plan.chain_table.size()));
    plan.chain_table.push_back(out);
  }
}

/// Returns the chain of that name.
size_t find_named(const Plan &plan, const Chain &waiter) {
  for (size_t n = 0; n < plan.chains.size(); n++)
    if (plan.chains[n].name == waiter.waitfor)
      return n;
  fail_usage(waiter.text, waiter.waitfor_span,
             fmt::format("no chain has the name '{}'", printable_line(waiter.waitfor)));
}

void link_waiters(Plan &plan) {
  std::vector<size_t> before(plan.chains.size(), SIZE_MAX);
  for (size_t n = 0; n < plan.chains.size(); n++) {
    const Chain &chain = plan.chains[n];
    if (chain.waitfor.empty())
      continue;
    before[n] = find_named(plan, chain);
    plan.chain_table[before[n]].waiters |= 1u << n;
  }
  for (size_t n = 0; n < plan.chains.size(); n++) {
    size_t at = n;
    for (size_t steps = 0; at != SIZE_MAX; at = before[at])
      if (steps++ > plan.chains.size())
        fail_usage(plan.chains[n].text, plan.chains[n].waitfor_span,
                   "the chain waits for itself, through the chains that it waits for");
  }
}

void check_rounds(const Chain &chain) {
  uint64_t samples = 1;
  for (const Alarm &alarm : chain.alarms)
    samples = std::max(samples, alarm.samples);
  if (samples > UINT32_MAX || chain.repeat > UINT32_MAX / samples)
    fail_usage(chain.text, {0, chain.text.size()}, "repeat and uniform make more than 2^32 rounds");
}

/// Returns the value of an alarm, as a sentence shows it.
std::string value_text(const Alarm &alarm) {
  if (alarm.type->type == CONTROL_INTERACTIVE)
    return alarm.event == CONTROL_STOP ? "stop" : "start";
  switch (alarm.type->value) {
  case ValueKind::number:
    return std::to_string(alarm.number);
  case ValueKind::hex:
  case ValueKind::small_hex:
    return fmt::format("{:#x}", alarm.number);
  case ValueKind::pair:
    return fmt::format("{}.{}", alarm.number, alarm.second);
  default:
    return printable_line(alarm.value);
  }
}

std::string who(const Alarm &alarm) {
  if (alarm.tid)
    return fmt::format("in thread {} only", *alarm.tid);
  return alarm.global ? "counted over all threads" : "counted in each thread by itself";
}

std::string describe_uniform(const Alarm &alarm) {
  const Samples samples = samples_of(alarm);
  if (samples.count == 1)
    return fmt::format(
        "the region starts, and stops after {} instructions, for all threads{}", samples.length,
        alarm.samples > 1 ? fmt::format(": {} samples that overlap", alarm.samples) : "");
  return fmt::format("the region starts, stops after {} instructions, and starts again {} "
                     "instructions after that: {} times in all, for all threads",
                     samples.length, samples.gap, samples.count);
}

} // namespace

bool Plan::has_start() const {
  return std::any_of(alarm_table.begin(), alarm_table.end(),
                     [](const control_alarm &alarm) { return alarm.event == CONTROL_START; });
}

std::vector<std::pair<std::string, std::string>> Plan::descriptions() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Chain &chain : chains)
    all.emplace_back(chain.name, chain.text);
  return all;
}

bool Plan::has(control_type type) const {
  return std::any_of(alarm_table.begin(), alarm_table.end(),
                     [type](const control_alarm &alarm) { return alarm.type == type; });
}

bool Plan::has(Source source) const {
  return std::any_of(alarm_table.begin(), alarm_table.end(), [source](const control_alarm &alarm) {
    return type_of(control_type(alarm.type))->source == source;
  });
}

Plan make_plan(const std::vector<std::string> &chains) {
  Plan plan;
  for (const std::string &text : chains) {
    Chain chain = parse_chain(text);
    check_rounds(chain);
    for (const Chain &other : plan.chains)
      if (!chain.name.empty() && other.name == chain.name)
        fail_usage(chain.text, chain.name_span, "another chain has this name");
    if (plan.chains.size() == CONTROL_CHAINS)
      fail_usage(chain.text, {0, chain.text.size()},
                 fmt::format("there are more than {} chains", CONTROL_CHAINS));
    plan.chains.push_back(std::move(chain));
  }
  compile(plan);
  link_waiters(plan);
  return plan;
}

void check_possible(const Plan &plan) {
#if defined(__x86_64__)
  constexpr bool x86 = true;
#else
  constexpr bool x86 = false;
#endif
  for (size_t a = 0; a < plan.alarm_table.size() && !x86; a++)
    if (type_of(control_type(plan.alarm_table[a].type))->x86_only)
      fail_usage(plan.chains[plan.chain_of[a]].text, plan.alarms[a]->span,
                 "an alarm of this type works on x86-64 only; this machine has " +
                     portable_type_names());
}

std::string text_of(const Chain &chain, const Alarm &alarm) {
  return printable_line(chain.text.substr(alarm.span.at, alarm.span.length));
}

std::string text_of(const Plan &plan, size_t alarm) {
  return text_of(plan.chains[plan.chain_of[alarm]], *plan.alarms[alarm]);
}

bool can_repeat(const Chain &chain) {
  return !chain.repeat_given && std::all_of(chain.alarms.begin(), chain.alarms.end(),
                                            [](const Alarm &alarm) { return alarm.type; });
}

std::string in_words(const Alarm &alarm) {
  if (!alarm.type)
    return describe_uniform(alarm);
  const auto event = std::find_if(std::begin(kEventNames), std::end(kEventNames),
                                  [&](const EventName &row) { return row.event == alarm.event; });
  std::string text = "when " + fmt::format(fmt::runtime(alarm.type->hits), value_text(alarm));
  if (alarm.count > 1)
    text += alarm.type->type == CONTROL_ICOUNT ? fmt::format(", {} times over", alarm.count)
                                               : fmt::format(" for the {}. time", alarm.count);
  text += fmt::format(", {}: {}", who(alarm),
                      alarm.event == CONTROL_PRECOND ? "the next alarm is armed" : event->does);
  if (alarm.bcast || alarm.global)
    text += "; what follows is armed for all threads";
  return text;
}

std::string in_words(const Plan &plan, size_t number) {
  const Chain &chain = plan.chains[number];
  std::string text = fmt::format("chain {}{}:\n", number + 1,
                                 chain.name.empty() ? "" : " " + printable_line(chain.name));
  if (!chain.waitfor.empty())
    text += fmt::format("  once the chain {} has finished\n", printable_line(chain.waitfor));
  for (size_t n = 0; n < chain.alarms.size(); n++)
    text += fmt::format("  {}. {}\n", n + 1, in_words(chain.alarms[n]));
  if (chain.repeat == 0)
    text += "  then it starts again, endlessly\n";
  else if (chain.repeat > 1)
    text += fmt::format("  {} times in all\n", chain.repeat);
  return text;
}

} // namespace ovnitrace::control
