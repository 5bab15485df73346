// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/perfetto/task_names.h"

#include "emulator/base/printable.h"

namespace ovnitrace::perfetto {

TaskNames::TaskNames(const Catalog &catalog)
    : threads_(catalog.threads), priorities_(catalog.threads.size(), kNotKnownPriority) {
  for (const ThreadInfo &thread : catalog.threads)
    names_.push_back(printable_line(thread.name));
}

} // namespace ovnitrace::perfetto
