// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/dump/callers.h"

#include "emulator/models/registry.h"
#include "emulator/models/user_thread.h"

#include <utility>

namespace ovnitrace {

namespace {

std::vector<Model> only_ovni() {
  std::vector<Model> models;
  models.push_back(ovni_model());
  return models;
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
