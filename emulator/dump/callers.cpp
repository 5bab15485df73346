// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/dump/callers.h"

#include "emulator/models/registry.h"
#include "emulator/models/user_thread.h"

#include <ovnitrace/ftrace_codes.h>

#include <utility>

namespace ovnitrace {

namespace {

std::vector<Model> only_ovni() {
  std::vector<Model> models;
  models.push_back(ovni_model());
  return models;
}

constexpr bool programs_log(uint32_t kind) {
  if (kind >= FTrace_filter_trace_Events)
    return kind <= FTrace_filter_timer;
  const uint32_t family = kind & FTrace_family_mask;
  return family == (FTrace_filter_ipoint & FTrace_family_mask) ||
         family == (FTrace_filter_user & FTrace_family_mask) ||
         family == (FTrace_filter_data & FTrace_family_mask);
}

} // namespace

Callers::Callers(const Catalog &catalog) : replay_(catalog, only_ovni(), {}, silent_, 0) {}

void Callers::find(Event &event) {
  replay_.handle(event);
  replay_.skip(); // nothing is written
  if (event.thread == kNone && programs_log(event.kind))
    event.thread = running_thread(replay_.system(), event.cpu);
}

} // namespace ovnitrace
