// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/core/fault_log.h"

#include <algorithm>
#include <utility>

namespace ovnitrace {

void FaultLog::warn(const Event &event, std::string what) {
  Diagnostic diagnostic;
  if (event.file < catalog_.files.size())
    diagnostic.file = catalog_.files[event.file];
  diagnostic.offset = event.offset;
  diagnostic.time = event.time - std::min(event.time, catalog_.begin);
  diagnostic.what = std::move(what);
  sink_.report(diagnostic);
}

} // namespace ovnitrace
