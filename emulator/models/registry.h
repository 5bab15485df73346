// SPDX-License-Identifier: BSD-2-Clause
// Lists the built-in models. A model is a table in a file of its own. To add one, declare its
// function here and add it to the list.
#pragma once

#include "emulator/core/model.h"

#include <vector>

namespace ovnitrace {

Model ovni_model();           ///< states of threads and CPUs; PRV types 1 to 9
Model capture_model();        ///< lost events; 10 to 19
Model context_switch_model(); ///< KCO and KCI of ovni streams; 45
Model mark_model();           ///< user marks of ovni streams; 100 to 199
Model kernel_model();         ///< why a thread is off its CPU, and its priority; 200 to 219
Model blocked_in_model();     ///< the system call in which a thread is blocked; 203
Model wakeup_model();         ///< who woke a thread, and how long it waited; 220 to 239
Model user_model();           ///< user events, ipoints and sections; 300 to 334
Model cycle_model();          ///< cycles, deadline misses, WCET violations; 460 to 463, 465, 466
Model shadow_model();         ///< tasks that run in place of a blocked one; 464
Model cpu_mode_model();       ///< modes and filters of CPUs; 470 to 479
Model interrupt_model();      ///< interrupts of CPUs and threads; 400 to 409
Model signal_model();         ///< signals sent and taken; 410 to 419
Model priority_model();       ///< changes of priorities and policies; 420 to 429
Model mutex_model();          ///< waits for mutexes, and operations on them; 430 to 439
Model timer_model();          ///< timers of threads; 440 to 449
Model server_model();         ///< budgets of deadline servers; 450 to 459
Model power_model();          ///< idle states, frequencies, stolen time of CPUs; 500 to 509
Model region_model();         ///< regions of --control; 480
/// Functions and lines on stacks; as Extrae numbers them, 70000001 and 80000001 on.
Model callers_model();

/// The models in the order in which they see an event: the first one makes the transitions that the
/// others use.
inline constexpr Model (*kModels[])() = {
    ovni_model,       capture_model,  context_switch_model, mark_model,      kernel_model,
    blocked_in_model, wakeup_model,   user_model,           interrupt_model, signal_model,
    priority_model,   mutex_model,    timer_model,          server_model,    cycle_model,
    shadow_model,     cpu_mode_model, power_model,          region_model,    callers_model};

/// Returns a new instance of each model. docs/models.md describes them.
inline std::vector<Model> builtin_models() {
  std::vector<Model> models;
  for (const auto make : kModels)
    models.push_back(make());
  return models;
}

/// Returns the model that follows states and CPUs of threads: enough for what shows no channels.
inline std::vector<Model> state_models() {
  std::vector<Model> models;
  models.push_back(ovni_model());
  return models;
}

} // namespace ovnitrace
