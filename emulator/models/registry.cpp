// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/models/registry.h"

namespace ovnitrace {

std::vector<Model> builtin_models() {
  // The first makes the transitions that the others look at.
  std::vector<Model> models;
  for (Model (*make)() :
       {ovni_model, capture_model, context_switch_model, mark_model, kernel_model, wakeup_model,
        user_model, interrupt_model, signal_model, priority_model, mutex_model, timer_model,
        server_model, cycle_model, shadow_model, cpu_mode_model, region_model})
    models.push_back(make());
  return models;
}

} // namespace ovnitrace
