// SPDX-License-Identifier: BSD-2-Clause
// What the channels are called in Paraver: .pcf and .cfg files.
#pragma once

#include "emulator/core/system.h"
#include "emulator/prv/cfg.h"
#include "emulator/prv/pcf.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

enum class TraceKind { thread, cpu };

/// Types of the ovni model that each trace has even when nothing happens in it, since Paraver wants
/// a body that is not empty.
inline constexpr uint32_t kThreadStateType = 4, kRunningThreadsType = 3;

/// Every type that the trace has, with labels of its values.
Pcf make_pcf(const System &system, TraceKind kind);

/// A file name and the timeline of each type that the trace has.
struct NamedCfg {
  std::string file;
  CfgWindow window;
};
std::vector<NamedCfg> make_cfgs(const System &system, TraceKind kind);

} // namespace ovnitrace
