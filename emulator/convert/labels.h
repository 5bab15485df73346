// SPDX-License-Identifier: BSD-2-Clause
// What the channels and their values are called in Paraver.
#pragma once

#include "emulator/core/system.h"
#include "emulator/prv/pcf.h"

#include <cstdint>

namespace ovnitrace {

enum class TraceKind { thread, cpu };

/// Types of the ovni model that each trace has even when nothing happens in it, since Paraver wants
/// a body that is not empty.
inline constexpr uint32_t kThreadStateType = 4, kRunningThreadsType = 3;

/// Every type that the trace has, with labels of its values.
Pcf make_pcf(const System &system, TraceKind kind);

/// One of them: labels of its values, that of 0 always among them, and the colours that they have
/// in a timeline of the channel.
PcfType pcf_type(const System &system, const ChannelDef &def, TraceKind kind);

/// A channel that this trace shows, or nullptr.
const ChannelDef *channel_in_trace(const System &system, ChannelId id, TraceKind kind);

} // namespace ovnitrace
