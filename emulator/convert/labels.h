// SPDX-License-Identifier: BSD-2-Clause
// Makes the names of channels and their values for Paraver.
#pragma once

#include "emulator/core/system.h"
#include "emulator/prv/pcf.h"

#include <cstdint>

namespace ovnitrace {

enum class TraceKind { thread, cpu };

/// Types of the ovni model that each trace has even if nothing happens: Paraver refuses an empty
/// body.
inline constexpr uint32_t kThreadStateType = 4, kRunningThreadsType = 3;

/// Returns all types of the trace, with labels of their values.
Pcf make_pcf(const System &system, TraceKind kind);

/// Returns the type of one channel: labels of its values, always with that of 0, and the colours of
/// its timeline.
PcfType pcf_type(const System &system, const ChannelDef &def, TraceKind kind);

/// Returns a channel that this trace shows, or nullptr.
const ChannelDef *channel_in_trace(const System &system, ChannelId id, TraceKind kind);

} // namespace ovnitrace
