// SPDX-License-Identifier: BSD-2-Clause
// What each code of a S.Ha.R.K. file is about: one table (docs/shark.md lists it).
#pragma once

#include "emulator/shark/context_table.h"

#include <ovnitrace/ftrace_codes.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace ovnitrace::shark {

/// Whom a record is about.
enum class About : uint8_t {
  nobody,
  running,    ///< the task that has the CPU: parameter 1 is no context
  context,    ///< the task of the context in parameter 1
  any_context ///< that one; if parameter 1 is 0, as the manual leaves it, the task that has the
              ///< CPU, or that gets it now
};

/// What it means for who has the CPU. Where it is not `nothing`, Scheduling adds the events of
/// docs/format.md that it implies.
enum class Meaning : uint8_t {
  nothing,
  not_an_event, ///< describes the file; no event
  activate,
  release, ///< the timer of a period begins the next cycle
  dispatch,
  epilogue,
  sleep,
  end,
  begin_cycle,
  end_cycle,
  wait,     ///< is about to block
  lock,     ///< has, or asks for, a mutex: a wait that was told before is over
  schedule, ///< the scheduler decided: (who gets the CPU, for whom)
  gets_cpu, ///< parameter 1 has the CPU from now on
  interrupt_begin,
  interrupt_end,
  wakeup_end, ///< of the timer interrupt; parameter 1 has the CPU from now on
  blackout,
  filter, ///< a family is not logged any more, or again
};

struct RecordRule {
  About about = About::nobody;
  Meaning meaning = Meaning::not_an_event;
  Mention mention = Mention::other; ///< of the context in parameter 1
};

namespace detail {

constexpr std::array<RecordRule, 256> make_rules() {
  std::array<RecordRule, 256> rules{};
  const auto set = [&](int code, About about, Meaning meaning = Meaning::nothing,
                       Mention mention = Mention::other) {
    rules[std::size_t(code)] = {about, meaning, mention};
  };
  set(FTrace_EVT_id, About::context, Meaning::not_an_event, Mention::names);
  set(FTrace_EVT_trace_start, About::context, Meaning::gets_cpu, Mention::wakes);
  set(FTrace_EVT_trace_stop, About::nobody);
  set(FTrace_EVT_blackout_start, About::nobody, Meaning::blackout);
  set(FTrace_EVT_blackout_end, About::nobody, Meaning::blackout);

  set(FTrace_EVT_task_create, About::context, Meaning::nothing, Mention::creates);
  set(FTrace_EVT_task_activate, About::context, Meaning::activate, Mention::wakes);
  set(FTrace_EVT_task_dispatch, About::any_context, Meaning::dispatch, Mention::wakes);
  set(FTrace_EVT_task_epilogue, About::any_context, Meaning::epilogue);
  set(FTrace_EVT_task_end, About::any_context, Meaning::end, Mention::ends);
  set(FTrace_EVT_task_begin_cycle, About::any_context, Meaning::begin_cycle);
  set(FTrace_EVT_task_end_cycle, About::any_context, Meaning::end_cycle);
  set(FTrace_EVT_task_sleep, About::any_context, Meaning::sleep);
  set(FTrace_EVT_task_schedule, About::context, Meaning::schedule, Mention::wakes);
  set(FTrace_EVT_task_timer, About::context, Meaning::release);
  set(FTrace_EVT_task_disable, About::any_context);
  set(FTrace_EVT_task_deadline_miss, About::any_context);
  set(FTrace_EVT_task_wcet_violation, About::any_context);

  set(FTrace_EVT_interrupt_start, About::nobody, Meaning::interrupt_begin);
  set(FTrace_EVT_interrupt_end, About::nobody, Meaning::interrupt_end);
  set(FTrace_EVT_interrupt_hit, About::nobody);
  set(FTrace_EVT_interrupt_count, About::nobody);
  set(FTrace_EVT_to_real_mode, About::nobody);
  set(FTrace_EVT_to_protected_mode, About::nobody);
  set(FTrace_EVT_CLI, About::nobody);
  set(FTrace_EVT_STI, About::nobody);

  set(FTrace_EVT_set_priority, About::any_context);
  set(FTrace_EVT_context_switch, About::context, Meaning::gets_cpu, Mention::wakes);
  set(FTrace_EVT_inheritance, About::context, Meaning::schedule, Mention::wakes);

  set(FTrace_EVT_mutex_create, About::any_context);
  set(FTrace_EVT_mutex_lock, About::any_context, Meaning::lock);
  set(FTrace_EVT_mutex_inherit, About::any_context);
  set(FTrace_EVT_mutex_unlock, About::any_context);
  set(FTrace_EVT_mutex_unlock_misprint, About::any_context);
  set(FTrace_EVT_mutex_wait, About::any_context, Meaning::wait);
  set(FTrace_EVT_mutex_post, About::any_context);
  set(FTrace_EVT_signal, About::any_context);

  for (int code : {FTrace_EVT_server_create, FTrace_EVT_server_replenish, FTrace_EVT_server_exhaust,
                   FTrace_EVT_server_reclaiming, FTrace_EVT_server_remove, FTrace_EVT_server_active,
                   FTrace_EVT_server_using_rec})
    set(code, About::nobody);

  set(FTrace_EVT_timer_post, About::running);
  set(FTrace_EVT_timer_delete, About::running);
  set(FTrace_EVT_timer_wakeup_start, About::nobody, Meaning::interrupt_begin);
  set(FTrace_EVT_timer_wakeup_end, About::context, Meaning::wakeup_end, Mention::wakes);

  set(FTrace_EVT_ipoint, About::running);
  set(FTrace_EVT_data_pointer, About::running);
  for (int number = 0; number <= 14; number++)
    set(number << 4 | FTrace_EVT_user_event_0, About::running);
  for (int code = FTrace_filter_trace_Events; code <= FTrace_filter_timer; code++)
    set(code, About::nobody, Meaning::filter);
  return rules;
}

} // namespace detail

/// By code. What is not in it describes the file and is no event.
inline constexpr std::array<RecordRule, 256> kRecordRules = detail::make_rules();

} // namespace ovnitrace::shark
