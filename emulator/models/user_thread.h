// SPDX-License-Identifier: BSD-2-Clause
// Which thread a user event belongs to.
#pragma once

#include "emulator/core/model.h"

namespace ovnitrace {

/// The thread that runs on a CPU; kNone if none is known to, or several are.
uint32_t running_thread(const System &system, uint32_t cpu);

/// Both parameters of a user event are free, so it names no thread: it is of the one that runs on
/// the CPU where it was logged. kNone, and reported, if none does.
uint32_t user_thread(ModelContext &ctx, const Event &event);

} // namespace ovnitrace
